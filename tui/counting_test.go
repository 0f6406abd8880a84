package tui

import (
	"context"
	"sync/atomic"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// counting is a source that counts its questions. A screen may ask several at a time.
type counting struct {
	fixture.Source
	asked atomic.Int64
	// forecasts are those of the questions that are asked once.
	forecasts atomic.Int64
}

func (c *counting) Nodes(ctx context.Context, q source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	c.asked.Add(1)
	return c.Source.Nodes(ctx, q)
}

func (c *counting) Pods(ctx context.Context, q source.PodQuery) (*diagnostics.PodOverviewList, error) {
	c.asked.Add(1)
	return c.Source.Pods(ctx, q)
}

func (c *counting) ExplainNode(ctx context.Context, name string, spec diagnostics.NodeExplanationSpec) (*diagnostics.NodeExplanation, error) {
	c.asked.Add(1)
	return c.Source.ExplainNode(ctx, name, spec)
}

func (c *counting) ExplainPod(ctx context.Context, namespace, name string, spec diagnostics.PodExplanationSpec) (*diagnostics.PodExplanation, error) {
	c.asked.Add(1)
	return c.Source.ExplainPod(ctx, namespace, name, spec)
}

func (c *counting) Names(ctx context.Context, kind source.Kind, namespace string, limit int) ([]string, error) {
	c.asked.Add(1)
	return c.Source.Names(ctx, kind, namespace, limit)
}

func (c *counting) Migrations(ctx context.Context) (*source.Migrations, error) {
	c.asked.Add(1)
	return c.Source.Migrations(ctx)
}

func (c *counting) ExplainMigration(ctx context.Context, name string) (*diagnostics.MigrationExplanation, error) {
	c.asked.Add(1)
	return c.Source.ExplainMigration(ctx, name)
}

func (c *counting) ForecastMigrations(ctx context.Context, rounds int) (*diagnostics.MigrationForecast, error) {
	c.asked.Add(1)
	return c.Source.ForecastMigrations(ctx, rounds)
}

func (c *counting) ForecastDrain(ctx context.Context, q source.DrainQuery) (*diagnostics.DrainForecast, error) {
	c.asked.Add(1)
	c.forecasts.Add(1)
	return c.Source.ForecastDrain(ctx, q)
}

func (c *counting) ForecastPlacement(ctx context.Context, q source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	c.asked.Add(1)
	if !q.Waiting { // else what nodes would offer was asked for first
		c.forecasts.Add(1)
	}
	return c.Source.ForecastPlacement(ctx, q)
}

func (c *counting) Quotas(ctx context.Context) ([]source.Quota, error) {
	c.asked.Add(1)
	return c.Source.Quotas(ctx)
}

func (c *counting) Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) {
	c.asked.Add(1)
	return c.Source.Reservations(ctx)
}

func (c *counting) Gangs(ctx context.Context) (*source.Gangs, error) {
	c.asked.Add(1)
	return c.Source.Gangs(ctx)
}

func (c *counting) DeviceOverviews(ctx context.Context, q source.DeviceQuery) (*diagnostics.DeviceOverviewList, error) {
	c.asked.Add(1)
	return c.Source.DeviceOverviews(ctx, q)
}

func (c *counting) Workloads(ctx context.Context, q source.WorkloadQuery) (*diagnostics.WorkloadOverviewList, error) {
	c.asked.Add(1)
	return c.Source.Workloads(ctx, q)
}

func (c *counting) ExplainWorkload(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.WorkloadExplanation, error) {
	c.asked.Add(1)
	return c.Source.ExplainWorkload(ctx, kind, namespace, name)
}

func (c *counting) PodTimeline(ctx context.Context, namespace, name string) (*diagnostics.PodTimeline, error) {
	c.asked.Add(1)
	return c.Source.PodTimeline(ctx, namespace, name)
}

func (c *counting) Configuration(ctx context.Context, namespace string) (*source.Configuration, error) {
	c.asked.Add(1)
	return c.Source.Configuration(ctx, namespace)
}

func (c *counting) Impact(ctx context.Context) (*source.Impact, error) {
	c.asked.Add(1)
	c.forecasts.Add(1)
	return c.Source.Impact(ctx)
}

func (c *counting) Workers(ctx context.Context, q source.WorkersQuery) (*diagnostics.WorkersExplanationList, error) {
	c.asked.Add(1)
	return c.Source.Workers(ctx, q)
}

func (c *counting) ExplainWorkers(ctx context.Context, namespace, name string) (*diagnostics.WorkersExplanation, error) {
	c.asked.Add(1)
	return c.Source.ExplainWorkers(ctx, namespace, name)
}

func (c *counting) ObjectTimeline(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.ObjectTimeline, error) {
	c.asked.Add(1)
	return c.Source.ObjectTimeline(ctx, kind, namespace, name)
}
