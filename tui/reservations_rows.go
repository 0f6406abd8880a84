package tui

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/decision/scheduling/reservationview"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// reservationRow is a Reservation with its state.
type reservationRow struct {
	*schedulingv1alpha1.Reservation
	state diagnostics.ReservationState
	why   string
}

func reservationRows(all []schedulingv1alpha1.Reservation) []reservationRow {
	rows := make([]reservationRow, len(all))
	for i := range all {
		rows[i].Reservation = &all[i]
		rows[i].state, rows[i].why = reservationview.StateOf(&all[i])
	}
	return rows
}

func reservationMark(state diagnostics.ReservationState, st *style.Set) (string, style.Style) {
	switch state {
	case diagnostics.ReservationFailed, diagnostics.ReservationOverused:
		return st.Cross, st.Bad
	case diagnostics.ReservationBlocked:
		return st.Hot, st.Bad
	case diagnostics.ReservationCordoned:
		return st.Half, st.Warn
	case diagnostics.ReservationPending:
		return st.Wait, st.Dim
	case diagnostics.ReservationIdle:
		return st.Half, st.Info
	case diagnostics.ReservationUsed:
		return st.Good, st.OK
	case diagnostics.ReservationExpired:
		return st.Late, st.Dim
	default:
		return st.Check, st.OK
	}
}

// reservationProblem selects Reservations for problems-only mode.
func reservationProblem(r *reservationRow) bool { return reservationview.IsProblem(r.state) }

// reservedAmount is one resource of a Reservation.
type reservedAmount reservationview.Amount

// reservedAmountOf is what is reserved of a resource, and taken of that by pods.
func reservedAmountOf(r *schedulingv1alpha1.Reservation, name corev1.ResourceName) reservedAmount {
	return reservedAmount(reservationview.AmountOf(r, name))
}

func (a reservedAmount) write(v int64) string {
	q := quotaAmounts{Resource: a.Resource}
	return q.write(&v)
}

func (a reservedAmount) String() string {
	if a.Reserved == 0 && a.Allocated == 0 {
		return quantity.None
	}
	return a.write(a.Allocated) + "/" + a.write(a.Reserved)
}

// expiryOf is when a Reservation ends; nil for one that has ended, and without an end.
func expiryOf(r *reservationRow) *metav1.Time {
	at, expires := reservation.ExpiresAt(r.Reservation)
	if reservationview.Ended(r.state) || !expires {
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

// ownersText says which pods may use a Reservation.
func ownersText(r *schedulingv1alpha1.Reservation) string {
	return strings.Join(reservationview.Owners(r), ", or ")
}

// createdText is the age of a Reservation.
func createdText(r *schedulingv1alpha1.Reservation, now time.Time) string {
	return quantity.AgeOf(now, r.CreationTimestamp.Time) + " ago"
}
