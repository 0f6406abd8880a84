package live

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.MigrationExplainer = (*Source)(nil)

// unknownGates is the consequence of an object of a job that cannot be read.
const unknownGates = "what the job waits for is unknown"

// ExplainMigration reads a job and the objects it is about, and decides as koord-descheduler does.
func (s *Source) ExplainMigration(ctx context.Context, name string) (*diagnosticsv1alpha1.MigrationExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	job := &schedulingv1alpha1.PodMigrationJob{}
	r := requestFor("get", source.KindMigration, "")
	r.name = name
	if err := getJSON(ctx, c.scheduling, r, job); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missingAmong(ctx, c.scheduling, r, "kubectl get "+r.qualified())
		}
		return nil, err
	}
	reader := &migrationReader{source: s, clients: c, in: objects.MigrationJobSnapshot{Job: job, Args: migration.DefaultArgs(), Now: s.options.Clock.Now()}}
	if err := reader.read(ctx); err != nil {
		return nil, err
	}
	answer := objects.ExplainMigration(reader.in)
	answer.TypeMeta = kind("MigrationExplanation")
	return answer, nil
}

// migrationReader reads what a job is about.
type migrationReader struct {
	source  *Source
	clients *clients
	in      objects.MigrationJobSnapshot
	gaps    gaps
}

// read reads first what the job names, and then what the Reservation names.
func (m *migrationReader) read(ctx context.Context) error {
	var podUnseen, reservationUnseen, nodeUnseen, replacementUnseen, workloadUnseen, requestUnseen bool
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		m.in.Pod, podUnseen, err = m.readPod(groupContext, m.in.Job.Spec.PodRef)
		return err
	})
	group.Go(func() (err error) {
		r := requestFor("get", source.KindReservation, "")
		r.name = migration.ReservationName(m.in.Job)
		reservation := &schedulingv1alpha1.Reservation{}
		var found bool
		found, reservationUnseen, err = m.seen(getJSON(groupContext, m.clients.scheduling, r, reservation), unknownGates)
		if found {
			m.in.Reservation = reservation
		}
		return err
	})
	group.Go(func() (err error) {
		m.in.Jobs, err = m.clients.migrationJobs(groupContext)
		m.in.JobsSeen, _, err = m.seen(err, "the other jobs are unknown")
		return err
	})
	group.Go(func() error { return m.args(groupContext) })
	if err := group.Wait(); err != nil {
		return err
	}
	group, groupContext = errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		m.in.Node, nodeUnseen, err = m.node(groupContext)
		return err
	})
	group.Go(func() (err error) {
		m.in.Replacement, replacementUnseen, err = m.readPod(groupContext, objects.ReplacementOf(m.in.Job, m.in.Reservation))
		return err
	})
	group.Go(func() (err error) {
		workloadUnseen, err = m.workload(groupContext)
		return err
	})
	group.Go(func() (err error) {
		requestUnseen, err = m.evictionRequest(groupContext)
		return err
	})
	err := group.Wait()
	m.in.Unseen = podUnseen || reservationUnseen || nodeUnseen || replacementUnseen || workloadUnseen || requestUnseen
	m.in.Missing = m.gaps.all()
	return err
}

// seen distinguishes an object that does not exist from one that could not be read, which is a gap of the answer. An interruption stays an error.
func (m *migrationReader) seen(err error, consequence string) (found, unseen bool, _ error) {
	switch {
	case err == nil:
		return true, false, nil
	case hasCode(err, finding.NotFound):
		return false, false, nil
	case canceled(context.Background(), err):
		return false, true, err
	}
	m.gaps.add(text(err, consequence))
	return false, true, nil
}

func (m *migrationReader) readPod(ctx context.Context, ref *corev1.ObjectReference) (pod *corev1.Pod, unseen bool, err error) {
	if ref == nil || ref.Name == "" || ref.Namespace == "" {
		return nil, false, nil
	}
	read := &corev1.Pod{}
	found, unseen, err := m.seen(m.clients.get(ctx, "pods", ref.Namespace, ref.Name, read), unknownGates)
	if !found {
		return nil, unseen, err
	}
	return read, false, nil
}

func (m *migrationReader) node(ctx context.Context) (node *corev1.Node, unseen bool, err error) {
	if m.in.Reservation == nil || m.in.Reservation.Status.NodeName == "" {
		return nil, false, nil
	}
	read := &corev1.Node{}
	found, unseen, err := m.seen(m.clients.get(ctx, "nodes", "", m.in.Reservation.Status.NodeName, read), unknownGates)
	if !found {
		return nil, unseen, err
	}
	return read, false, nil
}

// args reads the arguments of the MigrationController. Where that fails, the defaults stand in for them.
func (m *migrationReader) args(ctx context.Context) error {
	const consequence = "the default arguments of the MigrationController are assumed"
	config := &corev1.ConfigMap{}
	err := m.clients.get(ctx, "configmaps", m.source.options.SystemNamespace, configuration.DeschedulerConfigMapName, config)
	if err == nil {
		if m.in.Args, err = objects.MigrationArgs(config.Data[configuration.DeschedulerConfigMapName]); err != nil {
			err = fmt.Errorf("configmap %s/%s: %w", m.source.options.SystemNamespace, configuration.DeschedulerConfigMapName, err)
		}
	}
	if hasCode(err, finding.NotFound) {
		m.gaps.add(text(err, consequence))
		return nil
	}
	_, _, err = m.seen(err, consequence)
	return err
}

var _ source.MigrationJobLister = (*Source)(nil)

// MigrationJobs lists all PodMigrationJobs.
func (s *Source) MigrationJobs(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	jobs, err := c.migrationJobs(ctx)
	if hasCode(err, finding.NotInstalled) {
		return nil, nil
	}
	return jobs, err
}

// migrationJobs lists the PodMigrationJobs.
func (c *clients) migrationJobs(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error) {
	return list(ctx, c.scheduling, requestFor("list", source.KindMigration, ""), selection{}, splitJSON, func(raw []byte, into *schedulingv1alpha1.PodMigrationJob) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}

// getJSON reads one object of a custom resource; a missing one is an error with code KOORD0003.
func getJSON(ctx context.Context, client rest.Interface, r request, into any) error {
	raw, err := rawOf(client.Get().NamespaceIfScoped(r.namespace, r.namespace != "").Resource(r.resource).Name(r.name).
		MaxRetries(retries).SetHeader("Accept", "application/json").Do(ctx))
	if err != nil {
		return failure(ctx, r, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return nil
}
