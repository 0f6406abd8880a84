package live

import (
	"cmp"
	"context"
	"slices"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
)

var _ source.ReservationLister = (*Source)(nil)

// Reservations lists the Reservations.
func (s *Source) Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, err := c.reservations(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b schedulingv1alpha1.Reservation) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// reservations lists the Reservations.
func (c *clients) reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) {
	return list(ctx, c.scheduling, requestFor("list", source.KindReservation, ""), selection{}, splitJSON, func(raw []byte, into *schedulingv1alpha1.Reservation) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}
