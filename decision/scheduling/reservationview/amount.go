package reservationview

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
)

// Amount is one resource of a Reservation, in the unit that the scheduler counts it in.
type Amount struct {
	Resource corev1.ResourceName
	// Reserved is held, and Allocated of that is taken by pods, as koord-scheduler published it.
	Reserved, Allocated int64
}

// Unit of the amounts.
func (a *Amount) Unit() diagnosticsv1alpha1.Unit { return amount.UnitOf(a.Resource) }

// AmountOf is what is reserved of a resource, and taken of that by pods.
func AmountOf(r *schedulingv1alpha1.Reservation, name corev1.ResourceName) Amount {
	return Amount{Resource: name, Reserved: amount.Of(name, r.Status.Allocatable[name]), Allocated: amount.Of(name, r.Status.Allocated[name])}
}

// Resources of a Reservation, cpu and memory first.
func Resources(r *schedulingv1alpha1.Reservation) []corev1.ResourceName {
	var out []corev1.ResourceName
	for name := range r.Status.Allocatable {
		out = append(out, name)
	}
	for name := range r.Status.Allocated {
		if _, reserved := r.Status.Allocatable[name]; !reserved {
			out = append(out, name)
		}
	}
	amount.Sort(out)
	return out
}
