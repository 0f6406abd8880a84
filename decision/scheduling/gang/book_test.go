package gang

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

const groupsOfBoth = `["ns/a","ns/b"]`

func TestReady(t *testing.T) {
	leaving := podOf("a", 2)
	leaving.DeletionTimestamp = &metav1.Time{Time: start}
	tests := map[string]struct {
		build    func(*Book)
		want     finding.Code
		wantText string
	}{
		"a gang nobody knows":              {func(*Book) {}, finding.GangNotFound, `gang "ns/a" has not init`},
		"pods before their PodGroup":       {func(b *Book) { b.Observe(podOf("a", 0)) }, finding.GangNotFound, "has not init"},
		"too few pods":                     {func(b *Book) { add(b, "a", 3, 2) }, finding.GangMembersMissing, "gangGroup [ns/a] basic check: memberGangs [ns/a] child pod not collect enough, current gang: ns/a"},
		"enough pods":                      {func(b *Book) { add(b, "a", 3, 3) }, "", ""},
		"a pod that is being deleted":      {func(b *Book) { add(b, "a", 3, 2); b.Observe(leaving) }, finding.GangMembersMissing, ""},
		"a minimum that cannot be read":    {func(b *Book) { add(b, "a", 0, 3) }, finding.GangInvalid, "has not init, current gang: ns/a"},
		"a group with a gang that is none": {func(b *Book) { add(b, "a", 1, 1, extension.AnnotationGangGroups, groupsOfBoth) }, finding.GangGroupMissing, "memberGangs [ns/b] doesn't exists"},
		"a group with a gang that is short": {func(b *Book) {
			add(b, "a", 1, 1, extension.AnnotationGangGroups, groupsOfBoth)
			add(b, "b", 2, 1)
		}, finding.GangMembersMissing, "memberGangs [ns/b] child pod"},
		"bound members count": {func(b *Book) { add(b, "a", 3, 2); b.Observe(bound(podOf("a", 2))) }, "", ""},
		"fewer than needed are left of a gang that ran": {func(b *Book) {
			add(b, "a", 2, 0)
			b.Observe(bound(podOf("a", 0)))
			b.Observe(bound(podOf("a", 1)))
			b.Forget(uidOf("a", 1))
		}, "", ""},
		"fewer than needed are left, and one says that it ran with its gang": {func(b *Book) {
			add(b, "a", 2, 0)
			b.Observe(proven(podOf("a", 0)))
		}, "", ""},
		"fewer than needed are left of a gang that counts": {func(b *Book) {
			add(b, "a", 2, 0, extension.AnnotationGangMatchPolicy, "waiting-and-running")
			b.Observe(bound(podOf("a", 0)))
			b.Observe(bound(podOf("a", 1)))
			b.Forget(uidOf("a", 1))
		}, finding.GangMembersMissing, ""},
	}
	for name, test := range tests {
		b := NewBook(defaults)
		test.build(b)
		got := b.Ready(keyOf("a"))
		if got.Code != test.want || !strings.Contains(got.Reason, test.wantText) || (got.Reason == "") != got.Passed() {
			t.Errorf("%s: %s %q, want %s with %q", name, got.Code, got.Reason, test.want, test.wantText)
		}
	}
}

func proven(pod *corev1.Pod) *corev1.Pod {
	placed := bound(pod)
	placed.Annotations = map[string]string{extension.AnnotationBindGangGroupID: "ns/a"}
	return placed
}

