package gang

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slots is a cluster of nodes with places for pods of one size.
type slots struct {
	free       map[string]int
	order      []string
	candidates []Candidate
	removed    map[int]bool
	members    int
	needed     int
	placed     []string
}

func newSlots(members, needed int, candidates []Candidate, free ...int) *slots {
	s := &slots{free: map[string]int{}, candidates: candidates, removed: map[int]bool{}, members: members, needed: needed}
	for i, count := range free {
		name := fmt.Sprintf("n%d", i)
		s.free[name], s.order = count, append(s.order, name)
	}
	return s
}

func (s *slots) Remove(i int) error {
	if s.removed[i] {
		return fmt.Errorf("candidate %d is removed twice", i)
	}
	s.removed[i] = true
	s.free[s.candidates[i].Node]++
	return nil
}

func (s *slots) Return(i int) error {
	if !s.removed[i] {
		return fmt.Errorf("candidate %d is there", i)
	}
	delete(s.removed, i)
	s.free[s.candidates[i].Node]--
	return nil
}

func (s *slots) Place() ([]string, bool) {
	s.placed = make([]string, s.members)
	count := 0
	for i := range s.placed {
		for _, node := range s.order {
			if s.free[node] > 0 {
				s.free[node]--
				s.placed[i] = node
				count++
				break
			}
		}
	}
	return s.placed, count >= s.needed
}

func (s *slots) Holds(node string) bool { return s.free[node] >= 0 }

func TestPreempt(t *testing.T) {
	low := Candidate{Name: "low", Node: "n0", Priority: 1}
	high := Candidate{Name: "high", Node: "n0", Priority: 5}
	budgeted := Candidate{Name: "budgeted", Node: "n0", Priority: 1, Budgeted: true}
	far := Candidate{Name: "far", Node: "n1", Priority: 1}
	begun := Candidate{Name: "begun", Node: "n0", Priority: 1}
	nearlyDone := Candidate{Name: "nearly-done", Node: "n0", Priority: 1, Started: 100, Done: 3}
	tests := map[string]struct {
		members, needed int
		candidates      []Candidate
		free            []int
		want            Plan
		wantFound       bool
	}{
		"the least important goes":                {2, 2, []Candidate{high, low}, []int{1}, Plan{Nodes: []string{"n0", "n0"}, Victims: []int{1}}, true},
		"of equals the one that loses the least":  {2, 2, []Candidate{begun, nearlyDone}, []int{1}, Plan{Nodes: []string{"n0", "n0"}, Victims: []int{0}}, true},
		"whatever a less important one loses":     {2, 2, []Candidate{high, nearlyDone}, []int{1}, Plan{Nodes: []string{"n0", "n0"}, Victims: []int{1}}, true},
		"one with a budget stays if it can":       {2, 2, []Candidate{budgeted, high}, []int{1}, Plan{Nodes: []string{"n0", "n0"}, Victims: []int{1}}, true},
		"one with a budget goes if it must":       {2, 2, []Candidate{budgeted, high}, []int{0}, Plan{Nodes: []string{"n0", "n0"}, Victims: []int{1, 0}, Budgeted: 1}, true},
		"nobody goes in vain":                     {4, 4, []Candidate{low, high}, []int{1}, Plan{}, false},
		"nobody goes from a node that is unused":  {1, 1, []Candidate{low, far}, []int{0, 0}, Plan{Nodes: []string{"n0"}, Victims: []int{0}}, true},
		"nobody has to go":                        {1, 1, []Candidate{low}, []int{1}, Plan{Nodes: []string{"n0"}}, false},
		"nobody may go":                           {1, 1, nil, []int{0}, Plan{}, false},
		"members beyond the minimum find no node": {3, 2, []Candidate{low}, []int{1}, Plan{Nodes: []string{"n0", "n0", ""}, Victims: []int{0}}, true},
	}
	for name, test := range tests {
		plan, found, err := Preempt(test.candidates, newSlots(test.members, test.needed, test.candidates, test.free...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, plan); diff != "" || found != test.wantFound {
			t.Errorf("%s: found %v, want %v (-want +got):\n%s", name, found, test.wantFound, diff)
		}
	}
}

// TestNoVictimCouldStay compares with every smaller set of victims for the same placement.
func TestNoVictimCouldStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var candidates []Candidate
		for i := range rapid.IntRange(1, 6).Draw(t, "candidates") {
			candidates = append(candidates, Candidate{
				Name: fmt.Sprint(i), Node: fmt.Sprintf("n%d", rapid.IntRange(0, 2).Draw(t, "node")),
				Priority: int32(rapid.IntRange(0, 3).Draw(t, "priority")), Budgeted: rapid.Bool().Draw(t, "budgeted"),
			})
		}
		members := rapid.IntRange(1, 6).Draw(t, "members")
		trial := newSlots(members, members, candidates, rapid.IntRange(0, 2).Draw(t, "free"), rapid.IntRange(0, 2).Draw(t, "free"), rapid.IntRange(0, 2).Draw(t, "free"))
		plan, found, err := Preempt(candidates, trial)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return
		}
		for node, free := range trial.free {
			if free < 0 {
				t.Fatalf("%s is overcommitted by %d", node, -free)
			}
			evicted := slices.ContainsFunc(plan.Victims, func(i int) bool { return candidates[i].Node == node })
			if evicted && (free > 0 || !slices.Contains(plan.Nodes, node)) {
				t.Fatalf("a victim on %s could have stayed", node)
			}
		}
	})
}
