package explain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/source/objects"
)

// snapshot is what API objects say of the cluster.
func (c *cluster) snapshot(name string) objects.PodSnapshot {
	in := objects.PodSnapshot{LoadAware: true, Profiles: []string{schedulerName}, Now: now}
	for _, node := range c.nodes {
		in.Nodes = append(in.Nodes, *node)
	}
	for _, pod := range c.pods {
		if pod.Name == name {
			in.Pod = pod
		} else {
			in.Pods = append(in.Pods, *pod)
		}
	}
	for _, metric := range c.state.metrics {
		in.Metrics = append(in.Metrics, *metric)
	}
	return in
}

func tainted(node *corev1.Node, taints ...corev1.Taint) *corev1.Node {
	node.Spec.Taints = append(node.Spec.Taints, taints...)
	return node
}

func hostPort(pod *corev1.Pod, port int32, ip string) *corev1.Pod {
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port, HostIP: ip}}
	return pod
}

// TestObjectsAnswerAsTheScheduler compares what objects alone say about a pod with the answer of the scheduler's plugins.
func TestObjectsAnswerAsTheScheduler(t *testing.T) {
	dedicated := corev1.Taint{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	cordoned := func(i int, taints ...corev1.Taint) *corev1.Node {
		node := tainted(newNode(i), taints...)
		node.Spec.Unschedulable = true
		return node
	}
	requiring := func(pod *corev1.Pod, requirements ...corev1.NodeSelectorRequirement) *corev1.Pod {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}},
		}}}
		return pod
	}
	tolerating := func(pod *corev1.Pod, tolerations ...corev1.Toleration) *corev1.Pod {
		pod.Spec.Tolerations = tolerations
		return pod
	}
	small := func() *corev1.Pod { return newPod("asked", "cpu", "1", "memory", "1Gi") }
	tests := []struct {
		name  string
		build func(c *cluster)
		// wantGroups counts the reasons, so that none is compared with none by mistake.
		wantGroups int
	}{
		{"nothing in the way", func(c *cluster) { c.addNode(newNode(0)); c.addPod(small()) }, 0},
		{"a cordoned node", func(c *cluster) { c.addNode(cordoned(0)); c.addPod(small()) }, 1},
		{"a cordoned node with the taint of the cordon", func(c *cluster) { c.addNode(cordoned(0, cordon)); c.addPod(small()) }, 1},
		{"a cordoned node with another taint", func(c *cluster) { c.addNode(cordoned(0, cordon, dedicated)); c.addPod(small()) }, 2},
		{"the taint of a cordon that is gone", func(c *cluster) { c.addNode(tainted(newNode(0), cordon)); c.addPod(small()) }, 1},
		{"a cordon that the pod tolerates", func(c *cluster) {
			c.addNode(cordoned(0, cordon))
			c.addPod(tolerating(small(), corev1.Toleration{Operator: corev1.TolerationOpExists, Key: corev1.TaintNodeUnschedulable}))
		}, 0},
		{"different taints, one tolerated, one a preference", func(c *cluster) {
			c.addNode(tainted(newNode(0), dedicated, corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoExecute}))
			c.addNode(tainted(newNode(1), dedicated))
			c.addNode(tainted(newNode(2), corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoExecute}, corev1.Taint{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}))
			c.addPod(tolerating(small(), corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "db"}))
		}, 1},
		{"a toleration that compares numbers, which is not enabled", func(c *cluster) {
			c.addNode(tainted(newNode(0), corev1.Taint{Key: "level", Value: "5", Effect: corev1.TaintEffectNoSchedule}))
			c.addPod(tolerating(small(), corev1.Toleration{Key: "level", Operator: "Gt", Value: "3"}))
		}, 1},
		{"a node selector, with and without the label on the node", func(c *cluster) {
			for i, value := range []string{"hdd", ""} {
				node := newNode(i)
				if value != "" {
					node.Labels["disk"] = value
				}
				c.addNode(node)
			}
			pod := small()
			pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
			c.addPod(pod)
		}, 1},
		{"node affinity, of which two requirements fail", func(c *cluster) {
			for i, zone := range []string{"a", "b"} {
				node := newNode(i)
				node.Labels["zone"] = zone
				c.addNode(node)
			}
			c.addPod(requiring(small(), corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}},
				corev1.NodeSelectorRequirement{Key: "fast", Operator: corev1.NodeSelectorOpExists}))
		}, 2},
		{"a host port that is taken on one of its addresses", func(c *cluster) {
			c.addNode(newNode(0))
			c.addPod(on(0, hostPort(newPod("web"), 80, "10.0.0.1")))
			c.addPod(hostPort(small(), 80, ""))
		}, 1},
		{"the same port on two addresses", func(c *cluster) {
			c.addNode(newNode(0))
			c.addPod(on(0, hostPort(newPod("web"), 80, "10.0.0.1")))
			c.addPod(hostPort(small(), 80, "10.0.0.2"))
		}, 0},
		{"resources of three tiers and a device that no node has", func(c *cluster) {
			c.addNode(newNode(0))
			c.addNode(newNode(1))
			c.addPod(on(0, newPod("other", "cpu", "13500m", "memory", "1Gi", "kubernetes.io/batch-cpu", "2000")))
			c.addPod(newPod("asked", "cpu", "4", "memory", "100Gi", "kubernetes.io/batch-cpu", "3000", "example.com/fpga", "1"))
		}, 4},
		{"too many pods", func(c *cluster) {
			node := newNode(0)
			node.Status.Allocatable["pods"] = resource.MustParse("1")
			c.addPod(on(0, newPod("other")))
			c.addNode(node)
			c.addPod(small())
		}, 1},
		{"a hot node, a silent one, and one with an old NodeMetric", func(c *cluster) {
			for i := range 3 {
				c.addNode(newNode(i))
			}
			c.addMetric(0, 10*time.Second, "cpu", "12", "memory", "1Gi")
			c.addMetric(1, time.Hour, "cpu", "1", "memory", "1Gi")
			c.addPod(small())
		}, 2},
	}
	c := newCluster(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer c.clear()
			test.build(c)
			fromScheduler, err := c.engine.Explain(context.Background(), &diagnosticsv1alpha1.PodExplanation{
				ObjectMeta: question("asked").ObjectMeta, Spec: diagnosticsv1alpha1.PodExplanationSpec{PodName: "asked", SkipFix: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			want, got := fromScheduler.Status, objects.ExplainPod(c.snapshot("asked")).Status
			if len(want.Groups) != test.wantGroups {
				t.Errorf("the scheduler has %d reasons, want %d: %+v", len(want.Groups), test.wantGroups, want.Groups)
			}
			if diff := cmp.Diff(want.Groups, got.Groups); diff != "" {
				t.Errorf("objects answer otherwise than the scheduler (-scheduler +objects):\n%s", diff)
			}
			if want.NodesFeasible == 0 && (want.Code != got.Code || want.Summary != got.Summary || !strings.HasPrefix(got.Summary, "0/")) {
				t.Errorf("the scheduler says %s %q, objects say %s %q", want.Code, want.Summary, got.Code, got.Summary)
			}
		})
	}
}

func TestNodefitKnowsThePluginsByTheirNames(t *testing.T) {
	for _, name := range []string{
		names.NodeResourcesFit, names.TaintToleration, names.NodeAffinity, names.NodeUnschedulable, names.NodeName, names.NodePorts, names.PodTopologySpread,
		names.InterPodAffinity, names.VolumeBinding, names.VolumeZone, names.NodeVolumeLimits, names.VolumeRestrictions, names.DynamicResources, names.SchedulingGates,
	} {
		if _, known := nodefit.CodeOf(name); !known {
			t.Errorf("plugin %s of Kubernetes has no code", name)
		}
	}
}
