package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/sandbox/component"
)

// TestWorkloadsBesideARealNode: every pod of the scenario insists on a simulated node, and on what it insisted on before.
func TestWorkloadsBesideARealNode(t *testing.T) {
	before, after := waves(t, 30), waves(t, 30)
	KeepToSimulatedNodes(after)
	pods := 0
	for i := range after {
		for j, object := range after[i].Objects {
			template, _, ok := podsOf(object)
			if !ok {
				continue
			}
			pods++
			if template.Spec.NodeSelector[component.SimulatedNodeLabel] != "true" {
				t.Errorf("pods of %T may run on the real node: %v", object, template.Spec.NodeSelector)
			}
			was, _, _ := podsOf(before[i].Objects[j])
			if want := was.Spec.NodeSelector[corev1.LabelHostname]; template.Spec.NodeSelector[corev1.LabelHostname] != want {
				t.Errorf("pods of %T insist on node %q; want %q", object, template.Spec.NodeSelector[corev1.LabelHostname], want)
			}
		}
	}
	if pods < 5 {
		t.Errorf("%d objects have pods; want those of the whole scenario", pods)
	}
}
