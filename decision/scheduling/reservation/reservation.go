package reservation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Reservation is a reservation as pods are held against it, compiled once from its object. It is read-only.
type Reservation struct {
	Name string
	UID  types.UID
	// Node on which room is held; empty while it is pending.
	Node string
	// Labels that affinities select.
	Labels labels.Set
	// Owners of which a pod must match one.
	Owners []Owner
	// Allocatable is what is held while no pod uses it.
	Allocatable Amounts
	// Restricted are the resources that users may take from the reservation only; nil when there are none.
	Restricted map[corev1.ResourceName]bool
	// Policy by which users take.
	Policy schedulingv1alpha1.ReservationAllocatePolicy
	// Once is true when the first user ends the reservation.
	Once bool
	// Unschedulable is true when new users are refused.
	Unschedulable bool
	// Taints that users must tolerate.
	Taints []corev1.Taint
	// Order prefers the smallest that is not 0.
	Order int64
	// Pod is the operating-mode pod that is this reservation, nil for a Reservation object.
	Pod *corev1.Pod
}

// Compile reads a Reservation. What of it cannot be read matches nothing and is reported in problems; the rest is in force.
func Compile(object *schedulingv1alpha1.Reservation) (compiled *Reservation, problems []error) {
	compiled = &Reservation{
		Name: object.Name, UID: object.UID, Node: object.Status.NodeName, Labels: object.Labels,
		Policy: object.Spec.AllocatePolicy, Once: extension.IsReservationAllocateOnce(object),
		Unschedulable: object.Spec.Unschedulable || object.DeletionTimestamp != nil, Taints: object.Spec.Taints,
		Allocatable: AmountsOf(object.Status.Allocatable),
	}
	if len(object.Status.Allocatable) == 0 && object.Spec.Template != nil {
		compiled.Allocatable = RequestsOf(&corev1.Pod{Spec: object.Spec.Template.Spec})
	}
	note := func(err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("reservation %s: %w", object.Name, err))
		}
	}
	var err error
	compiled.Order, err = extension.ReservationOrder(object.Labels)
	note(err)
	compiled.Owners, problems = compileOwners(object.Name, object.Spec.Owners, problems)
	options, err := extension.GetReservationRestrictedOptions(object.Annotations)
	note(err)
	compiled.restrict(options)
	return compiled, problems
}

// restrict finds the restricted resources: those that the options name and the reservation has, or all that it has.
func (r *Reservation) restrict(options *extension.ReservationRestrictedOptions) {
	if r.Policy != schedulingv1alpha1.ReservationAllocatePolicyRestricted {
		return
	}
	r.Restricted = map[corev1.ResourceName]bool{}
	if options == nil || len(options.Resources) == 0 {
		for name := range r.Allocatable {
			r.Restricted[name] = true
		}
		return
	}
	for _, name := range options.Resources {
		if _, held := r.Allocatable[name]; held {
			r.Restricted[name] = true
		}
	}
}

// CompileOperatingPod reads a pod in operating mode Reservation: its requests are reserved, its annotations name the owners.
// It is used once, as upstream has it.
func CompileOperatingPod(pod *corev1.Pod) (compiled *Reservation, problems []error) {
	compiled = &Reservation{
		Name: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName, Labels: pod.Labels, Once: true,
		Policy: schedulingv1alpha1.ReservationAllocatePolicyAligned, Allocatable: RequestsOf(pod),
		Unschedulable: pod.DeletionTimestamp != nil, Pod: pod,
	}
	owners, err := extension.GetReservationOwners(pod.Annotations)
	if err != nil {
		problems = append(problems, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err))
	}
	compiled.Owners, problems = compileOwners(pod.Namespace+"/"+pod.Name, owners, problems)
	return compiled, problems
}

// Active reports whether a Reservation holds room.
func Active(object *schedulingv1alpha1.Reservation) bool {
	phase := object.Status.Phase
	return object.Status.NodeName != "" && (phase == schedulingv1alpha1.ReservationAvailable || phase == schedulingv1alpha1.ReservationWaiting)
}

// Pending reports whether a Reservation waits for a node.
func Pending(object *schedulingv1alpha1.Reservation) bool {
	phase := object.Status.Phase
	return object.DeletionTimestamp == nil && object.Status.NodeName == "" && (phase == "" || phase == schedulingv1alpha1.ReservationPending)
}

// Terminal reports whether a Reservation has ended.
func Terminal(object *schedulingv1alpha1.Reservation) bool {
	phase := object.Status.Phase
	return phase == schedulingv1alpha1.ReservationSucceeded || phase == schedulingv1alpha1.ReservationFailed
}
