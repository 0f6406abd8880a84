package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// reviewer is a leading koord-scheduler that takes the first target of each pod which it does not refuse, and keeps what it was asked.
type reviewer struct {
	// refuses are reasons by pod>node.
	refuses map[string]string
	// immovable are pods that it does not place, with the reason.
	immovable map[string]string
	edit      func(*diagnosticsv1alpha1.PlacementReviewStatus)
	note      *diagnosticsv1alpha1.Finding
	asked     []string
}

func (r *reviewer) review(question *diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding) {
	answer, asked := &diagnosticsv1alpha1.PlacementReviewStatus{Origin: diagnosticsv1alpha1.Origin{Leader: true}}, []string{}
	for _, pod := range question.Pods {
		asked = append(asked, pod.Name+">"+strings.Join(pod.Targets, ","))
		answer.Placements = append(answer.Placements, r.place(&pod))
	}
	r.asked = append(r.asked, strings.Join(asked, " "))
	if r.edit != nil {
		r.edit(answer)
	}
	return answer, r.note
}

func (r *reviewer) place(pod *diagnosticsv1alpha1.PlacementReviewPod) diagnosticsv1alpha1.PodPlacement {
	if why := r.immovable[pod.Name]; why != "" {
		return diagnosticsv1alpha1.PodPlacement{Verdict: diagnosticsv1alpha1.PlacementOtherScheduler, Summary: why}
	}
	out := diagnosticsv1alpha1.PodPlacement{Verdict: diagnosticsv1alpha1.PlacementNone}
	for _, target := range pod.Targets {
		why := r.refuses[pod.Name+">"+target]
		if why == "" {
			return diagnosticsv1alpha1.PodPlacement{Verdict: diagnosticsv1alpha1.PlacementFound, Node: target}
		}
		out.Groups = append(out.Groups, diagnosticsv1alpha1.RefusalGroup{Reason: why, Nodes: []diagnosticsv1alpha1.NodeRefusal{{Node: target}}})
	}
	return out
}

