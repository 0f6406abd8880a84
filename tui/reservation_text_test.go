package tui

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/tui/internal/fixture"
)

type reserved = schedulingv1alpha1.Reservation

// TestTheTextOfAReservation says what it holds, for whom, until when and who uses it.
func TestTheTextOfAReservation(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for name, tc := range map[string]struct {
		edit        func(*reserved)
		want, never []string
	}{
		"what of it is taken": {
			func(r *reserved) { r.Status.Allocatable, r.Status.Allocated = list("4", "8Gi"), list("1500m", "0") },
			[]string{"node                     node-1", "RESOURCE                  TAKEN/RESERVED", "cpu                               1.50/4  ████", "memory                            0B/8Gi"}, nil,
		},
		"nothing is reserved": {func(*reserved) {}, []string{"pods", "<none>"}, []string{"RESOURCE"}},
		"what is taken without being reserved": {
			func(r *reserved) {
				r.Status.Allocated = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")}
			}, []string{"Overused", "pods have taken 2 of 0", "nvidia.com/gpu                       2/0"}, nil,
		},
		"numbers of many digits": {
			func(r *reserved) {
				r.Status.Allocatable = corev1.ResourceList{"example.com/bytes": resource.MustParse("1717986918400")}
				r.Status.Allocated = corev1.ResourceList{"example.com/bytes": resource.MustParse("1717986918399")}
			}, []string{"1717986918399/1717986918400"}, nil,
		},
		"for one pod only":               {func(*reserved) {}, []string{"for one pod only         yes"}, nil},
		"for several":                    {func(r *reserved) { r.Spec.AllocateOnce = new(false) }, []string{"for one pod only         no"}, nil},
		"it expires after its ttl":       {func(r *reserved) { r.Spec.TTL = &metav1.Duration{Duration: time.Hour} }, []string{"created                  10m ago", "expires                  in 50m"}, nil},
		"it is due":                      {func(r *reserved) { r.Spec.TTL = &metav1.Duration{Duration: time.Minute} }, []string{"expires                  now"}, nil},
		"it never expires":               {func(r *reserved) { r.Spec.TTL = &metav1.Duration{} }, []string{"expires                  <none>"}, nil},
		"one that ended does not expire": {func(r *reserved) { r.Status.Phase = schedulingv1alpha1.ReservationFailed }, []string{"Failed", "expires                  <none>"}, nil},
		"its pods": {
			func(r *reserved) {
				r.Status.CurrentOwners = []corev1.ObjectReference{{Namespace: "shop", Name: "web-1"}, {Namespace: "shop", Name: "web-2"}}
			}, []string{"Used", "pods", "shop/web-1", "shop/web-2"}, []string{"<none>\n   shop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.clock.SetTime(builtAt)
			made := &reserved{ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: metav1.NewTime(builtAt.Add(-10 * time.Minute))},
				Status: schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "node-1"}}
			tc.edit(made)
			says(t, textOf(r.m.reservationText(made, minWidth)), tc.want, tc.never)
		})
	}
}

