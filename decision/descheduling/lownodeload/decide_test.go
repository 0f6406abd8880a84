package lownodeload

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/podselection"
)

func TestWhichPodsLeave(t *testing.T) {
	tests := map[string]struct {
		args  func(*Args)
		nodes []Node
		want  []string
	}{
		"the pod that just brings the node below its threshold": {
			nodes: []Node{node("hot", pod("small", 300), pod("fits", 1100), pod("large", 6600)), loaded("cold", 10)},
			want:  []string{"fits: hot -> cold"},
		},
		"a batch pod before that prod pod": {
			nodes: []Node{node("hot", pod("prod", 6900), pod("batch", 1100, batch)), loaded("cold", 10)},
			want:  []string{"batch: hot -> cold"},
		},
		"of equal pods that a job created together, the one that loses less of its work": {
			nodes: []Node{node("hot", pod("a", 1100, ofJob(40*time.Minute)), pod("b", 1100, ofJob(10*time.Minute)), pod("large", 5800)), loaded("cold", 10)},
			want:  []string{"b: hot -> cold"},
		},
		"the newer of two pods, although it loses more of its work": {
			nodes: []Node{node("hot", pod("a", 1100, ofJob(40*time.Minute), newer), pod("b", 1100, ofJob(10*time.Minute)), pod("large", 5800)), loaded("cold", 10)},
			want:  []string{"a: hot -> cold"},
		},
		"several pods when one is not enough, the best for what is left each time": {
			nodes: []Node{node("hot", pod("a", 800), pod("b", 300), pod("c", 200), pod("d", 200), pod("e", 6400, namespaced("kube-system"))), loaded("cold", 10)},
			args:  func(a *Args) { a.EvictableNamespaces = &podselection.Namespaces{Exclude: []string{"kube-system"}} },
			want:  []string{"a: hot -> cold", "c: hot -> cold"},
		},
		"the hottest node first": {
			nodes: []Node{node("hot", pod("a", 1000), pod("b", 6600)), node("hotter", pod("c", 1500), pod("d", 6600)), loaded("cold", 10)},
			want:  []string{"c: hotter -> cold", "a: hot -> cold"},
		},
		"none that uses more than the low node has left": {
			nodes: []Node{node("hot", pod("a", 3500), pod("b", 4500)), loaded("cold", 45)},
			want:  nil,
		},
		"none whose usage is not reported": {
			nodes: []Node{node("hot", pod("a", 8000, namespaced("other")), pod("b", 0, unreported)), loaded("cold", 10)},
			args:  func(a *Args) { a.EvictableNamespaces = &podselection.Namespaces{Include: []string{"default"}} },
			want:  nil,
		},
		"none that does not relieve the node": {
			nodes: []Node{node("hot", pod("idle", 0, using(20), batch), pod("busy", 7500)), loaded("cold", 10)},
			args:  func(a *Args) { a.NodeFit = new(false) },
			want:  nil,
		},
		"none that fits nowhere": {
			nodes: []Node{node("hot", pod("pinned", 1500, func(p *builtPod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }), pod("big", 1200, requesting(11000)), pod("free", 900, func(p *builtPod) { p.Spec.Priority = new(int32(9900)) }), pod("rest", 6400, func(p *builtPod) { p.Spec.Priority = new(int32(9999)) })), loaded("cold", 10)},
			want:  []string{"free: hot -> cold"},
		},
		"not more than the low node can take below its high threshold": {
			nodes: []Node{node("hot", pod("a", 2000), pod("b", 2000), pod("c", 2000), pod("d", 2000), pod("e", 1500)), loaded("cold", 44)},
			want:  []string{"a: hot -> cold"},
		},
		"without nodeFit to no node in particular": {
			nodes: []Node{node("hot", pod("a", 1100), pod("b", 6900)), loaded("cold", 10)},
			args:  func(a *Args) { a.NodeFit = new(false) },
			want:  []string{"a: hot -> "},
		},
		"no prod pod to a node that is low, and would have too much prod": {
			nodes: []Node{node("hot", pod("a", 3000), pod("b", 5200)), node("cold", pod("c", 3000))},
			args: func(a *Args) {
				a.ProdLowThresholds, a.ProdHighThresholds = Thresholds{corev1.ResourceCPU: 20}, Thresholds{corev1.ResourceCPU: 50}
			},
			want: nil,
		},
		"none while paused": {
			nodes: []Node{node("hot", pod("a", 1100), pod("b", 6900)), loaded("cold", 10)},
			args:  func(a *Args) { a.Paused = new(true) },
			want:  nil,
		},
		"those that a selector matches": {
			nodes: []Node{node("hot", pod("a", 1100), pod("b", 1200, func(p *builtPod) { p.Labels = map[string]string{"movable": "yes"} }), pod("c", 6000)), loaded("cold", 10)},
			args: func(a *Args) {
				a.PodSelectors = []podselection.Selector{{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"movable": "yes"}}}}
			},
			want: []string{"b: hot -> cold"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			changes := []func(*Args){}
			if tc.args != nil {
				changes = append(changes, tc.args)
			}
			in := Input{Policy: policy(t, changes...), Now: moment, Nodes: tc.nodes}
			trace := &Trace{}
			verdict := Decide(in, trace)
			if diff := cmp.Diff(tc.want, names(verdict.Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s\nskipped: %v\n%s", diff, trace.Skipped, trace.Message(verdict))
			}
		})
	}
}

