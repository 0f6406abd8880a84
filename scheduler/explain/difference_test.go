package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestTransferMakesTheChangeToAnotherVersionOfThePod(t *testing.T) {
	before := newPod("p", "cpu", "20", "memory", "8Gi")
	before.Labels = map[string]string{"class": "LSR", "team": "a"}
	before.Spec.NodeSelector = map[string]string{"zone": "1"}
	tests := map[string]func(*corev1.Pod){
		"a label is dropped, one changed and one added": func(p *corev1.Pod) {
			delete(p.Labels, "team")
			p.Labels["class"], p.Labels["new"] = "LS", "1"
		},
		"an annotation on a pod without any": func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "1"} },
		"a request and a limit": func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("9")
			p.Spec.Containers[0].Resources.Limits = list("cpu", "9")
		},
		"a toleration": func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "k"}} },
		"how it is spread": func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}}
		},
		"a host port": func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} },
		"the node selector and affinity": func(p *corev1.Pod) {
			p.Spec.NodeSelector, p.Spec.Affinity = map[string]string{}, &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			after, onto, want := before.DeepCopy(), before.DeepCopy(), before.DeepCopy()
			change(after)
			change(want)
			// Another change was made meanwhile.
			for _, pod := range []*corev1.Pod{onto, want} {
				pod.Spec.Containers[0].Resources.Requests["memory"] = resource.MustParse("1Gi")
				pod.Labels["other"] = "1"
			}
			if diff := cmp.Diff(want, transfer(before, after, onto)); diff != "" {
				t.Errorf("transferred (-want +got):\n%s", diff)
			}
		})
	}
}
