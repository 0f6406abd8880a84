package tui

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/source"
)

func TestTheStateOfAGang(t *testing.T) {
	waiting := func(refusals ...string) []source.GangMember {
		var out []source.GangMember
		for _, refusal := range refusals {
			out = append(out, source.GangMember{Phase: corev1.PodPending, Refusal: refusal})
		}
		return out
	}
	phase := func(p schedulingsigsv1alpha1.PodGroupPhase) schedulingsigsv1alpha1.PodGroupStatus {
		return schedulingsigsv1alpha1.PodGroupStatus{Phase: p, Failed: 1}
	}
	rejected := "0/3 nodes are available: " + gang.Rejected(nil, &corev1.Pod{}, "no gpu", 0)
	two := &gang.Spec{MinMember: 2}
	for name, tc := range map[string]struct {
		gang        source.Gang
		want        string
		wantWhy     string
		wantProblem bool
	}{
		"its PodGroup does not exist": {source.Gang{Key: gang.Key{Namespace: "a", Name: "b"}}, "Invalid", "there is no PodGroup a/b that can be seen", true},
		"its rules cannot be read":    {source.Gang{Spec: &gang.Spec{Err: errors.New("bad")}}, "Invalid", "bad", true},
		"members are missing":         {source.Gang{Spec: two, Members: waiting("")}, "Short", "1 of 2 members exist", true},
		"members wait":                {source.Gang{Spec: two, Members: waiting("", "")}, "Scheduling", "", false},
		"one cause holds it back":     {source.Gang{Spec: two, Members: waiting(rejected, rejected, "no gpu")}, "Blocked", "1 member: no gpu", true},
		"it has nodes":                {source.Gang{Spec: two, Status: phase(schedulingsigsv1alpha1.PodGroupScheduled)}, "Scheduled", "", false},
		"it runs":                     {source.Gang{Spec: two, Status: phase(schedulingsigsv1alpha1.PodGroupRunning)}, "Running", "", false},
		"it is done":                  {source.Gang{Spec: two, Status: phase(schedulingsigsv1alpha1.PodGroupFinished)}, "Finished", "", false},
		"a member failed":             {source.Gang{Spec: two, Status: phase(schedulingsigsv1alpha1.PodGroupFailed)}, "Failed", "1 member failed", true},
	} {
		t.Run(name, func(t *testing.T) {
			row := gangRows(&source.Gangs{Items: []source.Gang{tc.gang}})[0]
			if got := row.state.word(); got != tc.want || row.why != tc.wantWhy || gangProblem(&row) != tc.wantProblem {
				t.Errorf("state %s, why %q, problem %t, want %s, %q, %t", got, row.why, gangProblem(&row), tc.want, tc.wantWhy, tc.wantProblem)
			}
		})
	}
}