func TestPermit(t *testing.T) {
	tests := map[string]struct {
		policy       extension.GangMatchPolicy
		minimum      int32
		bound        int
		waiting      int
		wantComplete bool
	}{
		"the last one completes the gang":                       {extension.GangMatchPolicyOnceSatisfied, 3, 0, 3, true},
		"one too few":                                           {extension.GangMatchPolicyOnceSatisfied, 3, 0, 2, false},
		"a gang that ran takes single members":                  {extension.GangMatchPolicyOnceSatisfied, 3, 3, 1, true},
		"a gang bound in part goes on from there":               {extension.GangMatchPolicyOnceSatisfied, 5, 2, 3, true},
		"a gang bound in part still waits":                      {extension.GangMatchPolicyOnceSatisfied, 5, 2, 2, false},
		"running members count where the policy says":           {extension.GangMatchPolicyWaitingAndRunning, 3, 3, 1, true},
		"and do not where it does not":                          {extension.GangMatchPolicyOnlyWaiting, 3, 3, 2, false},
		"new members run together under only-waiting":           {extension.GangMatchPolicyOnlyWaiting, 3, 3, 3, true},
		"a gang bound in part goes on even under only-waiting":  {extension.GangMatchPolicyOnlyWaiting, 5, 2, 3, true},
		"a gang bound in part goes on with waiting-and-running": {extension.GangMatchPolicyWaitingAndRunning, 5, 2, 3, true},
	}
	for name, test := range tests {
		b := NewBook(defaults)
		add(b, "a", test.minimum, 0, extension.AnnotationGangMatchPolicy, string(test.policy))
		for i := range test.bound {
			b.Observe(bound(podOf("a", i)))
		}
		for i := range test.waiting {
			b.Observe(podOf("a", test.bound+i))
		}
		var last Permission
		for i := range test.waiting {
			last = permit(b, "a", test.bound+i)
		}
		if complete := last.Wait == 0; complete != test.wantComplete {
			t.Errorf("%s: complete %v (%+v), want %v", name, complete, b.Gang(keyOf("a")).Counts(), test.wantComplete)
		}
		if test.wantComplete && len(last.Allow) != b.Gang(keyOf("a")).Counts().Binding-1 {
			t.Errorf("%s: %d others are allowed, %d bind", name, len(last.Allow), b.Gang(keyOf("a")).Counts().Binding)
		}
	}
}

func TestTheFirstToWaitCallsTheOthers(t *testing.T) {
	b := bookOf("a", 3, 3)
	if first := permit(b, "a", 0); len(first.Try) != 2 || first.Wait != 10*time.Minute {
		t.Errorf("the first calls %d and waits %v", len(first.Try), first.Wait)
	}
	if second := permit(b, "a", 1); len(second.Try) != 0 {
		t.Errorf("the second calls %d", len(second.Try))
	}
	if got := b.Permit(keyOf("gone"), "x", "n"); got.Refused.Passed() {
		t.Error("a member of no gang is permitted")
	}
}

func TestGroupsStartTogether(t *testing.T) {
	b := NewBook(defaults)
	for _, gang := range []string{"a", "b"} {
		add(b, gang, 2, 2, extension.AnnotationGangGroups, groupsOfBoth)
	}
	for _, step := range []Permission{permit(b, "a", 0), permit(b, "a", 1), permit(b, "b", 0)} {
		if step.Wait == 0 {
			t.Error("a member is bound before the group is complete")
		}
	}
	if last := permit(b, "b", 1); last.Wait != 0 || len(last.Allow) != 3 {
		t.Errorf("the last one gets %+v", last)
	}
}

