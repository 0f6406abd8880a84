package live

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.MigrationLister = (*Source)(nil)

// podMigratedDrop is a pod as its migration needs it: with its owners, its scheduler and its conditions.
var podMigratedDrop = dropped{1: metadataDrop, 2: podBriefDrop[2], 3: numbers(5, 6, 8, 10, 12, 13, 16)}

// Migrations lists the jobs, and what those that have not ended are about: the pods, Reservations and nodes of the cluster, each in one
// request. The decision is that of koord-descheduler.
func (s *Source) Migrations(ctx context.Context) (*source.Migrations, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	jobs, err := c.migrationJobs(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b schedulingv1alpha1.PodMigrationJob) int { return cmp.Compare(a.Name, b.Name) })
	world := &migratedWorld{migrationReader: migrationReader{source: s, clients: c, in: objects.MigrationJobSnapshot{
		Args: migration.DefaultArgs(), Now: s.options.Clock.Now(),
	}}}
	if slices.ContainsFunc(jobs, func(j schedulingv1alpha1.PodMigrationJob) bool { return !migration.Finished(&j) }) {
		if err := world.read(ctx); err != nil {
			return nil, err
		}
	}
	out := &source.Migrations{Incomplete: world.gaps.all()}
	for i := range jobs {
		out.Items = append(out.Items, *objects.ExplainMigration(world.of(&jobs[i])))
	}
	return out, nil
}

// migratedWorld is what all jobs are about.
type migratedWorld struct {
	migrationReader
	pods         map[string]*corev1.Pod
	reservations map[string]*schedulingv1alpha1.Reservation
	nodes        map[string]*corev1.Node
	unseen       bool
}

func (w *migratedWorld) read(ctx context.Context) error {
	var podsUnseen, reservationsUnseen, nodesUnseen bool
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() error {
		pods, err := w.clients.pods(groupContext, selection{}, podMigratedDrop)
		w.pods = byKey(pods, func(p *corev1.Pod) string { return p.Namespace + "/" + p.Name })
		_, podsUnseen, err = w.seen(err, unknownGates)
		return err
	})
	group.Go(func() error {
		reservations, err := w.clients.reservations(groupContext)
		w.reservations = byKey(reservations, func(r *schedulingv1alpha1.Reservation) string { return r.Name })
		_, reservationsUnseen, err = w.seen(err, unknownGates)
		return err
	})
	group.Go(func() error {
		nodes, err := w.clients.nodes(groupContext, selection{})
		w.nodes = byKey(nodes, func(n *corev1.Node) string { return n.Name })
		_, nodesUnseen, err = w.seen(err, unknownGates)
		return err
	})
	group.Go(func() error { return w.args(groupContext) })
	err := group.Wait()
	w.unseen = podsUnseen || reservationsUnseen || nodesUnseen
	return err
}

func byKey[T any](items []T, key func(*T) string) map[string]*T {
	out := make(map[string]*T, len(items))
	for i := range items {
		out[key(&items[i])] = &items[i]
	}
	return out
}

// of is what one job is about.
func (w *migratedWorld) of(job *schedulingv1alpha1.PodMigrationJob) objects.MigrationJobSnapshot {
	in := w.in
	in.Job, in.Unseen = job, w.unseen
	if migration.Finished(job) {
		return in
	}
	in.Pod = w.pod(job.Spec.PodRef)
	in.Reservation = w.reservations[migration.ReservationName(job)]
	if in.Reservation != nil {
		in.Node = w.nodes[in.Reservation.Status.NodeName]
	}
	in.Replacement = w.pod(objects.ReplacementOf(job, in.Reservation))
	return in
}

func (w *migratedWorld) pod(ref *corev1.ObjectReference) *corev1.Pod {
	if ref == nil {
		return nil
	}
	return w.pods[ref.Namespace+"/"+ref.Name]
}
