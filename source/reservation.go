package source

import (
	"context"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// ReservationLister is a source that lists Reservations. Implementations are safe for concurrent use.
type ReservationLister interface {
	// Reservations returns all Reservations, ordered by name.
	Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error)
}