func TestStrictFailureReleasesAllThatWait(t *testing.T) {
	b := NewBook(defaults)
	for _, gang := range []string{"a", "b"} {
		add(b, gang, 3, 3, extension.AnnotationGangGroups, groupsOfBoth)
	}
	permit(b, "a", 0)
	permit(b, "b", 0)
	failed := b.Fail(keyOf("a"), uidOf("a", 1), "no room", start)
	want := `GangGroup "[ns/a ns/b]" gets rejected due to member Pod "ns/a-1" is unschedulable with reason "no room", alreadyWaitForBound: 2`
	if len(failed.Release) != 2 || failed.Reason != want || len(failed.Try) != 0 {
		t.Errorf("got %+v, want %s", failed, want)
	}
	for _, uid := range failed.Release {
		released, again := b.Release(uid)
		twice, _ := b.Release(uid)
		if !released || twice || again != nil {
			t.Errorf("%s is released %v and %v, and to be tried again: %v", uid, released, twice, again)
		}
	}
	for name, test := range map[string]struct {
		gang  string
		index int
		after time.Duration
		want  finding.Code
	}{
		"the others are not tried":        {"a", 2, 0, finding.GangMemberRefused},
		"nor those of the other gang":     {"b", 2, 0, finding.GangMemberRefused},
		"the one that was refused is":     {"a", 1, 0, ""},
		"the others are tried later":      {"a", 2, 2 * time.Minute, ""},
		"but not before the refusal ends": {"a", 2, 50 * time.Second, finding.GangMemberRefused},
	} {
		got := b.Admit(keyOf(test.gang), uidOf(test.gang, test.index), start.Add(test.after))
		if got.Code != test.want || !got.Passed() && got.Reason != want {
			t.Errorf("%s: %s %q", name, got.Code, got.Reason)
		}
	}
	if again := b.Unplace(keyOf("a"), podOf("a", 0), start); again.Reason != "" {
		t.Errorf("a member that is released rejects others: %+v", again)
	}
	if placed := permit(b, "a", 1); len(placed.Try) != 5 {
		t.Errorf("the refused member calls %d others when it finds a node, want 5", len(placed.Try))
	}
	if got := b.Admit(keyOf("a"), uidOf("a", 2), start); !got.Passed() {
		t.Errorf("the others are refused still: %s", got.Reason)
	}
}

func TestTwoRefusedMembers(t *testing.T) {
	b := bookOf("a", 3, 3)
	b.Fail(keyOf("a"), uidOf("a", 0), "no room", start)
	b.Fail(keyOf("a"), uidOf("a", 1), "no room", start)
	if placed := permit(b, "a", 0); len(placed.Try) != 1 || placed.Try[0].Name != "a-1" {
		t.Errorf("the first calls %d others, want the one without which the third is tried in vain", len(placed.Try))
	}
	if got := b.Admit(keyOf("a"), uidOf("a", 2), start); got.Refused == nil || got.Refused.Pod.Name != "a-1" {
		t.Errorf("the third is tried although the second is refused: %+v", got)
	}
	if placed := permit(b, "a", 1); len(placed.Try) != 1 {
		t.Errorf("the second calls %d others, want the one that was held back because of it", len(placed.Try))
	}
	for _, uid := range b.Fail(keyOf("a"), uidOf("a", 2), "no room", start).Release {
		b.Release(uid)
	}
	b.Unplace(keyOf("a"), podOf("a", 0), start)
	b.Unplace(keyOf("a"), podOf("a", 1), start)
	if got := b.Admit(keyOf("a"), uidOf("a", 2), start); !got.Passed() {
		t.Errorf("the third is held back by refusals that ended when the others found a node: %s", got.Reason)
	}
}

func TestAnotherPluginTakesTheNodeAway(t *testing.T) {
	b := bookOf("a", 3, 3)
	permit(b, "a", 0)
	if got := b.Unplace(keyOf("a"), podOf("a", 1), start); len(got.Release) != 1 {
		t.Errorf("a member that could not be reserved rejects %d others, want 1", len(got.Release))
	}
}

func TestForksAreIndependent(t *testing.T) {
	b := bookOf("a", 3, 3)
	permit(b, "a", 0)
	fork := b.Fork()
	fork.SetGroup(FromGroup(groupOfPods("a", 9), defaults))
	permit(fork, "a", 1)
	fork.Forget(uidOf("a", 2))
	if got := b.Gang(keyOf("a")); got.Spec.MinMember != 3 || got.Counts() != (Counts{Children: 3, Waiting: 1}) || got.Members[uidOf("a", 1)].Phase != Pending {
		t.Errorf("%+v %+v", got.Spec, got.Counts())
	}
}

