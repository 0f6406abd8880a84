package explain

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestTwoChangesWhereNoSingleOneHelps(t *testing.T) {
	c := newShippedCluster(t)
	tests := []struct {
		name  string
		build func()
		// want is "kind node unlocked: description"; command as it is.
		want, command string
	}{
		{
			name: "the cheapest pair of several nodes",
			build: func() {
				for i := range 2 {
					node := newNode(i)
					node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
					node.Spec.Unschedulable = i == 0
					c.addNode(node)
				}
				c.addPod(newPod("asked", "cpu", "17"))
			},
			want: "addToleration+reduceRequest node-1 1: add a toleration for taint dedicated=db:NoSchedule; and reduce the pod's cpu request from 17 to 16 (by 1)",
		},
		{
			name: "a full quota and a cordoned node",
			build: func() {
				node := newNode(0)
				node.Spec.Unschedulable = true
				c.addNode(node)
				c.addQuota(newQuota("a", "", 0, 3))
				other := newNode(1)
				other.Spec.Unschedulable = true
				c.addNode(other)
				c.addPod(on(1, inQuota("a", newPod("peer", "cpu", "3"))))
				c.addPod(inQuota("a", newPod("asked", "cpu", "4")))
			},
			want:    "raiseQuota+uncordon node-0 1: raise max of quota a: cpu from 3 to 7; and uncordon node node-0",
			command: `kubectl patch elasticquota -n default a --type merge -p '{"spec":{"max":{"cpu":"7"}}}' && kubectl uncordon node-0`,
		},
		{
			name: "a hint to a node with too little room",
			build: func() {
				c.addNode(newNode(0))
				c.addNode(newNode(1))
				c.addPod(on(1, newPod("peer", "cpu", "4")))
				pod := newPod("asked", "cpu", "17")
				pod.Annotations = map[string]string{extension.AnnotationSchedulingHint: `{"nodeNames":["node-9"]}`}
				c.addPod(pod)
			},
			want: "removeSchedulingHint+reduceRequest node-0 1: remove the pod's scheduling hint; and reduce the pod's cpu request from 17 to 16 (by 1)",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.clear()
			test.build()
			status := c.explain("asked")
			if got := outlineOf(status).Fix; got != test.want {
				t.Errorf("fix %q, want %q", got, test.want)
			}
			if status.Fix != nil && status.Fix.Command != test.command {
				t.Errorf("command %q, want %q", status.Fix.Command, test.command)
			}
		})
	}
}
