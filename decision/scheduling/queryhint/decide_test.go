package queryhint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// node uses so many percent of its memory.
func node(name string, percent int64, change ...func(*Node)) Node {
	out := Node{Name: name, Memory: Memory{Capacity: 1000, Used: percent * 10, Measured: now.Add(-time.Minute)}}
	for _, each := range change {
		each(&out)
	}
	return out
}

func runs(workers, caches int32) func(*Node) {
	return func(n *Node) { n.Workers, n.Caches = workers, caches }
}

func grows(percent int64) func(*Node) {
	return func(n *Node) { n.Growth = new(percent * 10) }
}

func measured(age time.Duration) func(*Node) {
	return func(n *Node) { n.Measured = now.Add(-age) }
}

func isClosed(n *Node)   { n.Closed = true }
func unmeasures(n *Node) { n.Memory = Memory{Capacity: 1000} }

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		role     Role
		nodes    []Node
		settings func(*Settings)
		want     Verdict
	}{
		"workers go where the fewest are": {
			role: Worker, nodes: []Node{node("two", 10, runs(2, 0)), node("none", 70), node("one", 10, runs(1, 0))},
			want: Verdict{Nodes: []string{"none", "one", "two"}},
		},
		"of nodes with equally many workers, the one on which a cache waits comes first": {
			role: Worker, nodes: []Node{node("a", 10), node("cached", 50, runs(0, 1))}, want: Verdict{Nodes: []string{"cached", "a"}},
		},
		"then the one that uses less memory": {
			role: Worker, nodes: []Node{node("a", 60), node("b", 20), node("c", 40)}, want: Verdict{Nodes: []string{"b", "c", "a"}},
		},
		"what is predicted counts as if it were used": {
			role: Worker, nodes: []Node{node("grows", 20, grows(50)), node("stays", 40, grows(0))}, want: Verdict{Nodes: []string{"stays", "grows"}},
		},
		"hot nodes are left out": {
			role: Worker, nodes: []Node{node("hot", 80), node("warm", 79)}, want: Verdict{Nodes: []string{"warm"}},
		},
		"nodes that become hot are left out": {
			role: Worker, nodes: []Node{node("grows", 50, grows(30)), node("warm", 50, grows(29))}, want: Verdict{Nodes: []string{"warm"}},
		},
		"nodes without a recent measurement are left out": {
			role: Worker, nodes: []Node{node("old", 10, measured(4*time.Minute)), node("ahead", 10, measured(-4*time.Minute)), node("none", 0, unmeasures), node("known", 70)},
			want: Verdict{Nodes: []string{"known"}},
		},
		"a hint is bounded": {
			role: Worker, nodes: []Node{node("a", 10), node("b", 30), node("c", 50)}, settings: func(s *Settings) { s.MaxNodes = 2 },
			want: Verdict{Nodes: []string{"a", "b"}},
		},
		"caches go where workers have none": {
			role: Cache, nodes: []Node{node("served", 10, runs(2, 2)), node("unserved", 70, runs(1, 0)), node("empty", 10)},
			want: Verdict{Nodes: []string{"unserved", "served"}},
		},
		"caches keep off hot nodes even where workers are": {
			role: Cache, nodes: []Node{node("hot", 90, runs(2, 0)), node("warm", 70, runs(1, 1))}, want: Verdict{Nodes: []string{"warm"}},
		},
		"caches without workers prefer nothing": {
			role: Cache, nodes: []Node{node("a", 10)},
			want: Verdict{Reason: "no worker of engine trino runs on a node whose memory is not hot"},
		},
		"all nodes are hot": {
			role: Worker, nodes: []Node{node("a", 90), node("b", 50, grows(40)), node("closed", 10, isClosed)},
			want: Verdict{Reason: "the memory of all 2 nodes that the pod may run on is hot, or predicted to become so", Code: finding.QueryHintHot},
		},
		"no node is measured": {
			role: Worker, nodes: []Node{node("a", 0, unmeasures), node("b", 10, measured(time.Hour))},
			want: Verdict{Reason: "the memory of all 2 nodes that the pod may run on is not known: there is no measurement of the last 3m0s", Code: finding.QueryHintUnmeasured},
		},
		"some are hot and of the others nothing is known": {
			role: Worker, nodes: []Node{node("a", 90), node("b", 0, unmeasures)},
			want: Verdict{Reason: "the memory of 1 of 2 nodes that the pod may run on is hot, or predicted to become so, and of the others it is not known", Code: finding.QueryHintHot},
		},
		"no node is open":    {role: Worker, nodes: []Node{node("a", 10, isClosed)}, want: Verdict{Reason: "the pod may run on no node"}},
		"there are no nodes": {role: Worker, want: Verdict{Reason: "the pod may run on no node"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Now: now, Settings: DefaultSettings(), Engine: "trino", Role: test.role, Seed: "x", Nodes: test.nodes}
			if test.settings != nil {
				test.settings(&in.Settings)
			}
			if test.want.Nodes == nil {
				test.want.Nodes = []string{}
			}
			if diff := cmp.Diff(test.want, Decide(in, nil)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHintSaysWhyEachNode(t *testing.T) {
	in := Input{Now: now, Settings: DefaultSettings(), Engine: "trino", Role: Worker, Seed: "x", Nodes: []Node{
		node("good", 20, grows(5), runs(1, 2)), node("hot", 91), node("grows", 50, grows(45)), node("old", 10, measured(time.Hour)), node("closed", 1, isClosed),
		node("hotter", 95),
	}}
	var trace Trace
	hint, err := trace.Hint(in, Decide(in, &trace))
	if err != nil {
		t.Fatal(err)
	}
	got, err := extension.GetQueryHint(hint)
	if err != nil {
		t.Fatal(err)
	}
	want := &extension.QueryHint{
		Writer: "koord-manager", ID: "x", Engine: "trino", Role: "worker", Time: metav1.NewTime(now.Local()),
		Nodes: []extension.QueryHintNode{{Name: "good", Workers: 1, Caches: 2, MemoryPercent: 20, PredictedPercent: new(int32(25))}},
		LeftOut: []extension.QueryHintLeftOut{
			{Reason: "memory is hot: 80% or more is used", Count: 2, Nodes: []string{"hot (91%)", "hotter (95%)"}},
			{Reason: "the pod may not run there", Count: 1, Nodes: []string{"closed"}},
			{Reason: "memory was last measured more than 3m0s ago", Count: 1, Nodes: []string{"old (1h0m0s ago)"}},
			{Reason: "memory is predicted to become hot: 80% or more within an hour", Count: 1, Nodes: []string{"grows (95%, now 50%)"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"good"}, hint.PreferredNodeNames); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestSeedsChooseAmongEqualNodes(t *testing.T) {
	firsts := map[string]int{}
	for seed := range 300 {
		in := Input{Now: now, Settings: DefaultSettings(), Role: Worker, Seed: fmt.Sprint(seed), Nodes: []Node{node("a", 41), node("b", 44), node("c", 49)}}
		firsts[Decide(in, nil).Nodes[0]]++
	}
	for _, name := range []string{"a", "b", "c"} {
		if firsts[name] < 60 {
			t.Errorf("%d of 300 hints prefer node %s, want about a third", firsts[name], name)
		}
	}
}

func TestReadingPodsAndNodes(t *testing.T) {
	from := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")}}}
	metric := &slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: now},
		NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}},
	}}
	if diff := cmp.Diff(Memory{Capacity: 4 << 30, Used: 1 << 30, Measured: now}, MemoryOf(from, metric)); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	for _, none := range []*slov1alpha1.NodeMetric{nil, {}} {
		if got := MemoryOf(from, none); !got.Measured.IsZero() || got.Capacity != 4<<30 {
			t.Errorf("memory without a measurement is %+v", got)
		}
	}
	pod := nodefit.NewPod(&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"pool": "sql"}}})
	if !Closed(pod, from) {
		t.Error("a node that the pod does not select is open")
	}
	from.Labels = map[string]string{"pool": "sql"}
	if Closed(pod, from) {
		t.Error("a node that the pod selects is closed")
	}
	from.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	if !Closed(pod, from) {
		t.Error("a tainted node is open")
	}
}

func TestRoleOf(t *testing.T) {
	tests := map[string]struct {
		labels     map[string]string
		wantEngine string
		wantRole   Role
	}{
		"a worker":                       {map[string]string{extension.LabelQueryWorker: "trino"}, "trino", Worker},
		"a cache":                        {map[string]string{extension.LabelQueryCache: "trino"}, "trino", Cache},
		"a worker that is a cache, too":  {map[string]string{extension.LabelQueryWorker: "a", extension.LabelQueryCache: "b"}, "a", Worker},
		"another pod":                    {},
		"a label without an engine name": {map[string]string{extension.LabelQueryWorker: ""}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			engine, role, ok := RoleOf(test.labels)
			if engine != test.wantEngine || role != test.wantRole || ok != (test.wantEngine != "") {
				t.Errorf("got %q %q %v", engine, role, ok)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	if err := DefaultSettings().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for want, change := range map[string]func(*Settings){
		"hot memory": func(s *Settings) { s.HotMemoryPercent = 101 },
		"nodes":      func(s *Settings) { s.MaxNodes = 0 },
		"counts":     func(s *Settings) { s.Fresh = 0 },
	} {
		settings := DefaultSettings()
		change(&settings)
		if err := settings.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
