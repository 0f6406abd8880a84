package fragmentation

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podselection"
)

// pod requests CPUs and GiB.
func pod(name string, cpu, memory int64) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory<<30, resource.BinarySI),
		}}}}},
	}
}

// node has 10 CPUs and 10 GiB.
func node(name string, pods ...*corev1.Pod) placement.NodePods {
	return placement.NodePods{Pods: pods, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}}
}

func policy(t testing.TB, changes ...func(*Args)) *Policy {
	t.Helper()
	args := &Args{}
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

func moves(verdict Verdict) []string {
	var out []string
	for _, move := range verdict.Moves {
		out = append(out, fmt.Sprintf("%s: %s -> %s", move.Pod.Name, move.Node, move.Target))
	}
	return out
}

func TestWhichPodLeavesAnImbalancedNode(t *testing.T) {
	tests := map[string]struct {
		args      func(*Args)
		nodes     []placement.NodePods
		protected map[types.UID]string
		want      []string
	}{
		"the one that balances it": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1), pod("even", 2, 2)), node("b", pod("memory", 1, 6))},
			want:  []string{"cpu: a -> b"},
		},
		"none of a node at the threshold": {
			nodes: []placement.NodePods{node("a", pod("x", 4, 1)), node("b", pod("memory", 1, 4))},
			args:  func(a *Args) { a.ImbalanceThreshold = new(0.151) },
		},
		"none that would only move the imbalance": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1)), node("b")},
		},
		"that one all the same without nodeFit": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1)), node("b")}, args: func(a *Args) { a.NodeFit = new(false) },
			want: []string{"cpu: a -> "},
		},
		"none that fits nowhere": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1)), node("b", pod("memory", 5, 10))},
		},
		"one of them at most": {
			nodes: []placement.NodePods{node("a", pod("x", 4, 1), pod("y", 4, 1)), node("b", pod("memory", 1, 4))},
			want:  []string{"x: a -> b"},
		},
		"another where the best is protected": {
			nodes:     []placement.NodePods{node("a", pod("cpu", 5, 1), pod("less", 3, 1)), node("b", pod("memory", 1, 6))},
			protected: map[types.UID]string{"cpu": "it is protected"}, want: []string{"less: a -> b"},
		},
		"none of other namespaces": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1)), node("b", pod("memory", 1, 6))},
			args:  func(a *Args) { a.EvictableNamespaces = &podselection.Namespaces{Include: []string{"shop"}} },
		},
		"none while paused": {
			nodes: []placement.NodePods{node("a", pod("cpu", 6, 1)), node("b", pod("memory", 1, 6))}, args: func(a *Args) { a.Paused = new(true) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var changes []func(*Args)
			if tc.args != nil {
				changes = append(changes, tc.args)
			}
			trace := &Trace{}
			verdict := Decide(Input{Policy: policy(t, changes...), Nodes: tc.nodes, Protected: tc.protected}, trace)
			if diff := cmp.Diff(tc.want, moves(verdict)); diff != "" {
				t.Errorf("moves (-want +got):\n%s\n%+v", diff, trace)
			}
		})
	}
}

func TestTheReasonIsUpstreams(t *testing.T) {
	trace := &Trace{}
	verdict := Decide(Input{Policy: policy(t), Nodes: []placement.NodePods{node("a", pod("cpu", 6, 1), pod("even", 2, 2)), node("b", pod("memory", 1, 6))}}, trace)
	if len(verdict.Moves) == 0 || verdict.Moves[0].Reason != "fragmentation reduction: stdBefore=0.2500 stdAfter=0.0000 gain=0.2500" {
		t.Errorf("moves %+v", verdict.Moves)
	}
	if got, want := trace.Message(verdict), "1 pod(s) leave 1 imbalanced node(s) of 2"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if terms := trace.Operands(verdict); len(terms) != 2 || terms[0].Value != 80 || terms[1].Value != 30 {
		t.Errorf("operands %+v, want 80 %% of cpu and 30 %% of memory", terms)
	}
}

func TestArgsAreChecked(t *testing.T) {
	args := &Args{Resources: []corev1.ResourceName{"cpu", "cpu", ""}, ImbalanceThreshold: new(1.5), MinImprovementThreshold: new(-0.1), EvictableNamespaces: &podselection.Namespaces{Include: []string{"a"}, Exclude: []string{"b"}}}
	SetDefaults(args)
	var got []string
	for _, err := range Validate(args) {
		got = append(got, err.Field)
	}
	if diff := cmp.Diff([]string{"evictableNamespaces", "resources[1]", "resources[2]", "imbalanceThreshold", "minImprovementThreshold"}, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// TestEachMoveLowersTheSumOfImbalances: which is why passes under a fixed load end.
func TestEachMoveLowersTheSumOfImbalances(t *testing.T) {
	compiled := policy(t)
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Policy: compiled}
		for i := range rapid.IntRange(2, 5).Draw(t, "nodes") {
			var pods []*corev1.Pod
			for j := range rapid.IntRange(0, 4).Draw(t, "pods") {
				pods = append(pods, pod(fmt.Sprintf("%d-%d", i, j), rapid.Int64Range(0, 3).Draw(t, "cpu"), rapid.Int64Range(0, 3).Draw(t, "memory")))
			}
			in.Nodes = append(in.Nodes, node(fmt.Sprint(i), pods...))
		}
		without, with := Decide(in, nil), Decide(in, &Trace{})
		if diff := cmp.Diff(without, with); diff != "" {
			t.Fatalf("with a trace (-without +with):\n%s", diff)
		}
		for _, move := range without.Moves {
			before := sum(in.Nodes)
			in.Nodes = apply(in.Nodes, move)
			if after := sum(in.Nodes); after > before-0.02+1e-9 {
				t.Fatalf("%s: %s -> %s makes a sum of %v of %v", move.Pod.Name, move.Node, move.Target, after, before)
			}
		}
	})
}

func sum(nodes []placement.NodePods) float64 {
	total := 0.0
	for _, node := range nodes {
		total += newNodeState(node, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}).imbalance(nil, 0)
	}
	return total
}

func apply(nodes []placement.NodePods, move Move) []placement.NodePods {
	var out []placement.NodePods
	for _, node := range nodes {
		var pods []*corev1.Pod
		for _, pod := range node.Pods {
			if pod != move.Pod {
				pods = append(pods, pod)
			}
		}
		if node.Name == move.Target {
			pods = append(pods, move.Pod)
		}
		out = append(out, placement.NodePods{Node: node.Node, Pods: pods})
	}
	return out
}
