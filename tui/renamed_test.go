package tui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// renamed is the cluster of the fixture with other texts: the names, and what is said of its objects.
type renamed struct {
	fixture.Source
	t testing.TB
	// to gives what the fixture says its other text, and from takes it back in questions.
	to, from *strings.Replacer
}

// rename begins a rig whose cluster has other texts, given as pairs of the old and the new.
func rename(t testing.TB, pairs ...string) *rig {
	t.Helper()
	r, back := newRig(t, 30), make([]string, 0, len(pairs))
	for i := 0; i < len(pairs); i += 2 {
		back = append(back, pairs[i+1], pairs[i])
	}
	r.src.Source = &renamed{r.src.Source, t, strings.NewReplacer(pairs...), strings.NewReplacer(back...)}
	return r
}

// openRenamed opens a screen about its sample, under the name that it has now.
func (r *rig) openRenamed(name string) *rig {
	r.t.Helper()
	s := r.m.screenOf(name)
	about, to := sampleOf(s), r.src.Source.(*renamed).to
	about.namespace, about.name = to.Replace(about.namespace), to.Replace(about.name)
	r.run(r.m.open(name, about))
	return r
}

// other is an answer with other texts. It goes through JSON, so that every text of it is replaced.
func other[A any](n *renamed, answer A, err error) (A, error) {
	n.t.Helper()
	var out A
	if err != nil {
		return out, err
	}
	raw, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal([]byte(n.to.Replace(string(raw))), &out)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return out, nil
}

func (n *renamed) all(names []string) []string {
	out := make([]string, len(names))
	for i := range names {
		out[i] = n.from.Replace(names[i])
	}
	return out
}

func (n *renamed) Nodes(ctx context.Context, q source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	q.Names = n.all(q.Names)
	a, err := n.Source.Nodes(ctx, q)
	return other(n, a, err)
}

func (n *renamed) Pods(ctx context.Context, q source.PodQuery) (*diagnostics.PodOverviewList, error) {
	q.Names, q.Namespace, q.NodeName = n.all(q.Names), n.from.Replace(q.Namespace), n.from.Replace(q.NodeName)
	a, err := n.Source.Pods(ctx, q)
	return other(n, a, err)
}

func (n *renamed) ExplainNode(ctx context.Context, name string, spec diagnostics.NodeExplanationSpec) (*diagnostics.NodeExplanation, error) {
	a, err := n.Source.ExplainNode(ctx, n.from.Replace(name), spec)
	return other(n, a, err)
}

func (n *renamed) ExplainPod(ctx context.Context, namespace, name string, spec diagnostics.PodExplanationSpec) (*diagnostics.PodExplanation, error) {
	a, err := n.Source.ExplainPod(ctx, n.from.Replace(namespace), n.from.Replace(name), spec)
	return other(n, a, err)
}

func (n *renamed) Migrations(ctx context.Context) (*source.Migrations, error) {
	a, err := n.Source.Migrations(ctx)
	return other(n, a, err)
}

func (n *renamed) ExplainMigration(ctx context.Context, name string) (*diagnostics.MigrationExplanation, error) {
	a, err := n.Source.ExplainMigration(ctx, n.from.Replace(name))
	return other(n, a, err)
}

func (n *renamed) ForecastMigrations(ctx context.Context, rounds int) (*diagnostics.MigrationForecast, error) {
	a, err := n.Source.ForecastMigrations(ctx, rounds)
	return other(n, a, err)
}

func (n *renamed) ForecastDrain(ctx context.Context, q source.DrainQuery) (*diagnostics.DrainForecast, error) {
	q.Names = n.all(q.Names)
	a, err := n.Source.ForecastDrain(ctx, q)
	return other(n, a, err)
}

func (n *renamed) ForecastPlacement(ctx context.Context, q source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	q.Copied.Namespace, q.Copied.Name = n.from.Replace(q.Copied.Namespace), n.from.Replace(q.Copied.Name)
	a, err := n.Source.ForecastPlacement(ctx, q)
	return other(n, a, err)
}

func (n *renamed) Quotas(ctx context.Context) ([]source.Quota, error) {
	a, err := n.Source.Quotas(ctx)
	return other(n, a, err)
}

func (n *renamed) Reservations(ctx context.Context) ([]schedulingv1alpha1.Reservation, error) {
	a, err := n.Source.Reservations(ctx)
	return other(n, a, err)
}

func (n *renamed) DeviceOverviews(ctx context.Context, q source.DeviceQuery) (*diagnostics.DeviceOverviewList, error) {
	a, err := n.Source.DeviceOverviews(ctx, q)
	return other(n, a, err)
}

func (n *renamed) Gangs(ctx context.Context) (*source.Gangs, error) {
	a, err := n.Source.Gangs(ctx)
	return other(n, a, err)
}

func (n *renamed) Workloads(ctx context.Context, q source.WorkloadQuery) (*diagnostics.WorkloadOverviewList, error) {
	q.Namespace = n.from.Replace(q.Namespace)
	a, err := n.Source.Workloads(ctx, q)
	return other(n, a, err)
}

func (n *renamed) ExplainWorkload(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.WorkloadExplanation, error) {
	a, err := n.Source.ExplainWorkload(ctx, kind, n.from.Replace(namespace), n.from.Replace(name))
	return other(n, a, err)
}

func (n *renamed) PodTimeline(ctx context.Context, namespace, name string) (*diagnostics.PodTimeline, error) {
	a, err := n.Source.PodTimeline(ctx, n.from.Replace(namespace), n.from.Replace(name))
	return other(n, a, err)
}

func (n *renamed) Workers(ctx context.Context, q source.WorkersQuery) (*diagnostics.WorkersExplanationList, error) {
	q.Namespace = n.from.Replace(q.Namespace)
	a, err := n.Source.Workers(ctx, q)
	return other(n, a, err)
}

func (n *renamed) ExplainWorkers(ctx context.Context, namespace, name string) (*diagnostics.WorkersExplanation, error) {
	a, err := n.Source.ExplainWorkers(ctx, n.from.Replace(namespace), n.from.Replace(name))
	return other(n, a, err)
}

func (n *renamed) ObjectTimeline(ctx context.Context, kind source.Kind, namespace, name string) (*diagnostics.ObjectTimeline, error) {
	a, err := n.Source.ObjectTimeline(ctx, kind, n.from.Replace(namespace), n.from.Replace(name))
	return other(n, a, err)
}
