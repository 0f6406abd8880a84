package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// reservationRow is a Reservation with its state.
type reservationRow struct {
	*schedulingv1alpha1.Reservation
	state reservationState
	why   string
}

func reservationRows(all []schedulingv1alpha1.Reservation) []reservationRow {
	rows := make([]reservationRow, len(all))
	for i := range all {
		rows[i].Reservation = &all[i]
		rows[i].state, rows[i].why = reservationStateOf(&all[i])
	}
	return rows
}

// reservationState is how a Reservation fares in one word, the gravest first.
type reservationState int

const (
	reservationFailed reservationState = iota
	reservationOverused
	reservationBlocked
	reservationCordoned
	reservationPending
	reservationIdle
	reservationUsed
	reservationExpired
	reservationSucceeded
)

func (s reservationState) word() string {
	return [...]string{"Failed", "Overused", "Blocked", "Cordoned", "Pending", "Idle", "Used", "Expired", "Succeeded"}[s]
}

func (s reservationState) ended() bool {
	return s == reservationFailed || s == reservationExpired || s == reservationSucceeded
}

func (s reservationState) mark(st *style.Set) (string, style.Style) {
	switch s {
	case reservationFailed, reservationOverused:
		return st.Cross, st.Bad
	case reservationBlocked:
		return st.Hot, st.Bad
	case reservationCordoned:
		return st.Half, st.Warn
	case reservationPending:
		return st.Wait, st.Dim
	case reservationIdle:
		return st.Half, st.Info
	case reservationUsed:
		return st.Good, st.OK
	case reservationExpired:
		return st.Late, st.Dim
	default:
		return st.Check, st.OK
	}
}

// reservationProblem selects Reservations for problems-only mode.
func reservationProblem(r *reservationRow) bool { return r.state <= reservationCordoned }

// reservationStateOf is the state of a Reservation, and why it is that where that has to be said.
func reservationStateOf(r *schedulingv1alpha1.Reservation) (reservationState, string) {
	ready, scheduled := reservationCondition(r, schedulingv1alpha1.ReservationConditionReady), reservationCondition(r, schedulingv1alpha1.ReservationConditionScheduled)
	switch {
	case r.Status.Phase == schedulingv1alpha1.ReservationSucceeded:
		return reservationSucceeded, ready.Message
	case r.Status.Phase == schedulingv1alpha1.ReservationFailed && ready.Reason == schedulingv1alpha1.ReasonReservationExpired:
		return reservationExpired, ready.Message
	case r.Status.Phase == schedulingv1alpha1.ReservationFailed:
		return reservationFailed, reasonAnd(ready.Reason, ready.Message)
	case r.Status.NodeName == "" && scheduled.Reason == schedulingv1alpha1.ReasonReservationUnschedulable:
		return reservationBlocked, scheduled.Message
	case r.Status.Phase != schedulingv1alpha1.ReservationAvailable:
		return reservationPending, scheduled.Message
	}
	for _, name := range reservedNames(r) {
		if a := reservedAmountOf(r, name); a.allocated > a.allocatable {
			return reservationOverused, fmt.Sprintf("%s: pods have taken %s of %s", coreamount.ShortName(name), a.write(a.allocated), a.write(a.allocatable))
		}
	}
	switch {
	case r.Spec.Unschedulable:
		return reservationCordoned, "spec.unschedulable is set: no further pod may use it"
	case len(r.Status.CurrentOwners) == 0:
		return reservationIdle, "no pod uses what is reserved"
	}
	return reservationUsed, ""
}

func reservationCondition(r *schedulingv1alpha1.Reservation, of schedulingv1alpha1.ReservationConditionType) schedulingv1alpha1.ReservationCondition {
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == of {
			return r.Status.Conditions[i]
		}
	}
	return schedulingv1alpha1.ReservationCondition{}
}

// reservedAmount is one resource of a Reservation.
type reservedAmount struct {
	resource               corev1.ResourceName
	allocated, allocatable int64
}

// reservedAmountOf is what is reserved of a resource, and taken of that by pods.
func reservedAmountOf(r *schedulingv1alpha1.Reservation, name corev1.ResourceName) reservedAmount {
	return reservedAmount{name, coreamount.Of(name, r.Status.Allocated[name]), coreamount.Of(name, r.Status.Allocatable[name])}
}

func (a reservedAmount) write(v int64) string {
	q := quotaAmounts{Resource: a.resource}
	return q.write(&v)
}

func (a reservedAmount) String() string {
	if a.allocatable == 0 && a.allocated == 0 {
		return quantity.None
	}
	return a.write(a.allocated) + "/" + a.write(a.allocatable)
}

// reservedNames are the resources of a Reservation.
func reservedNames(r *schedulingv1alpha1.Reservation) []corev1.ResourceName {
	var out []corev1.ResourceName
	for name := range r.Status.Allocatable {
		out = append(out, name)
	}
	for name := range r.Status.Allocated {
		if _, reserved := r.Status.Allocatable[name]; !reserved {
			out = append(out, name)
		}
	}
	coreamount.Sort(out)
	return out
}

// expiryOf is when a Reservation ends; nil for one that has ended, and without an end.
func expiryOf(r *reservationRow) *metav1.Time {
	at, expires := reservation.ExpiresAt(r.Reservation)
	if r.state.ended() || !expires {
		return nil
	}
	return &metav1.Time{Time: at}
}

// usersText names the pods that use a Reservation: one, or how many.
func usersText(r *schedulingv1alpha1.Reservation) string {
	switch users := r.Status.CurrentOwners; len(users) {
	case 0:
		return ""
	case 1:
		return users[0].Namespace + "/" + users[0].Name
	default:
		return plural(len(users), "pod")
	}
}

// ownersText says which pods may use a Reservation. An owner that names nothing is left out, as the scheduler does.
func ownersText(r *schedulingv1alpha1.Reservation) string {
	var parts []string
	for _, o := range r.Spec.Owners {
		var terms []string
		if o.Object != nil {
			terms = append(terms, referenceText("pod", o.Object.Namespace, o.Object.Name, o.Object.UID))
		}
		if o.Controller != nil {
			c := o.Controller
			terms = append(terms, referenceText(cmp.Or(c.Kind, "controller"), c.Namespace, c.Name, c.UID))
		}
		if o.LabelSelector != nil {
			terms = append(terms, "pods with "+metav1.FormatLabelSelector(o.LabelSelector))
		}
		if len(terms) > 0 {
			parts = append(parts, strings.Join(terms, " and "))
		}
	}
	return strings.Join(parts, ", or ")
}

// referenceText is a reference to an object of which only the fields that are set are compared.
func referenceText(kind, namespace, name string, uid types.UID) string {
	switch {
	case name != "" && namespace != "":
		return kind + " " + namespace + "/" + name
	case name != "":
		return kind + " " + name
	case uid != "":
		return kind + " with uid " + string(uid)
	case namespace != "":
		return "any " + kind + " in namespace " + namespace
	}
	return "any " + kind
}

// createdText is the age of a Reservation.
func createdText(r *schedulingv1alpha1.Reservation, now time.Time) string {
	return quantity.AgeOf(now, r.CreationTimestamp.Time) + " ago"
}
