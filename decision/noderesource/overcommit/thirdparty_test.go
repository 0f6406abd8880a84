package overcommit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

func TestWhatOtherSchedulersTookIsExplained(t *testing.T) {
	const left = "Node test-node: the allocation of scheduler \"slurm\" is ignored: "
	tests := map[string]struct {
		annotation   string
		wantNote     string
		wantTaken    int64
		wantFindings []string
	}{
		"by name, the most first": {
			annotation: `{"allocations":[{"name":"slurm","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1000"}},` +
				`{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"2500"}},{"name":"slurm","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"500"}}]}`,
			wantNote: "used by other schedulers: yarn 2.5 cores, slurm 1.5 cores", wantTaken: 4_000,
		},
		"of which there are many": {
			annotation: `{"allocations":[{"name":"a","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1"}},{"name":"b","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1"}},` +
				`{"name":"c","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1"}},{"priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"1"}}]}`,
			wantNote: "used by other schedulers: a 1m, b 1m, c 1m, 1 more", wantTaken: 4,
		},
		"more than is offered": {
			annotation: `{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"90000"}}]}`,
			wantNote:   "used by other schedulers: yarn 90 cores; 65 cores more than the node can offer", wantTaken: 90_000,
		},
		"of another class": {
			annotation:   `{"allocations":[{"name":"slurm","priority":"koord-mid","resources":{"kubernetes.io/batch-cpu":"1000"}}]}`,
			wantFindings: []string{left + `its priority is "koord-mid", and only koord-batch counts.`},
		},
		"in plain resources": {
			annotation:   `{"allocations":[{"name":"slurm","priority":"koord-batch","resources":{"cpu":"1"}}]}`,
			wantFindings: []string{left + "cpu does not count, only kubernetes.io/batch-cpu and kubernetes.io/batch-memory."},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := n1(annotated(extension.AnnotationNodeThirdPartyAllocations, tc.annotation))
			got := ExplainNode(in, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "test-node", Resources: []string{"batch-cpu"}})
			note, taken := "", int64(0)
			for _, step := range got.Waterfalls[0].Terms {
				if step.Name == "thirdParty" {
					note, taken = step.Note, step.Value
				}
			}
			if note != tc.wantNote || taken != tc.wantTaken {
				t.Errorf("%d taken: %q, want %d: %q", taken, note, tc.wantTaken, tc.wantNote)
			}
			var findings []string
			for _, f := range got.Findings {
				findings = append(findings, f.Message)
			}
			if diff := cmp.Diff(tc.wantFindings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
