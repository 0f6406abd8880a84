package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// TestAMemberIsToldWhyAnotherOneFindsNoNode has the text that the conditions of the members have.
func TestAMemberIsToldWhyAnotherOneFindsNoNode(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	tainted := newNode(1)
	tainted.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
	c.addNode(tainted)
	withMinMember(c, 2, newPod("a", "cpu", "1"), newPod("big", "cpu", "60", "memory", "400Gi"))
	const want = `GangGroup "[default/team]" gets rejected due to member Pod "default/big" is unschedulable with reason ` +
		`"0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) had untolerated taint(s).", alreadyWaitForBound: 1`
	reasons := map[string]int32{}
	for _, group := range c.explain("a").Groups {
		reasons[group.Reason] = group.Count
	}
	if reasons[want] != 2 {
		t.Errorf("groups %v, want one for 2 nodes: %s", reasons, want)
	}
}

// TestAFixIsForTheMemberThatWasRefusedAMomentAgo: because of its refusal no node is looked at for the others.
func TestAFixIsForTheMemberThatWasRefusedAMomentAgo(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	big := inGang("team", newPod("big", "cpu", "60"))
	withMinMember(c, 2, newPod("a", "cpu", "1"), big)
	c.shared.gangs.Fail(gang.Key{Namespace: "default", Name: "team"}, big, "0/1 nodes are available: 1 Insufficient cpu.")
	status := c.explain("a")
	if len(status.Groups) != 1 || !strings.Contains(status.Groups[0].Reason, "alreadyWaitForBound: 0") {
		t.Fatalf("groups %+v, want the refusal of a moment ago", status.Groups)
	}
	if want := "for pod default/big: reduce the pod's cpu request from 60 to 15 (by 45)"; status.Fix == nil || status.Fix.Description != want {
		t.Errorf("fix %+v, want %q", status.Fix, want)
	}
}

// TestNoChangeIsNeededWhereTheOtherMemberFindsANodeNow has room for a member that was refused a moment ago.
func TestNoChangeIsNeededWhereTheOtherMemberFindsANodeNow(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	other := inGang("team", newPod("other", "cpu", "4"))
	withMinMember(c, 2, newPod("a", "cpu", "1"), other)
	c.shared.gangs.Fail(gang.Key{Namespace: "default", Name: "team"}, other, "0/1 nodes are available: 1 Insufficient cpu.")
	status := c.explain("a")
	if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || status.Fix != nil || !strings.HasSuffix(status.Summary, ". The next scheduling attempt finds a node.") {
		t.Errorf("%s: %s, fix %+v", status.Verdict, status.Summary, status.Fix)
	}
}

// TestAChangeLeavesRoomForMembersThatComeFirst has a large node, which the scheduler chooses for the member that comes first: what is
// left there is what the other one may ask for.
func TestAChangeLeavesRoomForMembersThatComeFirst(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	large := newNode(1)
	large.Status.Allocatable["cpu"] = list("cpu", "32")["cpu"]
	c.addNode(large)
	asked := inGang("team", newPod("asked", "cpu", "60"))
	withMinMember(c, 2, newPod("small", "cpu", "2"), asked)
	c.shared.gangs.Fail(gang.Key{Namespace: "default", Name: "team"}, asked, "0/2 nodes are available: 2 Insufficient cpu.")
	if want, fix := "reduce the pod's cpu request from 60 to 30 (by 30)", c.explain("asked").Fix; fix == nil || fix.Description != want {
		t.Errorf("fix %+v, want %q", fix, want)
	}
}

// TestReservationsOfThePodAreCounted has what PostFilter adds to the event.
func TestReservationsOfThePodAreCounted(t *testing.T) {
	c := newShippedCluster(t)
	c.addNode(newNode(0))
	for name, change := range map[string]func(*schedulingv1alpha1.Reservation){
		"closed-1": func(r *schedulingv1alpha1.Reservation) { r.Spec.Unschedulable = true },
		"closed-2": func(r *schedulingv1alpha1.Reservation) { r.Spec.Unschedulable = true },
		"small": func(r *schedulingv1alpha1.Reservation) {
			r.Spec.AllocatePolicy = schedulingv1alpha1.ReservationAllocatePolicyRestricted
		},
	} {
		object := available(0, newReservation(name, "cpu", "1"))
		object.Spec.Owners[0].LabelSelector.MatchLabels["owns"] = "all"
		change(object)
		c.addReservation(object)
	}
	pod := newPod("asked", "cpu", "6")
	pod.Labels = map[string]string{"owns": "all"}
	pod.Annotations = map[string]string{extension.AnnotationReservationAffinity: `{"reservationSelector":{"reserved":"yes"}}`}
	c.addPod(pod)
	want := &diagnosticsv1alpha1.ReservationCensus{Matched: 3, Refusals: []diagnosticsv1alpha1.ReservationRefusal{
		{Code: "KOORD1158", Reason: "is unschedulable", Count: 2, Names: []string{"closed-1", "closed-2"}},
		{Code: "KOORD1151", Reason: "didn't match affinity rules", Count: 1, Names: []string{"small"}},
	}}
	got := c.explain("asked").Reservations
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reservations (-want +got):\n%s", diff)
	}
}
