package live

import (
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/reservationview"
	"koordinator.sh/koord/source"
)

var _ source.ReservationViewer = (*Source)(nil)

// ReservationTree lists Reservations, and the pods where there are any.
func (s *Source) ReservationTree(ctx context.Context, name string) (*diagnosticsv1alpha1.ReservationOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var gaps gaps
	var in reservationview.Input
	if in.Reservations, err = c.reservations(ctx); err != nil {
		return nil, err
	}
	if len(in.Reservations) > 0 {
		in.Pods, err = c.pods(ctx, selection{fields: running("")}, podBriefDrop)
		if err := gaps.lacks(err, "the pods that use Reservations are those that koord-scheduler published"); err != nil {
			return nil, err
		}
	}
	in.Unseen = len(gaps.all()) > 0
	list := &diagnosticsv1alpha1.ReservationOverviewList{
		TypeMeta: kind("ReservationOverviewList"), Items: reservationview.Overviews(in), Incomplete: gaps.all(),
	}
	if name != "" {
		list.Items = slices.DeleteFunc(list.Items, func(o diagnosticsv1alpha1.ReservationOverview) bool { return o.Name != name })
		if len(list.Items) == 0 {
			r := requestFor("list", source.KindReservation, "")
			r.name = name
			return nil, missingAmong(ctx, c.scheduling, r, "koordctl tree reservation")
		}
	}
	for i := range list.Items {
		list.Items[i].TypeMeta = kind("ReservationOverview")
	}
	return list, nil
}
