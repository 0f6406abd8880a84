package rebalance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// scheduler is one that refuses pairs of a pod and a node, and more than so many pods on a node.
type scheduler struct {
	refused map[[2]int]string
	room    int
	reviews int
}

func (s *scheduler) review(proposals []Proposal) ([]Opinion, error) {
	s.reviews++
	opinions, arrived := make([]Opinion, len(proposals)), map[int]int{}
	for i, proposal := range proposals {
		opinions[i] = Opinion{Node: -1, Reasons: map[int]string{}}
		for _, target := range proposal.Targets {
			reason := s.refused[[2]int{proposal.Pod, target}]
			if reason == "" && s.room > 0 && arrived[target] >= s.room {
				reason = "node(s) were full"
			}
			if reason != "" {
				opinions[i].Reasons[target] = reason
				continue
			}
			opinions[i].Node = target
			arrived[target]++
			break
		}
	}
	return opinions, nil
}

func TestDecideReviewed(t *testing.T) {
	const taint = "node(s) had untolerated taint(s)"
	tests := map[string]struct {
		review     Reviewer
		wantTarget int // -1 for no move
		wantDetail string
		wantErr    bool
	}{
		"the scheduler agrees":               {review: (&scheduler{}).review, wantTarget: 1},
		"it refuses the best target":         {review: (&scheduler{refused: map[[2]int]string{{0, 1}: taint}}).review, wantTarget: 2},
		"it refuses all":                     {review: (&scheduler{refused: map[[2]int]string{{0, 1}: taint, {0, 2}: taint}}).review, wantTarget: -1, wantDetail: "2 " + taint},
		"it gives no reason":                 {review: func([]Proposal) ([]Opinion, error) { return []Opinion{{Node: -1}}, nil }, wantTarget: -1, wantDetail: "2 node(s) refused by koord-scheduler"},
		"the pod is of another scheduler":    {review: func([]Proposal) ([]Opinion, error) { return []Opinion{{Node: -1, Immovable: "another scheduler"}}, nil }, wantTarget: -1, wantDetail: "2 another scheduler"},
		"it cannot be asked":                 {review: func([]Proposal) ([]Opinion, error) { return nil, errors.New("no route") }, wantTarget: -1, wantDetail: "2 koord-scheduler cannot be asked: no route", wantErr: true},
		"it answers another question":        {review: func([]Proposal) ([]Opinion, error) { return nil, nil }, wantTarget: -1, wantDetail: "2 koord-scheduler cannot be asked: 0 opinions on 1 moves", wantErr: true},
		"it takes a node that was not asked": {review: func([]Proposal) ([]Opinion, error) { return []Opinion{{Node: 7}}, nil }, wantTarget: -1, wantDetail: "2 node(s) refused by koord-scheduler"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := overutilized(func(w *world) { w.node(32, 32) })
			var trace Trace
			plan, err := DecideReviewed(w.Input, test.review, &trace)
			if (err != nil) != test.wantErr {
				t.Errorf("error %v, want one: %t", err, test.wantErr)
			}
			target, detail := -1, ""
			if moves := plan.Moves(); len(moves) == 1 {
				target = moves[0].To
			}
			if len(trace.Skipped) > 0 {
				detail = trace.Skipped[0].Detail
			}
			if target != test.wantTarget || detail != test.wantDetail {
				t.Errorf("target %d, detail %q; want %d and %q", target, detail, test.wantTarget, test.wantDetail)
			}
		})
	}
}

// TestMovesOfAnUnfinishedReviewAreThoseThatWereConfirmed: a scheduler that agrees with the first move alone.
func TestMovesOfAnUnfinishedReviewAreThoseThatWereConfirmed(t *testing.T) {
	w := newWorld()
	for range 4 {
		hot := w.node(60, 30)
		w.pod(hot, 15, 5)
		w.pod(hot, 14, 5)
	}
	for range 30 {
		w.node(20, 20)
	}
	reviews := 0
	plan, err := DecideReviewed(w.Input, func(proposals []Proposal) ([]Opinion, error) {
		reviews++
		opinions := make([]Opinion, len(proposals))
		for i := range opinions {
			opinions[i].Node = -1
		}
		opinions[0].Node = proposals[0].Targets[0]
		return opinions, nil
	}, nil)
	if err != nil || reviews > maxReviews || len(plan.Moves()) != 1 {
		t.Errorf("%d moves after %d reviews, error %v; want the one that was confirmed", len(plan.Moves()), reviews, err)
	}
}

func TestReviewedMovesAreConfirmedAndAreThoseOfOnePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		asked := scheduler{refused: map[[2]int]string{}, room: rapid.IntRange(0, 2).Draw(t, "room")}
		for range rapid.IntRange(0, 30).Draw(t, "refused") {
			asked.refused[[2]int{rapid.IntRange(0, 60).Draw(t, "pod"), rapid.IntRange(0, 12).Draw(t, "node")}] = "node(s) refused"
		}
		plan, err := DecideReviewed(w.Input, asked.review, &Trace{})
		if err != nil || asked.reviews > maxReviews {
			t.Fatalf("%d reviews, error %v", asked.reviews, err)
		}
		if plan.After > plan.Before+1e-9 {
			t.Fatalf("the potential rises from %v to %v", plan.Before, plan.After)
		}
		proposals := plan.proposals()
		opinions, _ := asked.review(proposals)
		if agreed(proposals, opinions) != len(proposals) {
			t.Fatalf("moves %+v were not confirmed: %+v", proposals, opinions)
		}
	})
}

func TestAReviewWithoutObjectionsChangesNothing(t *testing.T) {
	w := skewed(200, 30, 0.1)
	asked := scheduler{}
	var plain, reviewed Trace
	want := Decide(w.Input, &plain)
	got, err := DecideReviewed(w.Input, asked.review, &reviewed)
	if err != nil || asked.reviews != 1 {
		t.Fatalf("%d reviews, error %v; want one for all %d moves", asked.reviews, err, len(want.Moves()))
	}
	if diff := cmp.Diff(want.Moves(), got.Moves()); diff != "" || len(want.Moves()) < 20 {
		t.Errorf("%d moves (-want +got):\n%s", len(want.Moves()), diff)
	}
	if plain.Message(want) != reviewed.Message(got) || strings.Contains(reviewed.Message(got), "refused") {
		t.Errorf("message %q, want %q", reviewed.Message(got), plain.Message(want))
	}
}

func TestProposalsFitInOneReview(t *testing.T) {
	w := overutilized(func(w *world) {
		for range 40 {
			w.node(30, 30)
		}
	})
	proposals := Decide(w.Input, nil).proposals()
	if len(proposals) != 1 || len(proposals[0].Targets) != 10 || slices.Contains(proposals[0].Targets, 0) {
		t.Errorf("proposals %+v, want one of 10 targets", proposals)
	}
}
