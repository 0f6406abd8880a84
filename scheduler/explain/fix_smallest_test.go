package explain

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// TestNoStepOfAFixIsUnneeded has fixes of which a part would do, and pairs of edits that are cheaper than running pods.
func TestNoStepOfAFixIsUnneeded(t *testing.T) {
	c := newShippedCluster(t)
	tests := map[string]struct {
		build func()
		want  string
	}{
		"raising the quota places the pod, also while an agent is silent elsewhere": {
			build: func() {
				c.addNode(newNode(0))
				c.addMetric(0, time.Hour, "cpu", "1")
				c.addNode(newNode(1))
				c.addMetric(1, time.Second, "cpu", "1")
				c.addQuota(newQuota("a", "", 0, 4))
				c.addPod(on(1, inQuota("a", newPod("peer", "cpu", "4"))))
				c.addPod(inQuota("a", newPod("asked", "cpu", "4")))
			},
			want: "raiseQuota node-1: raise max of quota a: cpu from 4 to 8",
		},
		"an uncordoned node and a toleration are better than two evictions": {
			build: func() {
				full := newNode(0)
				c.addNode(full)
				c.addPod(on(0, withPriority(newPod("low-1", "cpu", "8"), 5000)))
				c.addPod(on(0, withPriority(newPod("low-2", "cpu", "8"), 5000)))
				cordoned := newNode(1)
				cordoned.Spec.Unschedulable = true
				cordoned.Spec.Taints = []corev1.Taint{
					{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, {Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule},
				}
				c.addNode(cordoned)
				c.addPod(newPod("asked", "cpu", "16"))
			},
			want: "addToleration+uncordon node-1: add a toleration for taint dedicated=db:NoSchedule; and uncordon node node-1",
		},
		"fewer CPUs alone are enough where they come in whole cores": {
			build: func() {
				node := newNode(0)
				node.Labels[extension.LabelNodeCPUBindPolicy] = string(extension.NodeCPUBindPolicyFullPCPUsOnly)
				c.addNode(node)
				c.addReport(newReport(node.Name))
				pod := newPod("asked", "cpu", "20")
				pod.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLSR)}
				c.addPod(pod)
			},
			want: "reduceRequest node-0: reduce the pod's cpu request from 20 to 16 (by 4)",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c.clear()
			test.build()
			fix := c.explain("asked").Fix
			if fix == nil {
				t.Fatalf("no fix, want %q", test.want)
			}
			if got := fix.Kind + " " + fix.Node + ": " + fix.Description; got != test.want {
				t.Errorf("fix %q, want %q", got, test.want)
			}
		})
	}
}

func withPriority(pod *corev1.Pod, priority int32) *corev1.Pod {
	pod.Spec.Priority = &priority
	return pod
}