func TestMovesAreForecastThatTheSchedulerConfirms(t *testing.T) {
	const unasked = "; koord-scheduler, which confirms each move before LoadAwareRebalancing makes it, was not asked: it may refuse some"
	planned := []string{"1 hot-0 hot->a", "1 hot-1 hot->b"}
	tests := map[string]struct {
		scheduler reviewer
		args      string
		want      []string
		// wantStay is why hot-0 stays.
		wantStay       string
		wantIncomplete []string
		wantAsked      []string
	}{
		"it takes all targets": {want: planned, wantAsked: []string{"hot-0>a,b hot-1>b,a"}},
		"it refuses a target and takes another": {
			scheduler: reviewer{refuses: map[string]string{"hot-0>a": "Insufficient gpu"}}, want: []string{"1 hot-0 hot->b", "1 hot-1 hot->a"},
			wantAsked: []string{"hot-0>a,b hot-1>b,a", "hot-0>b hot-1>a,b"},
		},
		"it refuses a pod everywhere": {
			scheduler: reviewer{refuses: map[string]string{"hot-0>a": "Insufficient gpu", "hot-0>b": "node(s) had untolerated taint(s)"}}, want: []string{"1 hot-1 hot->a", "1 hot-2 hot->b"},
			wantStay: "NoTarget: 1 Insufficient gpu, 1 node(s) had untolerated taint(s)",
		},
		"a pod is another scheduler's": {
			scheduler: reviewer{immovable: map[string]string{"hot-0": `scheduler "x" is not a profile of koord-scheduler`}}, want: []string{"1 hot-1 hot->a", "1 hot-2 hot->b"},
			wantStay: `NoTarget: 2 scheduler "x" is not a profile of koord-scheduler`,
		},
		"it may not be asked": {
			scheduler: reviewer{note: &diagnosticsv1alpha1.Finding{Code: "KOORD0002", Message: "you do not have permission"}},
			want:      planned, wantIncomplete: []string{"you do not have permission" + unasked + " (KOORD0002)"},
		},
		"a standby answers": {
			scheduler: reviewer{edit: func(s *diagnosticsv1alpha1.PlacementReviewStatus) { s.Origin.Leader = false }},
			want:      planned, wantIncomplete: []string{"no leading koord-scheduler answered" + unasked},
		},
		"it answers for one pod": {
			scheduler: reviewer{edit: func(s *diagnosticsv1alpha1.PlacementReviewStatus) { s.Placements = s.Placements[:1] }},
			want:      planned, wantIncomplete: []string{"koord-scheduler answered for 1 pods, 2 were asked about" + unasked},
		},
		"it cannot evaluate everything": {
			scheduler: reviewer{edit: func(s *diagnosticsv1alpha1.PlacementReviewStatus) {
				s.Incomplete = []string{"extender x was not asked"}
			}},
			want: planned, wantIncomplete: []string{"extender x was not asked"},
		},
		"it need not confirm": {scheduler: reviewer{refuses: map[string]string{"hot-0>a": "Insufficient gpu"}}, args: "schedulerReview: Never", want: planned, wantAsked: []string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := (&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("a").node("b").spread()
			cluster.Review = tc.scheduler.review
			answer := cluster.forecast(t, 1, profile("LoadAwareRebalancing", tc.args))
			if diff := cmp.Diff(tc.want, movesOf(answer)); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
			var incomplete []string
			for _, line := range answer.Incomplete {
				if !strings.HasPrefix(line, "LoadAwareRebalancing also knows") {
					incomplete = append(incomplete, line)
				}
			}
			if diff := cmp.Diff(tc.wantIncomplete, incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
			for _, stay := range answer.Stays {
				if stay.Name == "hot-0" && stay.Reason != tc.wantStay {
					t.Errorf("hot-0 stays because of %q, want %q", stay.Reason, tc.wantStay)
				}
			}
			if diff := cmp.Diff(tc.wantAsked, append([]string{}, tc.scheduler.asked...)); diff != "" && tc.wantAsked != nil {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLaterRoundsAreAskedWithThoseBefore: koord-scheduler knows the pods where they are now.
func TestLaterRoundsAreAskedWithThoseBefore(t *testing.T) {
	scheduler := reviewer{}
	cluster := (&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("cold")
	cluster.Review = scheduler.review
	answer := cluster.forecast(t, 2, profile("LoadAwareRebalancing", ""))
	if diff := cmp.Diff([]string{"1 hot-0 hot->cold", "2 hot-1 hot->cold"}, movesOf(answer)); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"hot-0>cold", "hot-0>cold hot-1>cold"}, scheduler.asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// TestTheSchedulerIsNotAskedAgainOnceItCannotBe: the answer says from which round on moves were not confirmed.
func TestTheSchedulerIsNotAskedAgainOnceItCannotBe(t *testing.T) {
	scheduler := reviewer{}
	cluster := (&forecasting{}).node("hot", 10, 10, 10, 10, 10, 10, 10, 10, 10, 10).node("cold")
	cluster.Review = func(question *diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding) {
		if len(scheduler.asked) > 0 {
			scheduler.note = &diagnosticsv1alpha1.Finding{Message: "it stopped", Code: "KOORD0005"}
		}
		return scheduler.review(question)
	}
	answer := cluster.forecast(t, 4, profile("LoadAwareRebalancing", ""))
	want := "it stopped; from round 2 on, koord-scheduler, which confirms each move before LoadAwareRebalancing makes it, was not asked: it may refuse some (KOORD0005)"
	if !slices.Contains(answer.Incomplete, want) || len(scheduler.asked) != 2 || len(answer.Moves) < 3 {
		t.Errorf("moves %q, %d questions, incomplete %q, want %q", movesOf(answer), len(scheduler.asked), answer.Incomplete, want)
	}
}

// TestMoreMovesThanAReviewTakesAreNotConfirmed: pods of the rounds before count, too.
func TestMoreMovesThanAReviewTakesAreNotConfirmed(t *testing.T) {
	scheduler := reviewer{}
	cluster := &forecasting{}
	for i := range 220 {
		cluster.node(fmt.Sprintf("hot-%03d", i), 45, 45).node(fmt.Sprintf("cold-%03d", i))
	}
	cluster.spread().Review = scheduler.review
	answer := cluster.forecast(t, 3, profile("LoadAwareRebalancing", "maxMovesPerPass: 90"))
	most := 0
	for _, asked := range scheduler.asked {
		most = max(most, len(strings.Fields(asked)))
	}
	if most > diagnosticsv1alpha1.MaxPlacementReviewPods {
		t.Errorf("%d pods in one question, want at most %d", most, diagnosticsv1alpha1.MaxPlacementReviewPods)
	}
	if !slices.ContainsFunc(answer.Incomplete, func(line string) bool {
		return strings.HasPrefix(line, "a placement review takes 200 pods, and ") && strings.Contains(line, "; from round 3 on, ")
	}) {
		t.Errorf("%d moves, %d questions, incomplete %q", len(answer.Moves), len(scheduler.asked), answer.Incomplete)
	}
}