func TestTheReasonHasTheNumbers(t *testing.T) {
	in := Input{Policy: policy(t, func(a *Args) { a.HighThresholds[corev1.ResourceMemory] = 80 }), Now: moment, Nodes: []Node{
		node("hot", pod("a", 1100, using(90)), pod("b", 6900)), loaded("cold", 10),
	}}
	trace := &Trace{}
	verdict := Decide(in, trace)
	if len(verdict.Victims) != 0 {
		t.Fatalf("victims %v, want none: the pod would fill the memory of the other node", names(verdict.Victims))
	}
	in.Nodes[0] = node("hot", pod("a", 1100, using(30)), pod("b", 6900, using(50)))
	verdict = Decide(in, trace)
	if len(verdict.Victims) != 1 {
		t.Fatalf("victims %v, want one; %v", names(verdict.Victims), trace.Skipped)
	}
	if got, want := verdict.Victims[0].Reason, "node is overutilized, node cpu usage(85.00%)>threshold(75.00%), node memory usage(85.00%)>threshold(80.00%)"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	if got, want := trace.Message(verdict), "1 pod(s) leave; node pool __default_node_pool__: 1 node(s) overutilized, 1 underutilized"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if terms := trace.Operands(verdict); len(terms) == 0 || terms[0].Name != "excess" || terms[0].Value != 1000 {
		t.Errorf("operands %+v, want an excess of 1000 milliCPU first", terms)
	}
}

func TestWhatStopsAPass(t *testing.T) {
	tests := map[string]struct {
		args  func(*Args)
		nodes []Node
		want  string
	}{
		"nobody can take pods":               {nodes: []Node{loaded("a", 90), loaded("b", 60)}, want: "no node is underutilized"},
		"everybody could":                    {nodes: []Node{loaded("a", 10), loaded("b", 20)}, want: "all nodes are underutilized"},
		"nobody needs it":                    {nodes: []Node{loaded("a", 10), loaded("b", 60)}, want: "no node is overutilized"},
		"too few nodes can take pods":        {nodes: []Node{loaded("a", 10), loaded("b", 90)}, args: func(a *Args) { a.NumberOfNodes = new(int32(1)) }, want: "the number of underutilized nodes is not above numberOfNodes"},
		"the first overutilized pass of six": {nodes: []Node{loaded("a", 10), loaded("b", 90)}, args: func(a *Args) { a.AnomalyCondition = nil }, want: "no overutilized node is anomalous yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var changes []func(*Args)
			if tc.args != nil {
				changes = append(changes, tc.args)
			}
			verdict := Decide(Input{Policy: policy(t, changes...), Now: moment, Nodes: tc.nodes}, nil)
			if len(verdict.Parts) != 1 || verdict.Parts[0].Stop != tc.want || len(verdict.Victims) > 0 {
				t.Errorf("verdict %+v, want it to stop because %q", verdict.Parts, tc.want)
			}
		})
	}
}

