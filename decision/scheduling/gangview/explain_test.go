package gangview

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

func TestTheNextStepFollowsFromTheState(t *testing.T) {
	rules := func(mode extension.GangMode) *gang.Spec {
		return &gang.Spec{MinMember: 3, Mode: mode, WaitTime: 10 * time.Minute}
	}
	members := func(refusals ...string) []Member {
		var out []Member
		for _, refusal := range refusals {
			out = append(out, Member{Phase: corev1.PodPending, Refusal: refusal})
		}
		return out
	}
	scheduled := func(phase schedulingsigsv1alpha1.PodGroupPhase, n int32) schedulingsigsv1alpha1.PodGroupStatus {
		return schedulingsigsv1alpha1.PodGroupStatus{Phase: phase, Scheduled: n}
	}
	tests := map[string]struct {
		gang      Gang
		unseen    bool
		wantState diagnosticsv1alpha1.GangState
		wantNext  string
	}{
		"no PodGroup":           {Gang{Members: members("")}, false, diagnosticsv1alpha1.GangInvalid, "no member is tried until the PodGroup exists"},
		"PodGroups not seen":    {Gang{Members: members("")}, true, diagnosticsv1alpha1.GangInvalid, ""},
		"rules that are wrong":  {Gang{Spec: &gang.Spec{Err: errors.New("bad")}}, false, diagnosticsv1alpha1.GangInvalid, "have to be corrected"},
		"too few members":       {Gang{Spec: rules("Strict"), Members: members("")}, true, diagnosticsv1alpha1.GangShort, "2 more members must be created"},
		"a strict gang waits":   {Gang{Spec: rules("Strict"), Members: members("no", "", "")}, false, diagnosticsv1alpha1.GangBlocked, "give up the nodes that they found"},
		"another gang waits":    {Gang{Spec: rules("NonStrict"), Members: members("no", "", ""), Status: scheduled("Scheduling", 2)}, false, diagnosticsv1alpha1.GangBlocked, "until 1 more member can get nodes at the same time; members that found one wait for the others for up to 10m"},
		"nothing is said yet":   {Gang{Spec: rules("Strict"), Members: members("", "", "")}, false, diagnosticsv1alpha1.GangScheduling, "looks for nodes for 3 more members"},
		"all have nodes":        {Gang{Spec: rules("Strict"), Members: members("", "", ""), Status: scheduled(schedulingsigsv1alpha1.PodGroupScheduled, 3)}, false, diagnosticsv1alpha1.GangScheduled, "start"},
		"it runs":               {Gang{Spec: rules("Strict"), Status: scheduled(schedulingsigsv1alpha1.PodGroupRunning, 3)}, false, diagnosticsv1alpha1.GangRunning, ""},
		"a member failed":       {Gang{Spec: rules("Strict"), Status: scheduled(schedulingsigsv1alpha1.PodGroupFailed, 3)}, false, diagnosticsv1alpha1.GangFailed, "the owner of the members decides"},
		"it does not wait long": {Gang{Spec: &gang.Spec{MinMember: 1, Mode: "NonStrict"}, Members: members("no")}, false, diagnosticsv1alpha1.GangBlocked, "wait for the others"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(&tc.gang, tc.unseen)
			if got.State != tc.wantState || !strings.Contains(got.Next, tc.wantNext) || tc.wantNext == "" && got.Next != "" {
				t.Errorf("state %s, next %q, want %s, %q", got.State, got.Next, tc.wantState, tc.wantNext)
			}
			if got.Summary == "" {
				t.Error("there is no summary")
			}
		})
	}
}

func TestMembersAreCountedByWhatTheyWaitFor(t *testing.T) {
	got := Explain(&Gang{
		Spec:    &gang.Spec{MinMember: 3},
		Status:  schedulingsigsv1alpha1.PodGroupStatus{Scheduled: 2, Running: 1},
		Members: []Member{{NodeName: "n1", Phase: corev1.PodRunning}, {NodeName: "n1", Phase: corev1.PodPending}, {Phase: corev1.PodPending, Refusal: "no"}, {Phase: corev1.PodSucceeded}},
	}, false)
	want := diagnosticsv1alpha1.GangCounts{Needed: 3, Created: 4, Waiting: 1, Bound: 2, Running: 1}
	if got.Counts != want {
		t.Errorf("counts %+v, want %+v", got.Counts, want)
	}
}