// TestTheOwnersOfAReservation are said as the fields that are set: only those are compared.
func TestTheOwnersOfAReservation(t *testing.T) {
	owner := func(edit func(*schedulingv1alpha1.ReservationOwner)) schedulingv1alpha1.ReservationOwner {
		var o schedulingv1alpha1.ReservationOwner
		edit(&o)
		return o
	}
	pod := func(namespace, name string) schedulingv1alpha1.ReservationOwner {
		return owner(func(o *schedulingv1alpha1.ReservationOwner) {
			o.Object = &corev1.ObjectReference{Namespace: namespace, Name: name}
		})
	}
	controlled := func(kind, namespace, name string) schedulingv1alpha1.ReservationOwner {
		return owner(func(o *schedulingv1alpha1.ReservationOwner) {
			o.Controller = &schedulingv1alpha1.ReservationControllerReference{OwnerReference: metav1.OwnerReference{Kind: kind, Name: name}, Namespace: namespace}
		})
	}
	labelled := owner(func(o *schedulingv1alpha1.ReservationOwner) {
		o.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	})
	both := controlled("Job", "shop", "batch")
	both.LabelSelector = labelled.LabelSelector
	for name, tc := range map[string]struct {
		owners []schedulingv1alpha1.ReservationOwner
		want   string
	}{
		"none":                     {nil, ""},
		"a pod":                    {[]schedulingv1alpha1.ReservationOwner{pod("shop", "web-1")}, "pod shop/web-1"},
		"a pod of any namespace":   {[]schedulingv1alpha1.ReservationOwner{pod("", "web-1")}, "pod web-1"},
		"any pod of a namespace":   {[]schedulingv1alpha1.ReservationOwner{pod("shop", "")}, "any pod in namespace shop"},
		"a controller":             {[]schedulingv1alpha1.ReservationOwner{controlled("Job", "shop", "batch")}, "Job shop/batch"},
		"a controller of any kind": {[]schedulingv1alpha1.ReservationOwner{controlled("", "", "batch")}, "controller batch"},
		"controllers of a kind":    {[]schedulingv1alpha1.ReservationOwner{controlled("Job", "", "")}, "any Job"},
		"labels":                   {[]schedulingv1alpha1.ReservationOwner{labelled}, "pods with app=web"},
		"two terms of one owner":   {[]schedulingv1alpha1.ReservationOwner{both}, "Job shop/batch and pods with app=web"},
		"two owners":               {[]schedulingv1alpha1.ReservationOwner{pod("shop", "web-1"), labelled}, "pod shop/web-1, or pods with app=web"},
		"any pod at all":           {[]schedulingv1alpha1.ReservationOwner{pod("", "")}, "any pod"},
		"a pod by its uid": {[]schedulingv1alpha1.ReservationOwner{owner(func(o *schedulingv1alpha1.ReservationOwner) {
			o.Object = &corev1.ObjectReference{UID: "4f2a"}
		})}, "pod with uid 4f2a"},
		"an owner that names nothing is left out": {[]schedulingv1alpha1.ReservationOwner{{}, labelled}, "pods with app=web"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ownersText(&reserved{Spec: schedulingv1alpha1.ReservationSpec{Owners: tc.owners}}); got != tc.want {
				t.Errorf("owners %q, want %q", got, tc.want)
			}
		})
	}
}

// mute is a cluster whose scheduler does not say why a Reservation has no node.
type mute struct {
	fixture.Source
	err error
}

func (m *mute) ExplainPod(ctx context.Context, namespace, name string, spec diagnostics.PodExplanationSpec) (*diagnostics.PodExplanation, error) {
	if m.err != nil {
		return nil, m.err
	}
	return m.Source.ExplainPod(ctx, namespace, name, spec)
}

// TestWhyAReservationHasNoNode is asked for only while it has none, and its failure leaves the Reservation on the screen.
func TestWhyAReservationHasNoNode(t *testing.T) {
	for name, tc := range map[string]struct {
		reservation string
		err         error
		want, never []string
	}{
		"the scheduler says it":         {"big", nil, []string{"Blocked", "why it has no node", "Unschedulable", "KOORD1901"}, []string{"is unknown"}},
		"it cannot be asked":            {"big", errUnreachable, []string{"Blocked", "expires", "why it has no node is unknown: list nodes: dial tcp"}, []string{"error:", "stale"}},
		"it may not be asked":           {"big", notPermitted("explain pods"), []string{"why it has no node is unknown: explain pods: not permitted"}, []string{"error:"}},
		"a Reservation that has a node": {"catalog", errUnreachable, []string{"Used", "node-0009"}, []string{"why it has no node", "unknown"}},
		"one that ended":                {"nightly", errUnreachable, []string{"Expired"}, []string{"why it has no node", "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			quiet := &mute{Source: r.src.Source, err: tc.err}
			r.src.Source = quiet
			r.start().press(":reservation "+tc.reservation, "enter").pass(3 * time.Second)
			r.resize(120, 60)
			says(t, r.plain(), tc.want, tc.never)
			if tc.err == nil || tc.reservation != "big" {
				return
			}
			quiet.err = nil
			r.pass(3 * time.Second)
			says(t, r.plain(), []string{"why it has no node", "Unschedulable"}, []string{"is unknown"})
		})
	}
}
