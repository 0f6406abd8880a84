package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.MigrationForecaster = (*Source)(nil)

// podEvictableDrop is a pod as its eviction needs it: podDrop with its volumes.
var podEvictableDrop = dropped{
	1: metadataDrop,
	2: numbers(8, 9, 14, 15, 23, 26, 28, 34).with(2, containerDrop).with(20, containerDrop),
	3: podDrop[3],
}

// ForecastMigrations reads what the descheduler decides from, and runs its decisions.
func (s *Source) ForecastMigrations(ctx context.Context, rounds int) (*diagnosticsv1alpha1.MigrationForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	in := &objects.MigrationSnapshot{Rounds: rounds, Now: s.options.Clock.Now()}
	var gaps gaps
	var frozenIn []string // namespaces
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Nodes, err = c.nodes(groupContext, selection{})
		return err
	})
	group.Go(func() (err error) {
		in.Pods, err = c.pods(groupContext, selection{fields: running("")}, podEvictableDrop)
		return err
	})
	group.Go(func() (err error) {
		in.Metrics, err = c.metrics(groupContext, selection{}, always(metricBriefDrop))
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown, and no node counts as overutilized")
	})
	group.Go(func() (err error) {
		in.Jobs, err = c.migrationJobs(groupContext)
		return gaps.lacks(err, "which pods are leaving already is unknown")
	})
	group.Go(func() (err error) {
		frozenIn, err = s.plugins(groupContext, c, in, &gaps)
		return err
	})
	group.Go(func() (err error) {
		in.SLOs, err = c.nodeSLOs(groupContext)
		return gaps.lacks(err, "from which load on agents hold best-effort pods back and evict is unknown")
	})
	group.Go(func() error {
		settings, err := s.schedulerSettings(groupContext, c)
		in.LoadAware = settings.LoadAware
		return gaps.lacks(err, "koord-scheduler is taken to have its default thresholds")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	in.Above, err = c.aboveReplicaSets(ctx, in.Jobs, frozenIn)
	if err := gaps.lacks(err, "to which Deployments pods belong is unknown"); err != nil {
		return nil, err
	}
	in.Missing = gaps.all()
	var failed error
	in.Review = func(question *diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding) {
		review, note, err := c.reviewPlacements(ctx, question)
		if failed = err; err != nil {
			return nil, &diagnosticsv1alpha1.Finding{Message: err.Error()}
		}
		return review, withoutAlternative(note)
	}
	answer, err := objects.ForecastMigrations(in)
	if err = errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("forecast migrations: %w", err)
	}
	return answer, nil
}

// plugins reads which plugins koord-descheduler runs, and what each of them knows besides; frozenIn are the namespaces of frozen workloads.
func (s *Source) plugins(ctx context.Context, c *clients, in *objects.MigrationSnapshot, gaps *gaps) (frozenIn []string, err error) {
	if in.Descheduler, err = s.descheduler(ctx, c, gaps); err != nil {
		return nil, err
	}
	if in.Descheduler.Runs(rebalance.PluginName) {
		if in.Frozen, frozenIn, err = c.frozenWorkloads(ctx, gaps); err != nil {
			return nil, err
		}
	}
	if !in.Descheduler.Runs(lownodeload.PluginName) {
		return frozenIn, nil
	}
	kept := &corev1.ConfigMap{}
	err = c.get(ctx, "configmaps", s.options.SystemNamespace, lownodeload.HistoryConfigMap, kept)
	in.Counts = kept.Data
	return frozenIn, gaps.lacks(err, "how often in a row nodes were overutilized is unknown")
}

// aboveReplicaSets reads the controllers of ReplicaSets, by their UID, in the namespaces of which jobs moved pods, and in more.
func (c *clients) aboveReplicaSets(ctx context.Context, jobs []schedulingv1alpha1.PodMigrationJob, more []string) (map[types.UID]*metav1.OwnerReference, error) {
	namespaces := map[string]bool{}
	for _, namespace := range more {
		namespaces[namespace] = true
	}
	for _, move := range loopguard.MovesOf(jobs) {
		if namespace, _, named := strings.Cut(move.Pod, "/"); named {
			namespaces[namespace] = true
		}
	}
	above := map[types.UID]*metav1.OwnerReference{}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		sets, err := c.replicaSets(ctx, namespace)
		if err != nil {
			return above, err
		}
		for i := range sets {
			if controller := metav1.GetControllerOf(&sets[i]); controller != nil {
				above[sets[i].UID] = controller
			}
		}
	}
	return above, nil
}

// descheduler reads the configuration of koord-descheduler. Where it cannot, the defaults of the chart hold, which is said.
func (s *Source) descheduler(ctx context.Context, c *clients, gaps *gaps) (*objects.Descheduler, error) {
	const instead = "the defaults of the chart are used instead"
	read, err := s.deschedulerConfig(ctx, c)
	switch {
	case err == nil:
		return read, nil
	case errors.Is(err, context.Canceled):
		return nil, err
	case hasCode(err, finding.NotFound):
		gaps.add(fmt.Sprintf("there is no configmap %s/%s; %s", s.options.SystemNamespace, objects.DeschedulerConfigMap, instead))
	default:
		gaps.add(text(err, instead))
	}
	return objects.ShippedDescheduler(s.options.SystemNamespace), nil
}

// deschedulerConfig reads the configuration of koord-descheduler. A ConfigMap that does not exist is an error with code KOORD0003.
func (s *Source) deschedulerConfig(ctx context.Context, c *clients) (*objects.Descheduler, error) {
	config := &corev1.ConfigMap{}
	if err := c.get(ctx, "configmaps", s.options.SystemNamespace, objects.DeschedulerConfigMap, config); err != nil {
		return nil, err
	}
	read, err := objects.ReadDescheduler(config.Data)
	if err != nil {
		return nil, fmt.Errorf("read configmap %s/%s: %w", s.options.SystemNamespace, objects.DeschedulerConfigMap, err)
	}
	return read, nil
}

// lacks turns the error of reading what an answer can do without into a gap with its consequence. What does not exist is no gap. An
// interruption stays an error.
func (g *gaps) lacks(err error, consequence string) error {
	switch {
	case err == nil || hasCode(err, finding.NotInstalled, finding.NotFound):
		return nil
	case canceled(context.Background(), err):
		return err
	}
	g.add(text(err, consequence))
	return nil
}
