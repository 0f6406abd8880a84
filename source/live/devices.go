package live

import (
	"context"

	"golang.org/x/sync/errgroup"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.DeviceViewer = (*Source)(nil)

// DeviceOverviews reads Devices, and where there are any, pods, Reservations and nodes at the same time.
func (s *Source) DeviceOverviews(ctx context.Context, query source.DeviceQuery) (*diagnosticsv1alpha1.DeviceOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := &objects.DeviceSnapshot{All: len(query.Names) == 0 && query.LabelSelector == ""}
	incomplete, err := c.readDevices(ctx, query, in)
	if err != nil {
		return nil, err
	}
	nameOf := func(d *schedulingv1alpha1.Device) string { return d.Name }
	if in.Devices, err = named(in.Devices, query.Names, nameOf, func(name string) error { return c.missingDevice(ctx, name) }); err != nil {
		return nil, err
	}
	list := &diagnosticsv1alpha1.DeviceOverviewList{TypeMeta: kind("DeviceOverviewList"), Items: objects.DeviceOverviews(in), Incomplete: incomplete}
	for i := range list.Items {
		list.Items[i].TypeMeta = kind("DeviceOverview")
	}
	return list, nil
}

// readDevices reads what overviews of devices are made of, and returns what cannot be seen.
func (c *clients) readDevices(ctx context.Context, query source.DeviceQuery, in *objects.DeviceSnapshot) ([]string, error) {
	const unknownHolders = "who holds devices is not known, nor what is free"
	var unseen, other gaps
	by, one := selection{labels: query.LabelSelector}, ""
	var nodesBy selection
	if len(query.Names) == 1 {
		one = query.Names[0]
		by.fields, nodesBy.fields = equals("metadata.name", one), equals("metadata.name", one)
	}
	var err error
	if in.Devices, err = c.devices(ctx, by); err != nil || len(in.Devices) == 0 {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Pods, err = c.pods(ctx, selection{fields: running(one)}, podBriefDrop)
		return unseen.lacks(err, unknownHolders)
	})
	group.Go(func() (err error) {
		in.Reservations, err = c.reservations(ctx)
		return unseen.lacks(err, unknownHolders)
	})
	group.Go(func() (err error) {
		in.Nodes, err = c.nodes(ctx, nodesBy)
		return other.lacks(err, "the labels of the nodes are not known, such as whether they honor GPU partitions")
	})
	err = group.Wait()
	in.Unseen = len(unseen.all()) > 0
	return append(unseen.all(), other.all()...), err
}

// devices lists Devices; where they are not installed, that is an error.
func (c *clients) devices(ctx context.Context, by selection) ([]schedulingv1alpha1.Device, error) {
	return list(ctx, c.scheduling, requestFor("list", source.KindDevice, ""), by, splitJSON, func(raw []byte, into *schedulingv1alpha1.Device) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}

// missingDevice makes the error for a node without a Device, with the nearest name that has one.
func (c *clients) missingDevice(ctx context.Context, name string) error {
	r := requestFor("list", source.KindDevice, "")
	r.name = name
	return missingAmong(ctx, c.scheduling, r, "koordctl top devices")
}
