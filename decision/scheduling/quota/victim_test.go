package quota

import (
	order "cmp"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// seats is a Trial in which the pod needs a number of units to be free.
type seats struct {
	candidates []Candidate
	away       map[int]bool
	need       int64
	broken     error
}

func (s *seats) Remove(i int) error { s.away[i] = true; return s.broken }
func (s *seats) Return(i int) error { delete(s.away, i); return s.broken }
func (s *seats) Fits() bool         { return s.free() >= s.need }
func (s *seats) free() (free int64) {
	for i := range s.away {
		value, _ := s.candidates[i].Holding.Request.Get("gpu")
		free += value
	}
	return free
}

func candidate(name string, priority int32, units int) Candidate {
	return Candidate{Name: name, Priority: priority, Holding: Holding{Request: amounts("gpu", units), Assigned: true}}
}

func TestVictims(t *testing.T) {
	budgeted, young := candidate("budgeted", 1, 2), candidate("young", 1, 2)
	budgeted.Budgeted, young.Started = true, 100
	begun, nearlyDone := candidate("begun", 1, 2), candidate("nearly-done", 1, 2)
	nearlyDone.Done, nearlyDone.Started = 3, 100
	tests := []struct {
		name         string
		candidates   []Candidate
		need         int64
		want         []string
		wantBudgeted int
	}{
		{name: "the least important goes", candidates: []Candidate{candidate("high", 5, 2), candidate("low", 1, 2)}, need: 2, want: []string{"low"}},
		{name: "of equals the youngest goes", candidates: []Candidate{young, candidate("old", 1, 2)}, need: 2, want: []string{"young"}},
		{name: "of equals the job goes that loses the least of its work, also if it is older", candidates: []Candidate{begun, nearlyDone}, need: 2, want: []string{"begun"}},
		{name: "a lower priority goes whatever it loses", candidates: []Candidate{candidate("high", 5, 2), nearlyDone}, need: 2, want: []string{"nearly-done"}},
		{name: "a pod with a disruption budget stays where another can go", candidates: []Candidate{budgeted, candidate("high", 5, 2)}, need: 2, want: []string{"high"}},
		{name: "a budget does not protect where nothing else helps", candidates: []Candidate{budgeted}, need: 2, want: []string{"budgeted"}, wantBudgeted: 1},
		{name: "a small pod stays where the large one alone makes room", candidates: []Candidate{candidate("large", 1, 8), candidate("small", 2, 1)}, need: 8, want: []string{"large"}},
		{name: "victims are ordered by importance", candidates: []Candidate{candidate("low", 1, 1), candidate("high", 5, 1)}, need: 2, want: []string{"high", "low"}},
		{name: "nobody goes in vain", candidates: []Candidate{candidate("low", 1, 1)}, need: 2},
		{name: "without candidates there is no victim", need: 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			victims, budgeted, err := Victims(test.candidates, &seats{candidates: test.candidates, away: map[int]bool{}, need: test.need})
			var got []string
			for _, i := range victims {
				got = append(got, test.candidates[i].Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || budgeted != test.wantBudgeted || err != nil {
				t.Errorf("budgeted %d, error %v, victims (-want +got):\n%s", budgeted, err, diff)
			}
		})
	}
	broken := errors.New("broken")
	if _, _, err := Victims(make([]Candidate, 1), &seats{away: map[int]bool{}, broken: broken}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the trial", err)
	}
}

// TestOnlyPredictionsChangeTheOrder: without any it is that of Kubernetes, and with some a pod of a lower priority is never the more important one.
func TestOnlyPredictionsChangeTheOrder(t *testing.T) {
	drawn := rapid.Custom(func(t *rapid.T) Candidate {
		return Candidate{
			Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), Priority: rapid.Int32Range(0, 1).Draw(t, "priority"),
			Started: rapid.Int64Range(0, 1).Draw(t, "started"), Done: rapid.IntRange(0, 3).Draw(t, "done"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		got, plain := compareImportance(&a, &b), order.Or(order.Compare(b.Priority, a.Priority), order.Compare(a.Started, b.Started), order.Compare(a.Name, b.Name))
		if (a.Priority != b.Priority || a.Done == b.Done) && got != plain {
			t.Fatalf("order of %+v and %+v is %d, that of Kubernetes %d", a, b, got, plain)
		}
		if a.Priority == b.Priority && a.Done != b.Done && got != order.Compare(b.Done, a.Done) {
			t.Fatalf("order of %+v and %+v is %d, which is not by what they would lose", a, b, got)
		}
	})
}

func TestOnlyLessImportantPreemptiblePodsOfTheSameQuotaGiveWay(t *testing.T) {
	low, fixed := candidate("low", 1, 1), candidate("fixed", 1, 1)
	fixed.Holding.NonPreemptible = true
	for name, got := range map[string]bool{
		"the same priority": !Eligible(1, "a", &low, "a"), "another quota": !Eligible(2, "a", &low, "b"),
		"not preemptible": !Eligible(2, "a", &fixed, "a"), "less important": Eligible(2, "a", &low, "a"),
	} {
		if !got {
			t.Errorf("%s is judged wrongly", name)
		}
	}
}

func TestRevoke(t *testing.T) {
	fixed, pending, other := candidate("fixed", 0, 10), candidate("pending", 0, 10), candidate("other", 0, 0)
	fixed.Holding.NonPreemptible, pending.Holding.Assigned = true, false
	other.Holding.Request = amounts("cpu", 5)
	begun, nearlyDone := candidate("begun", 1, 2), candidate("nearly-done", 1, 2)
	nearlyDone.Done, nearlyDone.Started = 3, 100
	tests := []struct {
		name          string
		used, runtime Amounts
		pods          []Candidate
		want          []string
		wantRemaining Amounts
	}{
		{name: "a quota within its runtime keeps all", used: amounts("gpu", 10), runtime: amounts("gpu", 10), pods: []Candidate{candidate("a", 1, 10)}},
		{name: "the least important go first", used: amounts("gpu", 10), runtime: amounts("gpu", 5), pods: []Candidate{candidate("high", 9, 4), candidate("low", 1, 3), candidate("mid", 5, 3)}, want: []string{"low", "mid"}},
		{name: "of equals the job that loses the least of its work goes first", used: amounts("gpu", 4), runtime: amounts("gpu", 2), pods: []Candidate{begun, nearlyDone}, want: []string{"begun"}},
		{name: "who is not preemptible or not running stays", used: amounts("gpu", 30), runtime: amounts("gpu", 25), pods: []Candidate{fixed, pending, candidate("high", 9, 10)}, want: []string{"high"}},
		{name: "who uses nothing of what is exceeded stays", used: amounts("gpu", 10, "cpu", 5), runtime: amounts("gpu", 5, "cpu", 5), pods: []Candidate{other, candidate("a", 1, 10)}, want: []string{"a"}},
		{name: "a resource that the quota does not limit is not exceeded", used: amounts("gpu", 1, "cpu", 500), runtime: amounts("gpu", 5), pods: []Candidate{other}},
		{name: "a small pod stays after a large one had to go", used: amounts("gpu", 11), runtime: amounts("gpu", 5), pods: []Candidate{candidate("small", 1, 1), candidate("large", 2, 10)}, want: []string{"large"}},
		{name: "what cannot be evicted remains", used: amounts("gpu", 20), runtime: amounts("gpu", 5), pods: []Candidate{fixed, candidate("a", 1, 10)}, want: []string{"a"}, wantRemaining: amounts("gpu", 5)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plan := Revoke(test.used, test.runtime, test.pods)
			var got []string
			for _, step := range plan.Steps {
				got = append(got, test.pods[step.Candidate].Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("evictions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantRemaining, plan.Remaining, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("remaining (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRevokeEvictsNobodyTwiceAndNobodyInVain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []Candidate
		used := amounts("cpu", 0, "gpu", 0)
		for range rapid.IntRange(0, 12).Draw(t, "pods") {
			pod := Candidate{Priority: rapid.Int32Range(0, 3).Draw(t, "priority"), Holding: drawHolding(t)}
			pod.Holding.Assigned = true
			for i := range pod.Holding.Request {
				pod.Holding.Request[i].Value %= 1000
			}
			pods, used = append(pods, pod), used.Plus(pod.Holding.Request)
		}
		limit := Amounts{{"cpu", rapid.Int64Range(0, 1000).Draw(t, "cpu")}, {"gpu", rapid.Int64Range(0, 1000).Draw(t, "gpu")}}
		plan := Revoke(used, limit, pods)
		seen := map[int]bool{}
		left := Overused(used, limit)
		for _, step := range plan.Steps {
			if seen[step.Candidate] || pods[step.Candidate].Holding.NonPreemptible {
				t.Fatalf("pod %d must not be evicted", step.Candidate)
			}
			seen[step.Candidate] = true
			left = less(left, pods[step.Candidate].Holding.Request)
		}
		for i := range seen {
			if needless(left, pods[i].Holding.Request) {
				t.Fatalf("pod %d is evicted in vain", i)
			}
		}
		for i := range pods {
			if !seen[i] && !pods[i].Holding.NonPreemptible && relieves(left, pods[i].Holding.Request) {
				t.Fatalf("pod %d would relieve what remains", i)
			}
		}
	})
}