func TestNonStrictFailureConcernsNobodyElse(t *testing.T) {
	b := bookOf("a", 3, 3, extension.AnnotationGangMode, "NonStrict")
	permit(b, "a", 0)
	if failed := b.Fail(keyOf("a"), uidOf("a", 1), "no room", start); failed.Reason != "" || len(failed.Release) > 0 {
		t.Errorf("others are rejected: %+v", failed)
	}
	if got := b.Admit(keyOf("a"), uidOf("a", 2), start); !got.Passed() {
		t.Errorf("others are not tried: %s", got.Reason)
	}
	if lost := b.Unplace(keyOf("a"), podOf("a", 0), start); lost.Reason != "" || len(lost.Try) != 1 {
		t.Errorf("a member that gave up rejects others, or is not tried again alone: %+v", lost)
	}
}

func TestMembersThatAreNotNeededHoldNobodyBack(t *testing.T) {
	b := bookOf("a", 2, 4)
	permit(b, "a", 0)
	failed := b.Fail(keyOf("a"), uidOf("a", 1), "no room", start)
	if len(failed.Release) != 1 || len(failed.Try) != 3 {
		t.Errorf("%d released and %d tried again, want 1 and 3", len(failed.Release), len(failed.Try))
	}
	b.Release(failed.Release[0])
	for _, index := range []int{2, 3} {
		if got := b.Admit(keyOf("a"), uidOf("a", index), start); !got.Passed() {
			t.Errorf("member %d is held back: %s", index, got.Reason)
		}
	}
	b.Fail(keyOf("a"), uidOf("a", 2), "no room", start)
	b.Fail(keyOf("a"), uidOf("a", 3), "no room", start)
	if got := b.Admit(keyOf("a"), uidOf("a", 0), start); got.Code != finding.GangMemberRefused {
		t.Errorf("with 3 of 4 refused the gang is still tried")
	}
}