// TestUnusableMeasurementsDecideNothing: neither as a node that pods leave, nor as one that they go to.
func TestUnusableMeasurementsDecideNothing(t *testing.T) {
	tests := map[string]struct {
		change func(*Node)
		want   string
	}{
		"missing":         {func(n *Node) { n.Metric = nil }, "there is no NodeMetric"},
		"never reported":  {func(n *Node) { n.Metric.UpdateTime = time.Time{} }, "its NodeMetric was never reported"},
		"expired":         {func(n *Node) { n.Metric.UpdateTime = moment.Add(-3 * time.Minute) }, "its NodeMetric is 3m0s old, expired after 3m0s"},
		"of the year 2":   {func(n *Node) { n.Metric.UpdateTime = time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC) }, "its NodeMetric is 2025y old, expired after 3m0s"},
		"from the future": {func(n *Node) { n.Metric.UpdateTime = moment.Add(2 * time.Minute) }, "its NodeMetric is 2m0s ahead of the clock"},
		"without usage":   {func(n *Node) { n.Metric.HasUsage = false }, "its NodeMetric reports no usage"},
		"of nothing": {func(n *Node) {
			n.Metric.System = nil
			n.Metric.Pods = nil
		}, "its NodeMetric reports no cpu usage"},
		"negative":              {func(n *Node) { n.Metric.Pods[0].Usage = usage(-1, 0) }, "its NodeMetric has a negative podUsage of cpu for pod default/"},
		"huge":                  {func(n *Node) { n.Metric.Pods[0].Usage = usage(math.MaxInt64/1000, 0) }, "its NodeMetric has a podUsage of more than 10 times the node's cpu for pod default/"},
		"of a node without cpu": {func(n *Node) { delete(n.Status.Allocatable, corev1.ResourceCPU) }, "the node has no allocatable cpu"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, percent := range []int{10, 90} {
				nodes := []Node{loaded("a", percent), loaded("b", 100-percent), loaded("c", 60)}
				if victims := Decide(Input{Policy: policy(t), Now: moment, Nodes: nodes}, nil).Victims; percent == 10 && len(victims) != 0 {
					t.Fatalf("victims %v: the pod of b is too large", names(victims))
				}
				tc.change(&nodes[0])
				verdict := Decide(Input{Policy: policy(t), Now: moment, Nodes: nodes}, nil)
				if got := verdict.Nodes[0]; got.Class != Unknown || len(got.Problem) < len(tc.want) || got.Problem[:len(tc.want)] != tc.want {
					t.Errorf("node %+v, want it unknown: %s", got, tc.want)
				}
				if _, counted := verdict.History.Nodes["a"]; counted || len(verdict.Victims) != 0 {
					t.Errorf("victims %v, history %v", names(verdict.Victims), verdict.History)
				}
			}
		})
	}
}

