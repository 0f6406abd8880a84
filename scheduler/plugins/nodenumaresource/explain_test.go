package nodenumaresource

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func TestExplanationsAndAdvice(t *testing.T) {
	required := `{"requiredCPUBindPolicy":"FullPCPUs"}`
	tests := []struct {
		name        string
		owners      []*corev1.Pod
		labels      map[string]string
		pod         *corev1.Pod
		wantCode    finding.Code
		wantMessage string
		wantOperand string
		wantAdvice  []string
	}{
		{
			name: "cores are broken up", owners: []*corev1.Pod{newPod("a", lsr, "1", resourceStatus, `{"cpuset":"0"}`), newPod("b", lsr, "3", resourceStatus, `{"cpuset":"2,4,6"}`)},
			pod: newPod("web", lsr, "2", resourceSpec, required), wantCode: finding.CPUBindPolicyUnsatisfied, wantOperand: "cpusOnIdleCores",
			wantMessage: "needs 2 CPUs on idle cores, 4 CPUs are free but only 0 of them on idle cores",
			wantAdvice:  []string{"prefer CPU bind policy FullPCPUs instead of requiring it", "evict pod default/a, which holds CPUs or NUMA zones that the pod needs", "evict pod default/b, which holds CPUs or NUMA zones that the pod needs"},
		},
		{
			name: "CPUs are gone", owners: []*corev1.Pod{newPod("a", lsr, "6", resourceStatus, `{"cpuset":"0-5"}`)}, pod: newPod("web", lsr, "3"),
			wantCode: finding.CPUsExhausted, wantOperand: "zone1CPUsFree", wantMessage: "needs 3 exclusive CPUs, 2 of 8 are free",
			wantAdvice: []string{"reduce the cpu request of container main from 3 to 2", "evict pod default/a, which holds CPUs or NUMA zones that the pod needs"},
		},
		{
			name: "no zone is wide enough", pod: newPod("web", lsr, "6", alignment, singleZone), wantCode: finding.NUMAUnaligned, wantOperand: "zone0CpuFree",
			wantMessage: "NUMA node 0 has 4 of 4 left", wantAdvice: []string{"remove the NUMA topology policy SingleNUMANode", "reduce the cpu request of container main from 6 to 4"},
		},
		{
			name: "the node demands another policy", labels: map[string]string{extension.LabelNodeCPUBindPolicy: "SpreadByPCPUs"}, pod: newPod("web", lsr, "2", resourceSpec, required),
			wantCode: finding.CPUBindPolicyConflict, wantMessage: "requires FullPCPUs, the node demands SpreadByPCPUs", wantOperand: "cpusNeeded",
			wantAdvice: []string{"prefer CPU bind policy FullPCPUs instead of requiring it"},
		},
		{
			name: "a fraction of a CPU", pod: newPod("web", lsr, "2500m"), wantCode: finding.CPUsNotInteger, wantOperand: "cpuNeeded",
			wantMessage: "2500m is not a whole number", wantAdvice: []string{"reduce the cpu request of container main from 2.5 to 2"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, "", newNode("n", test.labels))
			f.report(newReport("n"))
			for _, owner := range test.owners {
				f.assume(owner, "n")
			}
			state, ctx := framework.NewCycleState(), t.Context()
			_, status := f.plugin.PreFilter(ctx, state, test.pod, nil)
			if status.IsSuccess() {
				status = f.plugin.Filter(ctx, state, test.pod, f.info("n"))
			}
			subject, known := f.plugin.ExplainRefusal(ctx, state, test.pod, f.info("n"), status.Message())
			if !known || subject.Code != test.wantCode || subject.Phrase == "" {
				t.Fatalf("%q is explained as %+v, want %s", status.Message(), subject, test.wantCode)
			}
			message, operands := subject.Describe()
			var names []string
			for _, operand := range operands {
				names = append(names, operand.Name)
			}
			if !strings.Contains(message, test.wantMessage) || !strings.Contains(strings.Join(names, " "), test.wantOperand) {
				t.Errorf("message %q, operands %v", message, names)
			}
			if _, known := f.plugin.ExplainRefusal(ctx, state, test.pod, f.info("n"), "something else"); known {
				t.Error("a reason of another plugin is explained")
			}
			var advice []string
			for _, change := range f.plugin.Advise(ctx, state, test.pod, f.info("n"), nil) {
				advice = append(advice, change.Fix.Description)
				if change.Pod == nil && len(change.Evict) == 0 {
					t.Errorf("%q changes nothing", change.Fix.Description)
				}
				if len(change.Evict) > 0 && len(change.Fix.Steps) != len(change.Evict) {
					t.Errorf("%q has no command", change.Fix.Description)
				}
				if change.Pod != nil {
					if _, status := f.schedule(change.Pod, "n"); !status.IsSuccess() {
						t.Errorf("%q does not help: %v", change.Fix.Description, status)
					}
					f.plugin.Unreserve(ctx, nil, change.Pod, "n")
				}
			}
			if diff := cmp.Diff(test.wantAdvice, advice); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
		})
	}
}
