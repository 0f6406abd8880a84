package networktopology

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	must   = extension.NetworkTopologyGatherStrategyMustGather
	prefer = extension.NetworkTopologyGatherStrategyPreferGather
)

func topology() *schedulingv1alpha1.ClusterNetworkTopology {
	object := &schedulingv1alpha1.ClusterNetworkTopology{}
	object.Spec.NetworkTopologySpec = []schedulingv1alpha1.NetworkTopologySpec{
		{TopologyLayer: "rack", ParentTopologyLayer: "spine", LabelKey: []string{"rack", "old-rack"}},
		{TopologyLayer: "spine", ParentTopologyLayer: schedulingv1alpha1.ClusterTopologyLayer, LabelKey: []string{"spine"}},
		{TopologyLayer: schedulingv1alpha1.NodeTopologyLayer, ParentTopologyLayer: "rack"},
	}
	return object
}

func layers(t testing.TB) Layers {
	t.Helper()
	found, err := LayersOf(topology())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func node(name, spine, rack string, slots int) Node {
	return Node{Name: name, Labels: map[string]string{"spine": spine, "rack": rack}, Slots: slots}
}

func rule(layer string, strategy extension.NetworkTopologyGatherStrategy, multiple int) extension.NetworkTopologyGatherRule {
	return extension.NetworkTopologyGatherRule{Layer: schedulingv1alpha1.TopologyLayer(layer), Strategy: strategy, PodCountMultiple: multiple}
}

func withMembers(node Node, members int) Node {
	node.Members = members
	return node
}

func TestLayersOf(t *testing.T) {
	got := layers(t)
	want := Layers{{Name: "ClusterTopologyLayer"}, {Name: "spine", Labels: []string{"spine"}}, {Name: "rack", Labels: []string{"rack", "old-rack"}}, {Name: "NodeTopologyLayer"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, specs := range map[string][]schedulingv1alpha1.NetworkTopologySpec{
		"two below one":     {{TopologyLayer: "a"}, {TopologyLayer: "b"}},
		"a cycle":           {{TopologyLayer: "a", ParentTopologyLayer: "b"}, {TopologyLayer: "b", ParentTopologyLayer: "a"}},
		"an unknown parent": {{TopologyLayer: "a", ParentTopologyLayer: "gone"}},
	} {
		object := topology()
		object.Spec.NetworkTopologySpec = specs
		if _, err := LayersOf(object); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if got, err := LayersOf(nil); err != nil || len(got) != 2 {
		t.Errorf("without a topology: %v, %v", got, err)
	}
}

func TestPlace(t *testing.T) {
	small := []Node{node("a1", "s1", "r1", 2), node("a2", "s1", "r1", 2), node("b1", "s1", "r2", 3), node("b2", "s1", "r2", 3), node("c1", "s2", "r3", 9)}
	tests := map[string]struct {
		nodes          []Node
		rules          []extension.NetworkTopologyGatherRule
		wanted, needed int
		wantDomain     string
		wantMembers    map[string]int
		wantCode       finding.Code
	}{
		"the rack that is filled best": {small, rulesOf(rule("rack", must, 0)), 4, 4, "s1/r1", map[string]int{"a1": 2, "a2": 2}, ""},
		"a larger rack":                {small, rulesOf(rule("rack", must, 0)), 6, 6, "s1/r2", map[string]int{"b1": 3, "b2": 3}, ""},
		"no rack is large enough":      {small, rulesOf(rule("rack", must, 0)), 10, 10, "", nil, finding.GangTopologyUnsatisfied},
		"a spine, when racks are only preferred": {
			small, rulesOf(rule("rack", prefer, 0), rule("spine", must, 0)), 10, 10, "s1", map[string]int{"a1": 2, "a2": 2, "b1": 3, "b2": 3}, "",
		},
		"the deepest layer that has room":             {small, rulesOf(rule("rack", prefer, 0), rule("spine", must, 0)), 5, 5, "s1/r2", map[string]int{"b1": 3, "b2": 2}, ""},
		"the cluster, when nothing must be":           {small, rulesOf(rule("rack", prefer, 0)), 15, 15, "cluster", map[string]int{"a1": 2, "a2": 2, "b1": 3, "b2": 3, "c1": 5}, ""},
		"fewer, when fewer are enough":                {small, rulesOf(rule("rack", must, 0)), 12, 8, "s2/r3", map[string]int{"c1": 9}, ""},
		"one node, when that is preferred":            {small, rulesOf(rule("rack", must, 0), rule("NodeTopologyLayer", prefer, 2)), 4, 4, "s2/r3/c1", map[string]int{"c1": 4}, ""},
		"a multiple on each node":                     {[]Node{node("a1", "s1", "r1", 3), node("a2", "s1", "r1", 3)}, rulesOf(rule("rack", must, 0), rule("NodeTopologyLayer", prefer, 2)), 4, 4, "s1/r1", map[string]int{"a1": 2, "a2": 2}, ""},
		"slots that no multiple uses do not count":    {[]Node{node("a1", "s1", "r1", 3), node("a2", "s1", "r1", 3)}, rulesOf(rule("rack", must, 0), rule("NodeTopologyLayer", prefer, 2)), 6, 6, "", nil, finding.GangTopologyUnsatisfied},
		"a number that is no multiple is rounded":     {small, rulesOf(rule("rack", must, 4)), 7, 4, "s1/r1", map[string]int{"a1": 2, "a2": 2}, ""},
		"a number that may not be rounded":            {small, rulesOf(rule("rack", must, 4)), 7, 7, "", nil, finding.GangTopologyUnsatisfied},
		"a layer that does not exist":                 {small, rulesOf(rule("hall", must, 0)), 1, 1, "", nil, finding.GangTopologyInvalid},
		"a strategy that does not exist":              {small, rulesOf(rule("rack", "Maybe", 0)), 1, 1, "", nil, finding.GangTopologyInvalid},
		"members that run keep the others with them":  {[]Node{withMembers(node("a", "s", "r1", 2), 1), node("b", "s", "r2", 2)}, rulesOf(rule("rack", must, 0)), 2, 2, "s/r1", map[string]int{"a": 2}, ""},
		"members that run are where there is no room": {[]Node{withMembers(node("a", "s", "r1", 1), 1), node("b", "s", "r2", 2)}, rulesOf(rule("rack", must, 0)), 2, 2, "", nil, finding.GangTopologyUnsatisfied},
		"members that run draw others":                {[]Node{withMembers(node("a", "s", "r1", 9), 1), node("b", "s", "r2", 2)}, rulesOf(rule("rack", prefer, 0)), 2, 2, "s/r1", map[string]int{"a": 2}, ""},
		"members that run complete a multiple":        {[]Node{withMembers(node("a", "s", "r1", 9), 1), node("b", "s", "r2", 9)}, rulesOf(rule("rack", must, 4)), 3, 3, "s/r1", map[string]int{"a": 3}, ""},
		"nodes without labels are no part of it":      {[]Node{{Name: "x", Slots: 99}, node("b", "s", "r", 2)}, rulesOf(rule("rack", must, 0)), 2, 2, "s/r", map[string]int{"b": 2}, ""},
		"racks of one name in two spines are two":     {[]Node{node("a", "s1", "r", 1), node("b", "s2", "r", 1)}, rulesOf(rule("rack", must, 0)), 2, 2, "", nil, finding.GangTopologyUnsatisfied},
		"another label when the first is absent":      {[]Node{{Name: "x", Labels: map[string]string{"spine": "s", "old-rack": "r"}, Slots: 2}}, rulesOf(rule("rack", must, 0)), 2, 2, "s/r", map[string]int{"x": 2}, ""},
		"the better score between racks that are alike": {
			[]Node{{Name: "x", Labels: map[string]string{"spine": "s", "rack": "r1"}, Slots: 2, Score: 1}, {Name: "y", Labels: map[string]string{"spine": "s", "rack": "r2"}, Slots: 2, Score: 9}},
			rulesOf(rule("rack", must, 0)), 2, 2, "s/r2", map[string]int{"y": 2}, "",
		},
	}
	for name, test := range tests {
		trace := &Trace{}
		plan := Place(Input{Layers: layers(t), Rules: test.rules, Nodes: test.nodes, Wanted: test.wanted, Needed: test.needed}, trace)
		var members map[string]int
		for _, node := range plan.Members {
			if members == nil {
				members = map[string]int{}
			}
			members[node]++
		}
		if diff := cmp.Diff(test.wantMembers, members); diff != "" || plan.Domain != test.wantDomain || plan.Code != test.wantCode || (plan.Reason == "") != plan.Found() || CodeOf(plan.Reason) != plan.Code {
			t.Errorf("%s: domain %q, want %q; code %q %q (-want +got):\n%s", name, plan.Domain, test.wantDomain, plan.Code, plan.Reason, diff)
		}
		if plan.Code != finding.GangTopologyInvalid && len(trace.Domains) == 0 {
			t.Errorf("%s: nothing is traced", name)
		}
	}
}

func rulesOf(rules ...extension.NetworkTopologyGatherRule) []extension.NetworkTopologyGatherRule {
	return rules
}

// TestPlansKeepTheRules compares with what can be said without a search: with a multiple for racks only, a rack takes a number of
// members if and only if it has the slots and the number is a multiple.
func TestPlansKeepTheRules(t *testing.T) {
	all := layers(t)
	rapid.Check(t, func(t *rapid.T) {
		var nodes []Node
		slots, room := map[string]int{}, map[string]int{}
		for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
			spine, rack := fmt.Sprintf("s%d", rapid.IntRange(0, 1).Draw(t, "spine")), fmt.Sprintf("r%d", rapid.IntRange(0, 2).Draw(t, "rack"))
			made := node(fmt.Sprintf("n%d", i), spine, rack, rapid.IntRange(0, 4).Draw(t, "slots"))
			nodes = append(nodes, made)
			slots[made.Name] = made.Slots
			room[spine+"/"+rack] += made.Slots
		}
		multiple, wanted := rapid.IntRange(0, 3).Draw(t, "multiple"), rapid.IntRange(1, 8).Draw(t, "wanted")
		plan := Place(Input{Layers: all, Rules: rulesOf(rule("rack", must, multiple)), Nodes: nodes, Wanted: wanted, Needed: wanted}, nil)
		possible := false
		for _, has := range room {
			possible = possible || has >= wanted && (multiple < 2 || wanted%multiple == 0)
		}
		if plan.Found() != possible {
			t.Fatalf("found %v, possible %v", plan.Found(), possible)
		}
		if !possible {
			return
		}
		used := map[string]int{}
		for _, name := range plan.Members {
			used[name]++
		}
		for name, count := range used {
			if count > slots[name] || !slices.Contains(plan.Nodes, name) {
				t.Fatalf("%s gets %d of %d", name, count, slots[name])
			}
			for _, made := range nodes {
				if made.Name == name && made.Labels["spine"]+"/"+made.Labels["rack"] != plan.Domain {
					t.Fatalf("%s is not in %s", name, plan.Domain)
				}
			}
		}
		smallest := slices.Min(slices.Collect(func(yield func(int) bool) {
			for has := range maps.Values(room) {
				if has >= wanted && !yield(has) {
					return
				}
			}
		}))
		if multiple < 2 && room[plan.Domain] != smallest {
			t.Fatalf("%s with %d slots is chosen, one has %d", plan.Domain, room[plan.Domain], smallest)
		}
		if len(plan.Members) != wanted || strings.Count(plan.Domain, "/") != 1 {
			t.Fatalf("plan %+v", plan)
		}
	})
}

func FuzzPlace(f *testing.F) {
	f.Add("rack", "MustGather", 2, 4, 3)
	f.Add("", "", -1, 0, -3)
	f.Fuzz(func(t *testing.T, layer, strategy string, multiple, wanted, slots int) {
		wanted = min(wanted, 1000)
		nodes := []Node{node("a", "s", "r", min(slots, 1000)), node("b", "s", "r/2", 3)}
		plan := Place(Input{Layers: layers(t), Rules: rulesOf(rule(layer, extension.NetworkTopologyGatherStrategy(strategy), multiple)), Nodes: nodes, Wanted: wanted, Needed: 1}, nil)
		if len(plan.Members) > max(wanted, 0) {
			t.Errorf("%d members of %d", len(plan.Members), wanted)
		}
	})
}

func BenchmarkPlace(b *testing.B) {
	var nodes []Node
	for i := range 5000 {
		nodes = append(nodes, node(fmt.Sprintf("n%d", i), fmt.Sprintf("s%d", i/500), fmt.Sprintf("r%d", i/20), i%9))
	}
	all := layers(b)
	b.ReportAllocs()
	for b.Loop() {
		Place(Input{Layers: all, Rules: rulesOf(rule("rack", prefer, 0), rule("spine", must, 8)), Nodes: nodes, Wanted: 512, Needed: 512}, nil)
	}
}
