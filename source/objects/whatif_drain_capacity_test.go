package objects

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// targetLines are the nodes of a forecast, as NAME PODS->PODS RESOURCE REQUESTED->REQUESTED of ALLOCATABLE used USED->USED.
func targetLines(t *testing.T, in *DrainSnapshot, placed ...string) []string {
	t.Helper()
	shown := func(amount *int64) string {
		if amount == nil {
			return "?"
		}
		return fmt.Sprint(*amount)
	}
	var out []string
	for _, target := range NewDrain(in).Answer(placedOn(placed...)).Targets {
		line := fmt.Sprintf("%s %d->%d", target.Name, target.PodsBefore, target.PodsAfter)
		for _, load := range target.Resources {
			if load.Resource == "memory" {
				continue // as cpu, in bytes
			}
			line += fmt.Sprintf(" %s %d->%d of %d used %s->%s", load.Resource, load.RequestedBefore, load.RequestedAfter, load.Allocatable, shown(load.UsedBefore), shown(load.UsedAfter))
		}
		out = append(out, line)
	}
	return out
}

func TestOtherNodesAreShownBeforeAndAfter(t *testing.T) {
	tests := map[string]struct {
		pods    []*corev1.Pod
		metrics []slov1alpha1.NodeMetric
		edit    func(*DrainSnapshot)
		placed  []string
		want    []string
	}{
		"requests and usage move with the pod": {
			pods:    []*corev1.Pod{web("w0", "a"), web("old", "b")},
			metrics: []slov1alpha1.NodeMetric{usageOf("a", 0, map[string]string{"w0": "300m"}), usageOf("b", 0, nil)},
			placed:  []string{"w0=b"},
			want:    []string{"b 1->2 cpu 1000->2000 of 16000 used 2000->2300", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"a node that was not measured": {
			pods: []*corev1.Pod{web("w0", "a")}, metrics: []slov1alpha1.NodeMetric{usageOf("a", 0, map[string]string{"w0": "300m"})}, placed: []string{"w0=b"},
			want: []string{"b 0->1 cpu 0->1000 of 16000 used ?->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"a pod that was not measured": {
			pods: []*corev1.Pod{web("w0", "a"), web("w1", "a")}, placed: []string{"w0=b", "w1=c"},
			metrics: []slov1alpha1.NodeMetric{usageOf("a", 0, map[string]string{"w1": "300m"}), usageOf("b", 0, nil), usageOf("c", 0, nil)},
			want:    []string{"b 0->1 cpu 0->1000 of 16000 used 2000->?", "c 0->1 cpu 0->1000 of 16000 used 2000->2300"},
		},
		"one of two pods was not measured": {
			pods: []*corev1.Pod{web("w0", "a"), web("w1", "a")}, placed: []string{"w0=b", "w1=b"},
			metrics: []slov1alpha1.NodeMetric{usageOf("a", 0, map[string]string{"w1": "300m"}), usageOf("b", 0, nil)},
			want:    []string{"b 0->2 cpu 0->2000 of 16000 used 2000->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"measurements that are too old": {
			pods: []*corev1.Pod{web("w0", "a")}, placed: []string{"w0=b"},
			metrics: []slov1alpha1.NodeMetric{usageOf("a", time.Hour, map[string]string{"w0": "300m"}), usageOf("b", 0, nil)},
			want:    []string{"b 0->1 cpu 0->1000 of 16000 used 2000->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"pods that ended hold nothing": {
			pods: []*corev1.Pod{web("old", "b", inPhase(corev1.PodSucceeded)), web("gone", "a", inPhase(corev1.PodFailed))},
			want: []string{"b 0->0 cpu 0->0 of 16000 used ?->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"a pod without a place loads no node": {
			pods: []*corev1.Pod{web("w0", "a")}, placed: []string{"w0="}, want: []string{"b 0->0 cpu 0->0 of 16000 used ?->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"a pod that is blocked stays where it is": {
			pods: []*corev1.Pod{web("w0", "a")}, placed: []string{"w0=b"}, edit: func(in *DrainSnapshot) { in.Budgets = append(in.Budgets, budgetOf("web", 0)) },
			want: []string{"b 0->0 cpu 0->0 of 16000 used ?->?", "c 0->0 cpu 0->0 of 16000 used ?->?"},
		},
		"other resources are listed where they are requested": {
			pods: []*corev1.Pod{web("w0", "a", requesting("kubernetes.io/batch-cpu", "1500", "vendor.example/gpu", "2"))}, placed: []string{"w0=c"},
			want: []string{
				"b 0->0 cpu 0->0 of 16000 used ?->?",
				"c 0->1 cpu 0->0 of 16000 used ?->? kubernetes.io/batch-cpu 0->1500 of 4000 used ?->? vendor.example/gpu 0->2 of 0 used ?->?",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(tc.pods...)
			in.Nodes, in.Metrics = in.Nodes[:3], tc.metrics
			if tc.edit != nil {
				tc.edit(in)
			}
			if diff := cmp.Diff(tc.want, targetLines(t, in, tc.placed...)); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCapacityThatIsLostIsCompared(t *testing.T) {
	sized := func(name, cpu string, edits ...func(*corev1.Node)) corev1.Node {
		n := node(name, append([]func(*corev1.Node){readyNode}, edits...)...)
		n.Status.Allocatable = resources("cpu", cpu, "pods", "110")
		return n
	}
	full := func(on, cpu string) *corev1.Pod { return web("full-"+on, on, requesting("cpu", cpu)) }
	tests := map[string]struct {
		nodes []corev1.Node
		pods  []*corev1.Pod
		want  []string
	}{
		"a quarter of the cluster": {
			[]corev1.Node{sized("a", "4"), sized("b", "12")}, []*corev1.Pod{web("w0", "a"), full("b", "2")}, []string{"cpu lost 4000 25.00% displaced 1000 free 10000"},
		},
		"cordoned nodes and those that are not ready have nothing free": {
			[]corev1.Node{sized("a", "4"), sized("b", "4", cordoned), sized("c", "4", notReadyNode)}, []*corev1.Pod{web("w0", "a")}, []string{"cpu lost 4000 33.33% displaced 1000 free 0"},
		},
		"a node that is overcommitted takes nothing from the others": {
			[]corev1.Node{sized("a", "4"), sized("b", "4"), sized("c", "4")}, []*corev1.Pod{full("b", "9"), full("c", "1")}, []string{"cpu lost 4000 33.33% displaced 0 free 3000"},
		},
		"only pods that come back are displaced": {
			[]corev1.Node{sized("a", "4"), sized("b", "4")},
			[]*corev1.Pod{web("bare", "a", bare), web("log", "a", ofController("DaemonSet", "log")), web("done", "a", inPhase(corev1.PodSucceeded)), web("w0", "a")},
			[]string{"cpu lost 4000 50.00% displaced 1000 free 4000"},
		},
		"a cluster of one node": {[]corev1.Node{sized("a", "4")}, nil, []string{"cpu lost 4000 100.00% displaced 0 free 0"}},
		"nothing to lose":       {[]corev1.Node{sized("a", "0"), sized("b", "4")}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(tc.pods...)
			in.Nodes = tc.nodes
			var got []string
			for _, c := range NewDrain(in).Answer(nil).Capacity {
				got = append(got, fmt.Sprintf("%s lost %d %.2f%% displaced %d free %d", c.Resource, c.Lost, float64(c.ShareBasisPoints)/100, c.Displaced, c.Free))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("capacity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDrainedNodesAreListedWithTheirPods(t *testing.T) {
	in := drainOfA(web("w0", "b"), web("log", "b", ofController("DaemonSet", "log")), web("w1", "a"), web("static", "a", mirrored))
	in.Drained = []string{"b", "a"}
	in.Nodes[1].Spec.Unschedulable = true
	in.Pods[0].DeletionTimestamp = &metav1.Time{Time: now}
	var got []string
	for _, n := range NewDrain(in).Answer(nil).Nodes {
		got = append(got, fmt.Sprintf("%s cordoned %t: %d pods, %d evicted", n.Name, n.Unschedulable, n.Pods, n.Evicted))
	}
	if diff := cmp.Diff([]string{"a cordoned false: 2 pods, 1 evicted", "b cordoned true: 2 pods, 1 evicted"}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}
