package explain

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// full takes all of a node, with a pod that may not be evicted for the asked one.
func (c *cluster) full(node int) {
	pod := on(node, newPod("full", "cpu", "16", "kubernetes.io/batch-cpu", "4000"))
	pod.Spec.Priority = new(int32(9999))
	c.addPod(pod)
}

func TestANodeIsAddedWithAllThatItWouldReport(t *testing.T) {
	tests := map[string]struct {
		setUp   func(c *cluster)
		asked   func() *corev1.Pod
		wantFix string
	}{
		"a pod that owns CPUs needs the topology": {
			func(c *cluster) { c.addReport(newReport("node-0")) },
			func() *corev1.Pod {
				pod := newPod("asked", "cpu", "4")
				pod.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLSR)}
				return pod
			},
			"add a node like node-0, or drain one: the pod fits on it without other pods",
		},
		"a pod with GPUs needs the Device": {
			func(c *cluster) {
				node := c.nodes["node-0"].DeepCopy()
				offerGPUs(node, 4)
				c.addNode(node)
			},
			func() *corev1.Pod { return newPod("asked", "cpu", "4", "nvidia.com/gpu", "2") },
			"add a node like node-0, or drain one: the pod fits on it without other pods",
		},
		"the usage of the system counts on the new node, too": {
			func(c *cluster) {
				metric := c.addMetric(0, 0, "cpu", "16")
				metric.Status.NodeMetric.SystemUsage = slov1alpha1.ResourceMap{ResourceList: list("cpu", "9")}
			},
			func() *corev1.Pod { return newPod("asked", "cpu", "4") },
			"add a node like node-0, or drain one: the pod fits on it without other pods; and reduce the pod's cpu request from 4 to",
		},
		"a node that demands what the pod cannot give is added without that": {
			func(c *cluster) {
				node := c.nodes["node-0"].DeepCopy()
				node.Labels[extension.LabelNodeNUMATopologyPolicy] = "SingleNUMANode"
				c.addNode(node)
			},
			func() *corev1.Pod { return newPod("asked", "cpu", "4") },
			"add a node like node-0, but without " + extension.LabelNodeNUMATopologyPolicy + "=SingleNUMANode: the pod fits on it without other pods",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newShippedCluster(t, newDevice("node-0", 4))
			c.addNode(newNode(0))
			test.setUp(c)
			c.full(0)
			c.addPod(test.asked())
			if fix := c.explain("asked").Fix; fix == nil || !strings.HasPrefix(fix.Description, test.wantFix) || !fix.Verified || !strings.HasPrefix(fix.Node, "node-0-like") {
				t.Errorf("fix %+v, want %q", fix, test.wantFix)
			}
		})
	}
}

func TestTheNameOfAnAddedNodeIsFree(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	taken := newNode(0)
	taken.Name = "node-0-like"
	c.addNode(taken)
	c.full(0)
	other := newPod("other", "cpu", "16")
	other.Spec.NodeName, other.Spec.Priority = taken.Name, new(int32(9999))
	c.addPod(other)
	c.addPod(newPod("asked", "cpu", "4"))
	if fix := c.explain("asked").Fix; fix == nil || fix.Node != "node-0-like-like" || fix.NodesUnlocked != 1 {
		t.Errorf("fix %+v, want one more node", fix)
	}
}

// TestSilentAgentsAreNamed has a node whose agent never reported a usage: what its pods request is taken for it.
func TestSilentAgentsAreNamed(t *testing.T) {
	tests := map[string]struct{ held, want string }{
		"its pods leave room": {
			"2", "restore koordlet on node node-0: its NodeMetric was never reported, and with the requests of its pods as usage the node passes",
		},
		"its pods would be too many": {"12", "add a node like node-0, or drain one: the pod fits on it without other pods"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.addNode(newNode(0))
			c.addMetric(0, time.Second).Status = slov1alpha1.NodeMetricStatus{}
			holder := on(0, newPod("holder", "cpu", test.held))
			holder.Spec.Priority = new(int32(9999))
			c.addPod(holder)
			c.addPod(newPod("asked", "cpu", "4"))
			if fix := c.explain("asked").Fix; fix == nil || fix.Description != test.want || !fix.Verified {
				t.Errorf("fix %+v, want %q", fix, test.want)
			}
		})
	}
}