func TestNodesAreClassified(t *testing.T) {
	prod := func(a *Args) {
		a.ProdLowThresholds, a.ProdHighThresholds = Thresholds{corev1.ResourceCPU: 20}, Thresholds{corev1.ResourceCPU: 50}
	}
	cordoned := loaded("cordoned", 10)
	cordoned.Spec.Unschedulable = true
	amplified := loaded("amplified", 60)
	amplified.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("20")
	amplified.Annotations = map[string]string{extension.AnnotationNodeRawAllocatable: `{"cpu":"10"}`}
	moved := loaded("moved", 60)
	moved.Pods = nil
	tests := map[string]struct {
		args func(*Args)
		node Node
		want Class
	}{
		"at the low threshold":          {node: loaded("a", 45), want: Low},
		"above it":                      {node: loaded("a", 46), want: Normal},
		"at the high threshold":         {node: loaded("a", 75), want: Normal},
		"above that":                    {node: loaded("a", 76), want: High},
		"cordoned":                      {node: cordoned, want: Normal},
		"compared with raw allocatable": {node: amplified, want: Normal},
		"without the usage of pods that have left": {node: moved, want: Low},
		"low by both":                           {args: prod, node: node("a", pod("p", 1000)), want: BothLow},
		"low, with prod between its thresholds": {args: prod, node: node("a", pod("p", 3000)), want: Low},
		"low, with too much prod":               {args: func(a *Args) { prod(a); a.ProdHighThresholds[corev1.ResourceCPU] = 30 }, node: node("a", pod("p", 3500)), want: ProdHigh},
		"between, with too much prod":           {args: prod, node: node("a", pod("p", 5500)), want: ProdHigh},
		"between, with little prod":             {args: prod, node: node("a", pod("p", 1000), pod("b", 4500, batch)), want: ProdLow},
		"high, whatever prod uses":              {args: prod, node: node("a", pod("p", 7500)), want: High},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var changes []func(*Args)
			if tc.args != nil {
				changes = append(changes, tc.args)
			}
			verdict := Decide(Input{Policy: policy(t, changes...), Now: moment, Nodes: []Node{tc.node}}, nil)
			if got := verdict.Nodes[0]; got.Class != tc.want || got.Problem != "" {
				t.Errorf("class %s (%s), want %s", got.Class, got.Problem, tc.want)
			}
		})
	}
}

func TestThresholdsCanBeDistancesFromTheMean(t *testing.T) {
	deviation := func(a *Args) {
		a.UseDeviationThresholds = new(true)
		a.LowThresholds, a.HighThresholds = Thresholds{corev1.ResourceCPU: 10}, Thresholds{corev1.ResourceCPU: 10}
	}
	stale := loaded("stale", 90)
	stale.Metric.UpdateTime = time.Time{}
	verdict := Decide(Input{Policy: policy(t, deviation), Now: moment, Nodes: []Node{loaded("a", 20), loaded("b", 40), loaded("c", 30), loaded("d", 50), stale}}, nil)
	want := map[string]Class{"a": Low, "b": Normal, "c": Normal, "d": High, "stale": Unknown}
	if diff := cmp.Diff(want, classes(verdict)); diff != "" {
		t.Errorf("classes around a mean of 35 %% (-want +got):\n%s", diff)
	}
}

func TestEachNodeBelongsToTheFirstPoolThatSelectsIt(t *testing.T) {
	pools := func(a *Args) {
		a.NodePools = []NodePool{{
			Name: "gold", NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "gold"}},
			PoolSettings: PoolSettings{LowThresholds: Thresholds{corev1.ResourceCPU: 20}, HighThresholds: Thresholds{corev1.ResourceCPU: 40}},
		}}
	}
	gold := func(n Node) Node { n.Labels["pool"] = "gold"; return n }
	verdict := Decide(Input{Policy: policy(t, pools), Now: moment, Nodes: []Node{
		gold(node("g1", pod("a", 500), pod("b", 3500))), gold(loaded("g2", 10)), loaded("n1", 50), loaded("n2", 90), loaded("n3", 5),
	}}, nil)
	want := []NodeVerdict{
		{Name: "g1", Pool: "gold", Class: High, Anomalous: true}, {Name: "g2", Pool: "gold", Class: Low},
		{Name: "n1", Pool: DefaultPool, Class: Normal}, {Name: "n2", Pool: DefaultPool, Class: High, Anomalous: true}, {Name: "n3", Pool: DefaultPool, Class: Low},
	}
	if diff := cmp.Diff(want, verdict.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a: g1 -> g2"}, names(verdict.Victims)); diff != "" {
		t.Errorf("victims stay in their pool (-want +got):\n%s", diff)
	}
}

