package thirdparty_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

func job(id string, cores, gibs int64, ran time.Duration) thirdparty.Work {
	return thirdparty.Work{ID: id, Held: of(cores, gibs), All: of(cores, gibs), Ran: ran}
}

func ids(works []thirdparty.Work) (out []string) {
	for _, work := range works {
		out = append(out, work.ID)
	}
	return out
}

func TestVictims(t *testing.T) {
	wide := job("wide", 2, 4, time.Minute)
	wide.All = of(64, 128)
	tests := map[string]struct {
		works []thirdparty.Work
		over  thirdparty.Amount
		want  []string
	}{
		"nothing is over": {works: []thirdparty.Work{job("a", 4, 8, time.Hour)}},
		"the one that has done least": {
			works: []thirdparty.Work{job("old", 2, 4, time.Hour), job("young", 2, 4, time.Minute)}, over: of(1, 0), want: []string{"young"},
		},
		"several small ones that have done less than a large one": {
			works: []thirdparty.Work{job("large", 8, 8, time.Hour), job("a", 1, 1, time.Minute), job("b", 1, 1, 2*time.Minute)}, over: of(2, 0), want: []string{"a", "b"},
		},
		"small ones that a large one makes superfluous are spared": {
			works: []thirdparty.Work{job("small", 1, 1, time.Minute), job("large", 8, 8, time.Hour)}, over: of(8, 0), want: []string{"large"},
		},
		"one that runs on many nodes loses more": {
			works: []thirdparty.Work{wide, job("single", 2, 4, 10*time.Minute)}, over: of(1, 1), want: []string{"single"},
		},
		"cpu alone does not help where memory is missing": {
			works: []thirdparty.Work{job("cpu", 4, 0, time.Second), job("memory", 1, 8, time.Hour)}, over: of(0, 4), want: []string{"memory"},
		},
		"all of them where they are too few": {
			works: []thirdparty.Work{job("a", 1, 1, time.Hour), job("b", 1, 1, time.Minute)}, over: of(20, 1), want: []string{"b", "a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ids(thirdparty.Victims(test.works, test.over))); diff != "" {
				t.Errorf("Victims() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVictimsAreEnoughAndNeeded: they free what is over wherever all works would, and without any of them it would not be.
func TestVictimsAreEnoughAndNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var works []thirdparty.Work
		var all thirdparty.Amount
		for i := range rapid.IntRange(0, 12).Draw(t, "works") {
			one := job(string(rune('a'+i)), rapid.Int64Range(0, 8).Draw(t, "cores"), rapid.Int64Range(0, 8).Draw(t, "gibs"),
				time.Duration(rapid.Int64Range(-1, 1000).Draw(t, "ran"))*time.Second)
			works, all = append(works, one), all.Add(one.Held)
		}
		over := of(rapid.Int64Range(0, 40).Draw(t, "overCores"), rapid.Int64Range(0, 40).Draw(t, "overGiBs"))
		victims := thirdparty.Victims(works, over)
		freed := sumOf(victims, -1)
		if enough := fits(over, freed); enough != fits(over, all) {
			t.Errorf("Victims(%+v) = %v frees %+v of %+v", over, ids(victims), freed, all)
		}
		for i := range victims {
			if fits(over, freed) && fits(over, sumOf(victims, i)) {
				t.Errorf("Victims(%+v) = %v, and %s is not needed", over, ids(victims), victims[i].ID)
			}
		}
	})
}

// sumOf is what works have, without the one at an index.
func sumOf(works []thirdparty.Work, without int) (total thirdparty.Amount) {
	for i, work := range works {
		if i != without {
			total = total.Add(work.Held)
		}
	}
	return total
}
