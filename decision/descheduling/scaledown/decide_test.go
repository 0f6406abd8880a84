package scaledown

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podselection"
)

// pod of the workload web requests CPUs.
func pod(name string, cpu int64, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI),
		}}}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func other(pod *corev1.Pod) { pod.Labels["app"] = "other" }

func costing(cost string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[corev1.PodDeletionCost] = cost }
}

func created(ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(-ago))
	}
}

// node has 10 CPUs.
func node(name string, pods ...*corev1.Pod) placement.NodePods {
	return placement.NodePods{Pods: pods, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi"),
	}}}}
}

func policy(t *testing.T, changes ...func(*Args)) *Policy {
	t.Helper()
	args := &Args{PodSelectors: []podselection.Selector{{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}}
	for _, change := range changes {
		change(args)
	}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	compiled, err := Compile(args)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestThePodsOfTheEmptiestNodesLeaveFirst(t *testing.T) {
	tests := map[string]struct {
		nodes     []placement.NodePods
		protected map[types.UID]string
		want      []string
	}{
		"where little else runs": {
			nodes: []placement.NodePods{node("busy", pod("a", 2), pod("x", 6, other)), node("quiet", pod("b", 2), pod("y", 1, other)), node("empty", pod("c", 2))},
			want:  []string{"c 0", "b 1", "a 2"},
		},
		"where fewer pods are, if all else is equal": {
			nodes: []placement.NodePods{node("two", pod("a", 1), pod("b", 1)), node("one", pod("c", 2))},
			want:  []string{"c 0", "a 1", "b 2"},
		},
		"the largest of a node, and then the newest": {
			nodes: []placement.NodePods{node("n", pod("old", 1, created(time.Hour)), pod("new", 1, created(time.Minute)), pod("large", 2, created(2*time.Hour)))},
			want:  []string{"large 0", "new 1", "old 2"},
		},
		"a protected pod is among the others, and leaves last": {
			nodes:     []placement.NodePods{node("a", pod("held", 1), pod("free", 1)), node("b", pod("c", 1), pod("y", 0, other))},
			protected: map[types.UID]string{"held": "it is protected"},
			want:      []string{"held 2147483647", "c 0", "free 1"},
		},
		"last where ranked pods request nothing and others do": {
			nodes: []placement.NodePods{node("a", pod("nothing", 0), pod("x", 1, other)), node("b", pod("c", 1), pod("y", 8, other))},
			want:  []string{"c 0", "nothing 1"},
		},
		"only what changes is written": {
			nodes: []placement.NodePods{node("a", pod("same", 2, costing("0")), pod("wrong", 1, costing("0")), pod("garbage", 0, costing("x")))},
			want:  []string{"wrong 1", "garbage 2"},
		},
		"nothing of nodes without such pods": {nodes: []placement.NodePods{node("a", pod("x", 1, other)), node("b")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Policy: policy(t), Nodes: tc.nodes, Protected: tc.protected}
			trace := &Trace{}
			verdict := Decide(in, trace)
			var got []string
			for _, cost := range verdict.Costs {
				got = append(got, fmt.Sprintf("%s %d", cost.Pod.Name, cost.Cost))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("deletion costs (-want +got):\n%s\n%+v", diff, trace)
			}
			if diff := cmp.Diff(Decide(in, nil), verdict); diff != "" {
				t.Errorf("with a trace (-without +with):\n%s", diff)
			}
		})
	}
}

func TestEvictDirectlyWritesNoCosts(t *testing.T) {
	verdict := Decide(Input{Policy: policy(t, func(a *Args) { a.Strategy, a.MaxPodsToEvict = EvictDirectly, new(int32(1)) }), Nodes: []placement.NodePods{node("a", pod("x", 1), pod("y", 2))}}, nil)
	if !verdict.Evict || verdict.MaxEvictions != 1 || len(verdict.Costs) != 0 || len(verdict.Ranked) != 2 || verdict.Ranked[0].Pod.Name != "y" {
		t.Errorf("verdict %+v, want y first and no costs", verdict)
	}
	if paused := Decide(Input{Policy: policy(t, func(a *Args) { a.Paused = new(true) }), Nodes: []placement.NodePods{node("a", pod("x", 1))}}, nil); len(paused.Ranked) != 0 {
		t.Errorf("ranks %v while paused", paused.Ranked)
	}
}

func TestPodsOfOtherNamespacesAreNotTouched(t *testing.T) {
	system := pod("system", 1, func(p *corev1.Pod) { p.Namespace = "kube-system" })
	verdict := Decide(Input{
		Policy: policy(t, func(a *Args) { a.EvictableNamespaces = &podselection.Namespaces{Exclude: []string{"kube-system"}} }),
		Nodes:  []placement.NodePods{node("a", system, pod("x", 1))}, Protected: map[types.UID]string{"system": "it is critical"},
	}, nil)
	if len(verdict.Costs) != 1 || verdict.Costs[0].Pod.Name != "x" {
		t.Errorf("costs %+v, want that of x alone", verdict.Costs)
	}
}

func TestArgsAreChecked(t *testing.T) {
	args := &Args{Strategy: "Guess", MaxPodsToEvict: new(int32(-1)), Resources: []corev1.ResourceName{""}, ResourceWeights: map[corev1.ResourceName]float64{"cpu": 0, "memory": math.Inf(1)}}
	SetDefaults(args)
	var got []string
	for _, err := range Validate(args) {
		got = append(got, err.Field)
	}
	want := []string{"strategy", "maxPodsToEvict", "resources[0]", "resourceWeights[cpu]", "resourceWeights[cpu]", "resourceWeights[memory]", "resourceWeights[memory]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
