package loadaware

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/state"
)

// fleet is a cluster of nodes with fifty reported pods each, five of them new.
func fleet(b testing.TB, size int) (*fixture, []fwk.NodeInfo) {
	f := newFixture(b, "")
	infos := make([]fwk.NodeInfo, size)
	for i := range infos {
		node := newNode(fmt.Sprintf("node-%d", i))
		metric := newMetric(node.Name, "2", start)
		var assigned []decision.AssignedPod
		for j := range 50 {
			pod, since := newPod(fmt.Sprintf("pod-%d-%d", i, j), "100m"), time.Hour
			if j < 5 {
				since = time.Second
			}
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
				Namespace: pod.Namespace, Name: pod.Name, Priority: "koord-prod", PodUsage: slov1alpha1.ResourceMap{ResourceList: pod.Spec.Containers[0].Resources.Requests},
			})
			assigned = append(assigned, decision.AssignedPod{Pod: pod, AssignedAt: start.Add(-since)})
		}
		f.state.metrics[node.Name] = metric
		f.state.assigned[node.Name] = state.Assigned{Version: 1, Pods: assigned}
		infos[i] = infoOf(node)
	}
	return f, infos
}

// BenchmarkFilter is one node for one pod, on the way that nearly every call takes: the node did not change.
func BenchmarkFilter(b *testing.B) {
	f, infos := fleet(b, 100)
	pod, state, ctx := newPod("web", "1"), framework.NewCycleState(), b.Context()
	f.plugin.PreFilter(ctx, state, pod, infos)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.plugin.Filter(ctx, state, pod, infos[i%len(infos)])
	}
}

// BenchmarkFilterNewPods has every pod filtered on a single node, so that its estimate is made each time.
func BenchmarkFilterNewPods(b *testing.B) {
	f, infos := fleet(b, 1)
	pods, ctx := []*corev1.Pod{newPod("a", "1"), newPod("b", "1")}, b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		state := framework.NewCycleState()
		f.plugin.PreFilter(ctx, state, pods[i%2], infos)
		f.plugin.Filter(ctx, state, pods[i%2], infos[0])
	}
}

// BenchmarkFilterChangedNode has a pod reserved on the node before each call, so that it is digested each time.
func BenchmarkFilterChangedNode(b *testing.B) {
	f, infos := fleet(b, 1)
	pod, state, ctx := newPod("web", "1"), framework.NewCycleState(), b.Context()
	f.plugin.PreFilter(ctx, state, pod, infos)
	assigned := f.state.assigned["node-0"]
	b.ReportAllocs()
	for b.Loop() {
		assigned.Version++
		f.state.assigned["node-0"] = assigned
		f.plugin.Filter(ctx, state, pod, infos[0])
	}
}

// BenchmarkScore is one node for one pod.
func BenchmarkScore(b *testing.B) {
	f, infos := fleet(b, 100)
	pod, state, ctx := newPod("web", "1"), framework.NewCycleState(), b.Context()
	f.plugin.PreFilter(ctx, state, pod, infos)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _ = f.plugin.Score(ctx, state, pod, infos[i%len(infos)])
	}
}

// BenchmarkSignPod is done once for each pod.
func BenchmarkSignPod(b *testing.B) {
	f, _ := fleet(b, 1)
	pod, ctx := newPod("web", "1"), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = f.plugin.SignPod(ctx, pod)
	}
}

func TestWarmNodesCostNoAllocation(t *testing.T) {
	f, infos := fleet(t, 1)
	pod, state, ctx := newPod("web", "1"), framework.NewCycleState(), t.Context()
	f.plugin.PreFilter(ctx, state, pod, infos)
	if allocations := testing.AllocsPerRun(100, func() {
		f.plugin.Filter(ctx, state, pod, infos[0])
		_, _ = f.plugin.Score(ctx, state, pod, infos[0])
	}); allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

// BenchmarkCycle is all that the plugin does to place one pod on one of many nodes, as a scheduling cycle calls it.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []int{100, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f, infos := fleet(b, size)
			f.state.stamp = &atomic.Uint64{} // as in a scheduler, where changes are followed
			pods, ctx := []*corev1.Pod{newPod("a", "1"), newPod("b", "1")}, b.Context()
			for _, info := range infos { // nodes are digested when they change
				f.plugin.observe(info.Node())
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				pod, state := pods[i%2], framework.NewCycleState()
				f.plugin.PreFilter(ctx, state, pod, infos)
				for _, info := range infos {
					f.plugin.Filter(ctx, state, pod, info)
				}
				for _, info := range infos {
					_, _ = f.plugin.Score(ctx, state, pod, info)
				}
			}
		})
	}
}
