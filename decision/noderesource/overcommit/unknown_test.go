package overcommit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/unknown"
)

// unread takes away inputs as a source does that may not read them.
func unread(inputs ...unknown.Input) func(*NodeInput) {
	return func(in *NodeInput) {
		in.Unknown = unknown.Inputs{}
		for _, input := range inputs {
			in.Unknown[input] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownForbidden}
			switch input {
			case unknown.Pods:
				in.Pods = nil
			case unknown.NodeMetrics:
				in.Metric = nil
			}
		}
	}
}

func TestWhatCouldNotBeReadIsNotComputed(t *testing.T) {
	const on = `{"enable": true}`
	tests := map[string]struct {
		in          NodeInput
		wantSummary string
		// wantComputed are the resources that are computed all the same.
		wantComputed []string
		wantCodes    []string
	}{
		"no pods": {in: configured(t, on, unread(unknown.Pods)), wantSummary: "of batch-cpu, batch-memory, mid-cpu, mid-memory is unknown: no permission to read the pods."},
		"no pods, and mid is static": {in: configured(t, `{"enable": true, "midReclaimMode": "static", "midStaticCPUReservedPercent": 10}`, unread(unknown.Pods)),
			wantSummary: "; what it should offer of batch-cpu, batch-memory is unknown: no permission to read the pods.", wantComputed: []string{"mid-cpu", "mid-memory"}},
		"no NodeMetric":             {in: configured(t, on, unread(unknown.NodeMetrics)), wantSummary: "should offer is unknown: no permission to read the NodeMetrics."},
		"no NodeMetric and no pods": {in: configured(t, on, unread(unknown.NodeMetrics, unknown.Pods)), wantSummary: "should offer is unknown: no permission to read the NodeMetrics."},
		"a NodeMetric that is too old decides without pods": {in: configured(t, on, unread(unknown.Pods), func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(-time.Hour)} }),
			wantSummary: "and expires after 15m", wantComputed: []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"}, wantCodes: []string{"KOORD0102"}},
		"switched off without the rest": {in: configured(t, `{"enable": false}`, unread(unknown.NodeMetrics, unknown.Pods)),
			wantSummary: "co-location is disabled", wantComputed: []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"}, wantCodes: []string{"KOORD0205"}},
		"predictions that only koord-manager has": {
			in:          configured(t, `{"enable": true, "extensions": {"predictor": {"batch": "safe"}}}`, unread(unknown.Predictions)),
			wantSummary: "what it should offer of batch-cpu, batch-memory is unknown: no permission to read the predictions of koord-manager.", wantComputed: []string{"mid-cpu", "mid-memory"}},
		"predictions that nobody chose": {in: configured(t, on, unread(unknown.Predictions)), wantSummary: "offers 20 cores of batch-cpu",
			wantComputed: []string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ExplainNode(tc.in, diagnosticsv1alpha1.NodeExplanationSpec{})
			if !strings.Contains(got.Summary, tc.wantSummary) {
				t.Errorf("summary %q, want %q", got.Summary, tc.wantSummary)
			}
			var computed, falls, codes []string
			for _, published := range got.Published {
				short := strings.TrimPrefix(published.Resource, "kubernetes.io/")
				if (published.Computed == nil) != (published.State == diagnosticsv1alpha1.SyncUnknown) {
					t.Errorf("%s: computed %v, and %s", short, published.Computed, published.State)
				}
				if published.Computed != nil {
					computed = append(computed, short)
				}
			}
			for _, fall := range got.Waterfalls {
				falls = append(falls, strings.TrimPrefix(fall.Resource, "kubernetes.io/"))
			}
			for _, finding := range got.Findings {
				codes = append(codes, finding.Code)
			}
			if diff := cmp.Diff([][]string{tc.wantComputed, tc.wantComputed, tc.wantCodes}, [][]string{computed, falls, codes}); diff != "" {
				t.Errorf("computed, waterfalls and findings (-want +got):\n%s", diff)
			}
			if (got.Node.Pods == nil) != tc.in.Unknown.Has(unknown.Pods) || len(got.Unknown) != len(tc.in.Unknown) {
				t.Errorf("pods %v, unknown %v", got.Node.Pods, got.Unknown)
			}
			for i, want := range []Value{Calculate(tc.in, nil).BatchCPU, Calculate(tc.in, nil).BatchMemory, Calculate(tc.in, nil).MidCPU, Calculate(tc.in, nil).MidMemory} {
				if (want.Unknown != "") != (got.Published[i].Computed == nil) {
					t.Errorf("%s is calculated as %+v and explained as %v", got.Published[i].Resource, want, got.Published[i].Computed)
				}
			}
			if sync := Calculate(tc.in, nil).Sync(tc.in); len(tc.wantComputed) == 0 && sync.Write {
				t.Errorf("what is not known is written: %+v", sync)
			}
		})
	}
}

func TestAConfigurationThatCouldNotBeReadIsNotTheDefault(t *testing.T) {
	unconfigured := func(age time.Duration) NodeInput {
		in := n1(unread(unknown.Configuration))
		in.Strategy = configmerge.Default().Colocation(in.Node)
		in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(-age)}
		return in
	}
	got := ExplainNode(unconfigured(time.Second), diagnosticsv1alpha1.NodeExplanationSpec{})
	if !strings.Contains(got.Summary, "is unknown: no permission to read slo-controller-config.") || len(got.Strategy)+len(got.Waterfalls)+len(got.Findings) > 0 {
		t.Errorf("summary %q, %d settings, %d waterfalls, findings %v", got.Summary, len(got.Strategy), len(got.Waterfalls), got.Findings)
	}
	tests := map[string]struct {
		age  time.Duration
		want diagnosticsv1alpha1.MetricState
	}{
		"just measured": {time.Second, diagnosticsv1alpha1.MetricFresh},
		"stale":         {5 * time.Minute, diagnosticsv1alpha1.MetricStale},
		"older than the built-in limit, which may not be the one in force": {time.Hour, diagnosticsv1alpha1.MetricUnknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := AssessMetric(unconfigured(tc.age)); got.State != tc.want || got.UpdateTime == nil || (got.Problem != "") != (tc.want == diagnosticsv1alpha1.MetricUnknown) {
				t.Errorf("metric %+v, want %s", got, tc.want)
			}
		})
	}
}

func TestASummaryCountsOnlyPodsThatWereListed(t *testing.T) {
	if got := summarized(n1(unread(unknown.Pods))); got.Listed || !got.Measured || got.NodeUsed.MilliCPU == 0 {
		t.Errorf("summary %+v, want measurements and no pods listed", got)
	}
	if got := summarized(n1(unread(unknown.NodeMetrics))); !got.Listed || got.Measured || got.Metric.State != diagnosticsv1alpha1.MetricUnknown {
		t.Errorf("summary %+v, want pods and no measurements", got)
	}
}
