package tui

import (
	"context"
	"slices"
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// arranged is the cluster of the fixture whose lists come in another order, or with objects missing.
type arranged struct {
	fixture.Source
	// empty leaves nothing in lists, and reversed gives them in the opposite order.
	empty, reversed bool
	// gone is the key of an object that is no longer there, neither in lists nor by its name.
	gone string
	// only is the key of the one object that lists have; empty for all.
	only string
}

func arrange[T any](a *arranged, all []T, about func(*T) object) []T {
	var out []T
	for i := range all {
		key := about(&all[i]).key()
		if !a.empty && (a.gone == "" || key != a.gone) && (a.only == "" || key == a.only) {
			out = append(out, all[i])
		}
	}
	if a.reversed {
		slices.Reverse(out)
	}
	return out
}

// rearrangeable begins a rig whose lists can be arranged.
func rearrangeable(t testing.TB) (*rig, *arranged) {
	t.Helper()
	r := newRig(t, 30)
	a := &arranged{Source: r.src.Source}
	r.src.Source = a
	return r, a
}

// lost is the error about an object that is gone; nil when it is there.
func (a *arranged) lost(kind source.Kind, key string) error {
	if a.gone == "" || key != a.gone {
		return nil
	}
	return notFound(kind, key)
}

func (a *arranged) Nodes(ctx context.Context, q source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	if len(q.Names) > 0 && a.lost(source.KindNode, q.Names[0]) != nil {
		return nil, a.lost(source.KindNode, q.Names[0])
	}
	list, err := a.Source.Nodes(ctx, q)
	if err == nil && len(q.Names) == 0 {
		list.Items = arrange(a, list.Items, func(n *diagnostics.NodeOverview) object { return nodeObject(n.Name) })
	}
	return list, err
}

func (a *arranged) Configuration(ctx context.Context, namespace string) (*source.Configuration, error) {
	current, err := a.Source.Configuration(ctx, namespace)
	if err == nil && a.empty {
		current.Exists, current.Data = false, nil
	}
	return current, err
}

func (a *arranged) Pods(ctx context.Context, q source.PodQuery) (*diagnostics.PodOverviewList, error) {
	if len(q.Names) > 0 && a.lost(source.KindPod, q.Namespace+"/"+q.Names[0]) != nil {
		return nil, a.lost(source.KindPod, q.Namespace+"/"+q.Names[0])
	}
	list, err := a.Source.Pods(ctx, q)
	if err == nil && len(q.Names) == 0 {
		list.Items = arrange(a, list.Items, func(p *diagnostics.PodOverview) object { return podObject(p.Namespace, p.Name) })
	}
	return list, err
}

func (a *arranged) Migrations(ctx context.Context) (*source.Migrations, error) {
	list, err := a.Source.Migrations(ctx)
	if err == nil {
		list.Items = arrange(a, list.Items, func(e *diagnostics.MigrationExplanation) object { return migrationObject(e.Name) })
	}
	return list, err
}

func (a *arranged) ForecastMigrations(ctx context.Context, rounds int) (*diagnostics.MigrationForecast, error) {
	list, err := a.Source.ForecastMigrations(ctx, rounds)
	if err == nil {
		list.Moves = arrange(a, list.Moves, func(m *diagnostics.ForecastMove) object { return podObject(m.Namespace, m.Name) })
	}
	return list, err
}

func (a *arranged) ForecastDrain(ctx context.Context, q source.DrainQuery) (*diagnostics.DrainForecast, error) {
	if err := a.lost(source.KindNode, q.Names[0]); err != nil {
		return nil, err
	}
	f, err := a.Source.ForecastDrain(ctx, q)
	if err == nil {
		f.Pods = arrange(a, f.Pods, func(p *diagnostics.DrainedPod) object { return podObject(p.Namespace, p.Name) })
	}
	return f, err
}

func (a *arranged) ForecastPlacement(ctx context.Context, q source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	if err := a.lost(q.Copied.Kind, q.Copied.Namespace+"/"+q.Copied.Name); err != nil {
		return nil, err
	}
	return a.Source.ForecastPlacement(ctx, q)
}

func (a *arranged) Quotas(ctx context.Context) ([]source.Quota, error) {
	list, err := a.Source.Quotas(ctx)
	return arrange(a, list, func(q *source.Quota) object { return quotaObject(q.Namespace, q.Name) }), err
}

func (a *arranged) Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) {
	list, err := a.Source.Reservations(ctx)
	return arrange(a, list, func(r *schedulingv1alpha1.Reservation) object { return reservationObject(r.Name) }), err
}