// TestProdPodsStopLeavingWhenTheirNodeIsNormal: koordinator#2225.
func TestProdPodsStopLeavingWhenTheirNodeIsNormal(t *testing.T) {
	in := Input{Policy: policy(t, func(a *Args) {
		a.ProdLowThresholds, a.ProdHighThresholds = Thresholds{corev1.ResourceCPU: 20}, Thresholds{corev1.ResourceCPU: 40}
	}), Now: moment, Nodes: []Node{
		node("hot", pod("a", 1000), pod("b", 1000), pod("c", 1000), pod("d", 1000), pod("e", 1000), pod("batch", 500, batch)), loaded("cold", 10), loaded("cold2", 10),
	}}
	trace := &Trace{}
	verdict := Decide(in, trace)
	if diff := cmp.Diff([]string{"a: hot -> cold"}, names(verdict.Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s\n%v", diff, trace.Skipped)
	}
	if got, want := verdict.Victims[0].Reason, "node is overutilized, prod cpu usage(50.00%)>threshold(40.00%)"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

func TestProdUsesOnlyWhatTheOtherPartLeft(t *testing.T) {
	in := Input{Policy: policy(t, func(a *Args) {
		a.ProdLowThresholds, a.ProdHighThresholds = Thresholds{corev1.ResourceCPU: 20}, Thresholds{corev1.ResourceCPU: 60}
		a.NodeFit = new(false)
	}), Now: moment, Nodes: []Node{
		node("hot", pod("x", 5900, batch), pod("y", 6000, batch)), // 124 %: both leave
		node("prodhot", pod("a", 1000), pod("b", 6000)),
		loaded("cold", 10),
	}}
	verdict := Decide(in, nil)
	if diff := cmp.Diff([]string{"x: hot -> "}, names(verdict.Victims)); diff != "" {
		t.Errorf("cold has 6500 milliCPU, of which x takes 5900; then prod has 600 left (-want +got):\n%s", diff)
	}
}

func TestRefusedVictimsAreReplaced(t *testing.T) {
	in := Input{Policy: policy(t), Now: moment, Nodes: []Node{
		node("hot", pod("a", 1000), pod("b", 1100), pod("c", 6600)), node("warm", pod("d", 1000), pod("e", 6000)), loaded("cold", 10), loaded("cold2", 11),
	}}
	in.Nodes[1].Metric.System = usage(1000, 5)
	trace := &Trace{}
	round := Begin(in, trace)
	var got []string
	for victim, any := round.Next(); any; victim, any = round.Next() {
		got = append(got, victim.Pod.Name)
		switch victim.Pod.Name {
		case "b":
			round.Refused("a PodDisruptionBudget forbids it")
		case "a":
			round.Evicted()
		default:
			round.LeaveNode("the limit of the node is reached")
		}
	}
	if diff := cmp.Diff([]string{"b", "a", "d"}, got); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a: hot -> cold"}, names(round.Verdict().Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	want := []Skipped{
		{"hot", "default", "c", "it fits on no underutilized node"}, {"hot", "default", "b", "a PodDisruptionBudget forbids it"},
		{"warm", "default", "d", "the limit of the node is reached"},
	}
	if diff := cmp.Diff(want, trace.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if warm, _ := trace.Node("warm"); warm.Ended != "the limit of the node is reached" {
		t.Errorf("pods stopped leaving warm because %q", warm.Ended)
	}
}

func TestProtectedPodsStay(t *testing.T) {
	in := Input{Policy: policy(t), Now: moment, Protected: map[types.UID]string{"a": "it is protected"}, Nodes: []Node{
		node("hot", pod("a", 2000), pod("b", 2100), pod("c", 5000)), loaded("cold", 10),
	}}
	trace := &Trace{}
	if diff := cmp.Diff([]string{"b: hot -> cold"}, names(Decide(in, trace).Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Skipped{{"hot", "default", "a", "it is protected"}}, trace.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}
