package services

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Reservations are the endpoints of Reservation over the state that its plugins share.
type Reservations struct {
	// State returns the active reservations of a node, in no order.
	State interface {
		OnNode(node string) []*reservations.View
	}
}

// Name implements Provider.
func (r Reservations) Name() string { return decision.PluginName }

// Endpoints implements Provider.
func (r Reservations) Endpoints() []Endpoint {
	return []Endpoint{{Path: "nodeReservations/{nodeName}", Answer: func(_ context.Context, call Call) (any, error) {
		answer := nodeReservations{Items: []reservationItem{}}
		for _, view := range r.State.OnNode(call.Parameter("nodeName")) {
			answer.Items = append(answer.Items, itemOf(view))
		}
		slices.SortFunc(answer.Items, func(a, b reservationItem) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
		return answer, nil
	}}}
}

type nodeReservations struct {
	Items []reservationItem `json:"items"`
}

// reservationItem has upstream's fields, as far as they are not another form of the same numbers.
type reservationItem struct {
	Name           string                                       `json:"name"`
	Namespace      string                                       `json:"namespace,omitempty"`
	UID            types.UID                                    `json:"uid"`
	Kind           string                                       `json:"kind"`
	Available      bool                                         `json:"available"`
	AllocateOnce   bool                                         `json:"allocateOnce"`
	Allocatable    corev1.ResourceList                          `json:"allocatable,omitempty"`
	Allocated      corev1.ResourceList                          `json:"allocated,omitempty"`
	Owners         []schedulingv1alpha1.ReservationOwner        `json:"owners,omitempty"`
	AllocatePolicy schedulingv1alpha1.ReservationAllocatePolicy `json:"allocatePolicy,omitempty"`
	AssignedPods   []assignedPod                                `json:"assignedPods,omitempty"`
}

type assignedPod struct {
	Namespace string              `json:"namespace"`
	Name      string              `json:"name"`
	UID       types.UID           `json:"uid"`
	Requests  corev1.ResourceList `json:"requests,omitempty"`
}

func itemOf(view *reservations.View) reservationItem {
	item := reservationItem{
		Name: view.Name, UID: view.UID, Kind: "Reservation", Available: true, AllocateOnce: view.Once, AllocatePolicy: view.Policy,
		Allocatable: view.Allocatable.List(), Allocated: view.Taken.List(),
	}
	if view.Object != nil {
		item.Owners = view.Object.Spec.Owners
	} else if view.Held != nil {
		item.Kind, item.Namespace = "Pod", view.Held.Namespace
	}
	for _, user := range view.Pods {
		item.AssignedPods = append(item.AssignedPods, assignedPod{Namespace: user.Namespace, Name: user.Name, UID: user.UID, Requests: user.Requests.List()})
	}
	slices.SortFunc(item.AssignedPods, func(a, b assignedPod) int { return cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return item
}