func (a *arranged) Gangs(ctx context.Context) (*source.Gangs, error) {
	list, err := a.Source.Gangs(ctx)
	if err == nil {
		list.Items = arrange(a, list.Items, func(g *source.Gang) object { return gangObject(g.Namespace, g.Name) })
	}
	return list, err
}

func (a *arranged) DeviceOverviews(ctx context.Context, q source.DeviceQuery) (*diagnostics.DeviceOverviewList, error) {
	if len(q.Names) > 0 && a.lost(source.KindDevice, q.Names[0]) != nil {
		return nil, a.lost(source.KindDevice, q.Names[0])
	}
	list, err := a.Source.DeviceOverviews(ctx, q)
	if err == nil && len(q.Names) == 0 {
		list.Items = arrange(a, list.Items, func(o *diagnostics.DeviceOverview) object { return deviceObject(o.Name) })
	}
	return list, err
}

func (a *arranged) Workloads(ctx context.Context, q source.WorkloadQuery) (*diagnostics.WorkloadOverviewList, error) {
	list, err := a.Source.Workloads(ctx, q)
	if err == nil {
		list.Items = arrange(a, list.Items, func(w *diagnostics.WorkloadOverview) object { return workloadObject(w.Namespace, w.Name) })
	}
	return list, err
}

func (a *arranged) ExplainWorkload(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.WorkloadExplanation, error) {
	if a.lost(source.KindWorkload, namespace+"/"+kind.Name+"/"+name) != nil {
		return nil, notFound(kind, name)
	}
	return a.Source.ExplainWorkload(ctx, kind, namespace, name)
}

func (a *arranged) ExplainNode(ctx context.Context, name string, spec diagnostics.NodeExplanationSpec) (*diagnostics.NodeExplanation, error) {
	if err := a.lost(source.KindNode, name); err != nil {
		return nil, err
	}
	return a.Source.ExplainNode(ctx, name, spec)
}

func (a *arranged) ExplainPod(ctx context.Context, namespace, name string, spec diagnostics.PodExplanationSpec) (*diagnostics.PodExplanation, error) {
	if err := a.lost(source.KindPod, namespace+"/"+name); err != nil {
		return nil, err
	}
	return a.Source.ExplainPod(ctx, namespace, name, spec)
}

func (a *arranged) ExplainMigration(ctx context.Context, name string) (*diagnostics.MigrationExplanation, error) {
	if err := a.lost(source.KindMigration, name); err != nil {
		return nil, err
	}
	return a.Source.ExplainMigration(ctx, name)
}

func (a *arranged) PodTimeline(ctx context.Context, namespace, name string) (*diagnostics.PodTimeline, error) {
	if err := a.lost(source.KindPod, namespace+"/"+name); err != nil {
		return nil, err
	}
	return a.Source.PodTimeline(ctx, namespace, name)
}

func (a *arranged) Workers(ctx context.Context, q source.WorkersQuery) (*diagnostics.WorkersExplanationList, error) {
	list, err := a.Source.Workers(ctx, q)
	if err == nil {
		list.Items = arrange(a, list.Items, func(e *diagnostics.WorkersExplanation) object { return workersObject(e.Namespace, e.Name) })
	}
	return list, err
}

func (a *arranged) ExplainWorkers(ctx context.Context, namespace, name string) (*diagnostics.WorkersExplanation, error) {
	if err := a.lost(source.KindWorkers, namespace+"/"+name); err != nil {
		return nil, err
	}
	return a.Source.ExplainWorkers(ctx, namespace, name)
}

func (a *arranged) ObjectTimeline(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.ObjectTimeline, error) {
	if err := a.lost(kind, object{namespace: namespace, name: name}.key()); err != nil {
		return nil, err
	}
	return a.Source.ObjectTimeline(ctx, kind, namespace, name)
}
