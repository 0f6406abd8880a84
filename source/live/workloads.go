package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/suggest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/source"
)

var _ source.WorkloadLister = (*Source)(nil)

// Workloads lists pods, NodeMetrics and Recommendations at the same time.
func (s *Source) Workloads(ctx context.Context, query source.WorkloadQuery) (*diagnosticsv1alpha1.WorkloadOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var (
		gaps            gaps
		pods            []corev1.Pod
		metrics         []slov1alpha1.NodeMetric
		recommendations []analysisv1alpha1.Recommendation
	)
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		by := selection{namespace: query.Namespace, labels: query.LabelSelector, fields: both(query.FieldSelector, unfinished().String())}
		pods, err = c.pods(groupContext, by, podDrop)
		return err
	})
	group.Go(func() (err error) {
		metrics, err = c.metrics(groupContext, selection{}, always(metricBriefDrop))
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() (err error) {
		recommendations, err = c.recommendations(groupContext, selection{namespace: query.Namespace})
		return gaps.lacks(err, "what is recommended is unknown")
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	list := overview.Workloads(overview.WorkloadsInput{
		Pods: pods, Metrics: metrics, Recommendations: recommendations, Groups: query.Groups, Unknown: gaps.unknown(), Now: s.options.Clock.Now(),
	})
	list.Incomplete = append(list.Incomplete, gaps.all()...)
	list.Items, err = namedWorkloads(list.Items, query.Names)
	return list, err
}

// namedWorkloads keeps the workloads with the names asked for, all when there are none.
func namedWorkloads(rows []diagnosticsv1alpha1.WorkloadOverview, names []string) ([]diagnosticsv1alpha1.WorkloadOverview, error) {
	if len(names) == 0 {
		return rows, nil
	}
	found, known := map[string]bool{}, make([]string, 0, len(rows))
	rows = slices.DeleteFunc(rows, func(row diagnosticsv1alpha1.WorkloadOverview) bool {
		_, short, _ := strings.Cut(row.Name, "/")
		known = append(known, short)
		found[row.Name], found[short] = true, true
		return !slices.Contains(names, row.Name) && !slices.Contains(names, short)
	})
	for _, name := range names {
		if found[name] {
			continue
		}
		err := fmt.Errorf("workload %q not found", name)
		if near := suggest.Nearest(name, known); near != "" {
			err = fmt.Errorf("%w, did you mean %q?", err, near)
		}
		return nil, finding.Wrap(err, finding.NotFound, "koordctl top workloads")
	}
	return rows, nil
}
