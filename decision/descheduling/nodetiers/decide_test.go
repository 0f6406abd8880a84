package nodetiers

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podselection"
)

// pod requests CPUs.
func pod(name string, cpu int64, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI),
		}}}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// node of a tier has 10 CPUs.
func node(name, tier string, pods ...*corev1.Pod) placement.NodePods {
	return placement.NodePods{Pods: pods, Node: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourcePods: resource.MustParse("110")}},
	}}
}

func tier(name string) Tier {
	return Tier{Name: name, NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": name}}}
}

func policy(t *testing.T, changes ...func(*Args)) *Policy {
	t.Helper()
	args := &Args{EvictionOrder: []Tier{tier("ondemand"), tier("reserved"), tier("spot")}}
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
	for _, departure := range verdict.Departures {
		for _, move := range departure.Moves {
			out = append(out, fmt.Sprintf("%s: %s -> %s", move.Pod.Name, departure.Node, move.Target))
		}
	}
	return out
}

func drain(a *Args) { a.Mode = DrainNode }

func TestWhichPodsLeaveTheirTier(t *testing.T) {
	ssd := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	tests := map[string]struct {
		args      func(*Args)
		nodes     []placement.NodePods
		protected map[types.UID]string
		want      []string
	}{
		"those that fit, the smallest first": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("large", 6), pod("small", 1), pod("middle", 4)), node("b", "spot", pod("x", 3))},
			want:  []string{"small: a -> b", "middle: a -> b"},
		},
		"to the next tier before the last": {
			nodes: []placement.NodePods{node("c", "spot"), node("b", "reserved"), node("a", "ondemand", pod("p", 4), pod("q", 7))},
			want:  []string{"p: a -> b", "q: a -> c"},
		},
		"none of the last tier, nor of nodes of no tier": {
			nodes: []placement.NodePods{node("a", "spot", pod("p", 1)), node("b", "spot"), node("c", "other", pod("q", 1))},
		},
		"none to a cordoned node": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1)), func() placement.NodePods { n := node("b", "spot"); n.Spec.Unschedulable = true; return n }()},
		},
		"none that selects other nodes": {nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1, ssd)), node("b", "spot")}},
		"that one all the same without nodeFit": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1, ssd)), node("b", "spot")}, args: func(a *Args) { a.NodeFit = new(false) },
			want: []string{"p: a -> b"},
		},
		"none that is protected": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1), pod("q", 2)), node("b", "spot")}, protected: map[types.UID]string{"p": "it is protected"},
			want: []string{"q: a -> b"},
		},
		"none below what its tier keeps": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1), pod("q", 2), pod("r", 3)), node("b", "spot")},
			args:  func(a *Args) { a.EvictionOrder[0].KeepThreshold = &Thresholds{corev1.ResourceCPU: 30} },
			want:  []string{"p: a -> b", "q: a -> b"},
		},
		"none beyond what the other tier accepts": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1), pod("q", 2), pod("r", 3)), node("b", "spot", pod("x", 2))},
			args:  func(a *Args) { a.EvictionOrder[2].RejectThreshold = &Thresholds{corev1.ResourceCPU: 50} },
			want:  []string{"p: a -> b", "q: a -> b"},
		},
		"all of a node when it is drained": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1), pod("q", 2)), node("b", "spot", pod("x", 7))}, args: drain,
			want: []string{"p: a -> b", "q: a -> b"},
		},
		"or none, and then those of the next have the room": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 2), pod("q", 6)), node("a2", "ondemand", pod("r", 5)), node("b", "spot", pod("x", 5))}, args: drain,
			want: []string{"r: a2 -> b"},
		},
		"none while paused": {
			nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1)), node("b", "spot")}, args: func(a *Args) { a.Paused = new(true) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var changes []func(*Args)
			if tc.args != nil {
				changes = append(changes, tc.args)
			}
			in, trace := Input{Policy: policy(t, changes...), Nodes: tc.nodes, Protected: tc.protected}, &Trace{}
			verdict := Decide(in, trace)
			if diff := cmp.Diff(tc.want, moves(verdict)); diff != "" {
				t.Errorf("moves (-want +got):\n%s\n%+v", diff, trace)
			}
			if diff := cmp.Diff(Decide(in, nil), verdict); diff != "" {
				t.Errorf("with a trace (-without +with):\n%s", diff)
			}
		})
	}
}

func TestADrainedNodeIsCordoned(t *testing.T) {
	in := Input{Policy: policy(t, drain, func(a *Args) { a.AutoCordon = new(true) }), Nodes: []placement.NodePods{node("a", "ondemand", pod("p", 1)), node("b", "spot")}}
	trace := &Trace{}
	verdict := Decide(in, trace)
	want := []Departure{{Node: "a", Tier: "ondemand", Together: true, Cordon: true, Moves: []Move{{Pod: in.Nodes[0].Pods[0], Target: "b", Reason: "drain node a (sourcePriority=ondemand)"}}}}
	if diff := cmp.Diff(want, verdict.Departures); diff != "" {
		t.Errorf("departures (-want +got):\n%s", diff)
	}
	if got, want := trace.Message(verdict), "1 pod(s) leave 1 node(s) for nodes of later tiers"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestArgsAreChecked(t *testing.T) {
	args := &Args{
		Mode: "Sometimes", EvictableNamespaces: &podselection.Namespaces{Include: []string{"a"}, Exclude: []string{"b"}},
		EvictionOrder: []Tier{{}, tier("spot"), {Name: "spot", NodeSelector: &metav1.LabelSelector{}, KeepThreshold: &Thresholds{"cpu": 101}, RejectThreshold: &Thresholds{"cpu": -1}}},
	}
	SetDefaults(args)
	var got []string
	for _, err := range Validate(args) {
		got = append(got, err.Field)
	}
	want := []string{
		"evictableNamespaces", "mode", "evictionOrder[0].name", "evictionOrder[0].nodeSelector",
		"evictionOrder[2].name", "evictionOrder[2].keepThreshold[cpu]", "evictionOrder[2].rejectThreshold[cpu]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