func TestUnplace(t *testing.T) {
	tests := map[string]struct {
		members    int
		before     func(*Book)
		wantReject bool
		wantTry    int
	}{
		"one that waited too long rejects all that wait":       {3, func(*Book) {}, true, 3},
		"one that was deleted rejects when too few are left":   {3, func(b *Book) { b.Forget(uidOf("a", 0)) }, true, 0},
		"one that was deleted does not when enough are left":   {4, func(b *Book) { b.Forget(uidOf("a", 0)) }, false, 0},
		"one of a gang that ran is tried again alone":          {3, func(b *Book) { ranBefore(b) }, false, 1},
		"one that could not be bound rejects those that wait":  {3, func(b *Book) { b.Allow([]types.UID{uidOf("a", 0)}) }, true, 3},
		"one that is bound meanwhile is not unplaced any more": {3, func(b *Book) { b.Observe(bound(podOf("a", 0))) }, false, 0},
	}
	for name, test := range tests {
		b := bookOf("a", 3, test.members)
		permit(b, "a", 0)
		permit(b, "a", 1)
		test.before(b)
		got := b.Unplace(keyOf("a"), podOf("a", 0), start)
		want := `Gang "ns/a" gets rejected due to Pod "ns/a-0" in Unreserve`
		if (got.Reason == want) != test.wantReject || !test.wantReject && got.Reason != "" || len(got.Try) != test.wantTry {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// ranBefore has the gang's minimum bound, and one of those gone again.
func ranBefore(b *Book) {
	for _, index := range []int{5, 6, 7} {
		b.Observe(bound(podOf("a", index)))
	}
	b.Forget(uidOf("a", 7))
}

func TestWhoIsWoken(t *testing.T) {
	b := NewBook(defaults)
	woken := func(when string, pods []*corev1.Pod, want int) {
		t.Helper()
		if len(pods) != want {
			t.Errorf("%s: %d woken, want %d", when, len(pods), want)
		}
	}
	woken("the first pod", b.Observe(podOf("a", 0)), 0)
	woken("the second pod", b.Observe(podOf("a", 1)), 0)
	woken("the PodGroup", b.SetGroup(FromGroup(groupOfPods("a", 3), defaults)), 0)
	woken("the last pod", b.Observe(podOf("a", 2)), 3)
	woken("one more, which may have been queued before the others were known", b.Observe(podOf("a", 3)), 1)
	woken("a pod changes", b.Observe(podOf("a", 3)), 0)
	woken("a member leaves", b.Forget(uidOf("a", 3)), 0)
	b.Fail(keyOf("a"), uidOf("a", 1), "no room", start)
	woken("the PodGroup is the same", b.SetGroup(FromGroup(groupOfPods("a", 3), defaults)), 0)
	woken("the minimum falls", b.SetGroup(FromGroup(groupOfPods("a", 2), defaults)), 3)
	woken("the minimum rises", b.SetGroup(FromGroup(groupOfPods("a", 3), defaults)), 0)
	b.Fail(keyOf("a"), uidOf("a", 1), "no room", start)
	woken("the refused member is deleted, and too few are left", b.Forget(uidOf("a", 1)), 0)
	woken("its successor", b.Observe(podOf("a", 4)), 3)
	b.SetGroup(FromGroup(groupOfPods("b", 1, extension.AnnotationGangGroups, groupsOfBoth), defaults))
	woken("a pod of a gang that depends on another one", b.Observe(podOf("b", 0)), 1)
	b.Forget(uidOf("a", 4))
	woken("the other one is complete again", b.Observe(podOf("a", 5)), 4)
	woken("the PodGroup is deleted", b.RemoveGroup(keyOf("a"), FromPodGroup), 0)
	woken("and comes back", b.SetGroup(FromGroup(groupOfPods("a", 3), defaults)), 4)
}

func TestWhoIsWokenFromOtherGangs(t *testing.T) {
	b := bookOf("a", 2, 2)
	add(b, "b", 1, 1)
	moved := podOf("a", 1)
	moved.Labels[extension.LabelPodGroup] = "b"
	if woken := b.Observe(moved); len(woken) != 1 || woken[0] != moved {
		t.Errorf("a pod that joins a gang whose members may be tried already: %d woken", len(woken))
	}
	alone := podOf("a", 1)
	alone.Labels = nil
	if woken := b.Observe(alone); len(woken) != 1 || woken[0] != alone {
		t.Errorf("a pod that leaves its gang: %d woken", len(woken))
	}
	for _, name := range []string{"near", "far"} {
		spec := FromGroup(groupOfPods(name, 2), defaults)
		if name == "near" {
			spec.Topology = &extension.NetworkTopologySpec{}
		}
		b.SetGroup(spec)
		for i := range 2 {
			b.Observe(podOf(name, i))
		}
		b.Fail(keyOf(name), uidOf(name, 1), "no room", start)
	}
	if woken := b.RefusedForNetwork(); len(woken) != 1 || woken[0].Name != "near-1" {
		t.Errorf("the network changes: %d woken, want the refused member that has to be close to others", len(woken))
	}
}

func TestBoundMembersOpenTheGang(t *testing.T) {
	b := bookOf("a", 2, 4)
	for _, index := range []int{1, 2, 3} {
		b.Fail(keyOf("a"), uidOf("a", index), "no room", start)
	}
	if woken := b.Observe(bound(podOf("a", 0))); len(woken) != 3 {
		t.Errorf("%d woken when the gang needs one node less, want the 3 that were refused", len(woken))
	}
	if woken := b.Bound(uidOf("a", 1)); len(woken) != 2 {
		t.Errorf("%d woken once the gang ran, want 2", len(woken))
	}
}

func TestRulesFollowTheOldestMember(t *testing.T) {
	b := NewBook(defaults)
	b.Observe(annotatedPod("a", 1, "5"))
	b.Observe(annotatedPod("a", 0, "2"))
	b.Observe(annotatedPod("a", 2, "7"))
	minimum := func(want int32) {
		t.Helper()
		if got := b.Gang(keyOf("a")).Spec.MinMember; got != want {
			t.Errorf("minimum %d, want %d", got, want)
		}
	}
	minimum(2)
	b.Observe(annotatedPod("a", 0, "3"))
	minimum(3)
	b.Forget(uidOf("a", 0))
	minimum(5)
	b.SetGroup(FromGroup(groupOfPods("a", 9), defaults))
	minimum(9)
	b.RemoveGroup(keyOf("a"), FromPodGroup)
	minimum(5)
	b.Forget(uidOf("a", 1))
	b.Forget(uidOf("a", 2))
	if b.Gang(keyOf("a")) != nil || len(b.gangOf) > 0 || len(b.listedBy) > 0 {
		t.Error("a gang without members stays in the book")
	}
}

func TestForgottenRefusalsHoldNobodyBack(t *testing.T) {
	b := NewBook(defaults)
	for _, gang := range []string{"a", "b"} {
		add(b, gang, 2, 2, extension.AnnotationGangGroups, groupsOfBoth)
	}
	b.Fail(keyOf("b"), uidOf("b", 1), "no room", start)
	if b.Admit(keyOf("a"), uidOf("a", 0), start).Passed() {
		t.Fatal("a member is tried although another one of its group was refused")
	}
	b.ForgetRefusals(keyOf("a"))
	if verdict := b.Admit(keyOf("a"), uidOf("a", 0), start); !verdict.Passed() {
		t.Errorf("a member is not tried: %s", verdict.Reason)
	}
	b.ForgetRefusals(keyOf("unknown"))
}

func TestMembersCanMove(t *testing.T) {
	b := bookOf("a", 1, 1)
	moved := podOf("b", 0)
	moved.UID = uidOf("a", 0)
	b.Observe(moved)
	if a, other := b.Gang(keyOf("a")).Counts(), b.Gang(keyOf("b")).Counts(); a.Children != 0 || other.Children != 1 {
		t.Errorf("%+v and %+v", a, other)
	}
	moved = moved.DeepCopy()
	moved.Labels = nil
	b.Observe(moved)
	if b.Member(moved.UID) != nil {
		t.Error("a pod that left its gang is a member still")
	}
}

func TestReport(t *testing.T) {
	b := NewBook(defaults)
	for _, gang := range []string{"a", "b"} {
		add(b, gang, 3, 3, extension.AnnotationGangGroups, groupsOfBoth)
	}
	b.Forget(uidOf("b", 0))
	permit(b, "a", 0)
	b.Fail(keyOf("a"), uidOf("a", 1), "0/3 nodes are available", start)
	want := "gang ns/a: 1 of 3 members placed; member ns/a-1 was refused when 1 had a node: 0/3 nodes are available; gang ns/b of the group is missing 1 pods: 2 of 3 exist"
	if diff := cmp.Diff(want, b.Report(keyOf("a"), start).Message()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Observe(podOf("b", 0))
	if report := b.Report(keyOf("b"), start); report.Cause == nil || report.Cause.Name != "a-1" || report.Fits != 1 {
		t.Errorf("cause %v, with %d", report.Cause, report.Fits)
	}
}

func TestRank(t *testing.T) {
	rank := func(at int, gang string, queued int) Rank {
		key := Key{}
		if gang != "" {
			key = keyOf(gang)
		}
		return Rank{At: start.Add(time.Duration(at) * time.Second), Gang: key, Queued: start.Add(time.Duration(queued) * time.Second)}
	}
	ordered := []Rank{rank(1, "", 1), rank(2, "a", 2), rank(2, "a", 9), rank(2, "b", 3), rank(3, "", 3), rank(4, "c", 4)}
	for i := range ordered {
		for j := range ordered {
			if got := ordered[i].Compare(ordered[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%d compared with %d is %d", i, j, got)
			}
		}
	}
}
