package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// ReservationLister is a source that lists Reservations. Implementations are safe for concurrent use.
type ReservationLister interface {
	// Reservations returns all Reservations, ordered by name.
	Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error)
}

// ReservationViewer is a source of overviews of Reservations with the pods that use them. Implementations are safe for concurrent use.
type ReservationViewer interface {
	// ReservationTree returns all Reservations, and those that pods name and that do not exist, ordered by name; with a name, those of that
	// name. Only the Reservations are indispensable. A name that does not exist is an error with code KOORD0003.
	ReservationTree(ctx context.Context, name string) (*diagnosticsv1alpha1.ReservationOverviewList, error)
}
