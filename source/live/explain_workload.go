package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overview"
	"koordinator.sh/koord/decision/scheduling/jobview"
	"koordinator.sh/koord/decision/scheduling/workloadview"
	"koordinator.sh/koord/source"
)

var _ source.WorkloadExplainer = (*Source)(nil)

// ExplainWorkload reads a workload with its pods, what these use and what is recommended, and explains the pod that has waited longest.
func (s *Source) ExplainWorkload(ctx context.Context, of source.Kind, namespace, name string) (*diagnosticsv1alpha1.WorkloadExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var in workloadview.Input
	if in.Workload, err = c.workloadOf(ctx, of, namespace, name); err != nil {
		return nil, err
	}
	var gaps gaps
	by := selection{namespace: namespace, labels: metav1.FormatLabelSelector(in.Workload.Selector), fields: unfinished().String()}
	if in.Pods, err = c.pods(ctx, by, podDrop); err != nil {
		in.PodsUnknown = true
		if err := gaps.note(err, unknown.Pods, "what its pods wait for is unknown"); err != nil {
			return nil, err
		}
	}
	if in.Overview, err = s.overviewOf(ctx, c, namespace, in.Pods, &gaps); err != nil {
		return nil, err
	}
	if pod := jobview.Waiting(in.Pods); pod != nil {
		in.Waiting, err = s.ExplainPod(ctx, namespace, pod.Name, diagnosticsv1alpha1.PodExplanationSpec{SkipFix: true})
		if err := gaps.note(err, unknown.Pods, "what its pods wait for is unknown"); err != nil {
			return nil, err
		}
	}
	answer := workloadview.Explain(in)
	answer.TypeMeta, answer.Incomplete = kind("WorkloadExplanation"), append(gaps.all(), answer.Incomplete...)
	return answer, nil
}

// workloadOf reads what counts of a workload.
func (c *clients) workloadOf(ctx context.Context, of source.Kind, namespace, name string) (workloadview.Workload, error) {
	switch of.API.Kind {
	case "Deployment":
		var deployment appsv1.Deployment
		err := c.workloadInto(ctx, of, namespace, name, &deployment)
		return workloadview.OfDeployment(&deployment), err
	case "StatefulSet":
		var set appsv1.StatefulSet
		err := c.workloadInto(ctx, of, namespace, name, &set)
		return workloadview.OfStatefulSet(&set), err
	case "ReplicaSet":
		var set appsv1.ReplicaSet
		err := c.workloadInto(ctx, of, namespace, name, &set)
		return workloadview.OfReplicaSet(&set), err
	case "DaemonSet":
		var set appsv1.DaemonSet
		err := c.workloadInto(ctx, of, namespace, name, &set)
		return workloadview.OfDaemonSet(&set), err
	}
	return workloadview.Workload{}, fmt.Errorf("explain a %s: not a workload", of.Name)
}

// workloadInto reads a workload. The error of one that does not exist names those that it could be.
func (c *clients) workloadInto(ctx context.Context, of source.Kind, namespace, name string, into runtime.Object) error {
	err := c.apps(ctx, of.Plural, namespace, name, into)
	if !hasCode(err, finding.NotFound) {
		return err
	}
	client, unserved := c.of(of)
	if unserved != nil {
		return unserved
	}
	r := requestFor("get", of, namespace)
	r.name = name
	return missingAmong(ctx, client, r, "koordctl top workloads -n "+namespace)
}

// fewNodes is the number of nodes up to which their NodeMetrics are read one by one, and not all of the cluster.
const fewNodes = 16

// overviewOf is what pods of one workload request and use; nil without pods.
func (s *Source) overviewOf(ctx context.Context, c *clients, namespace string, pods []corev1.Pod, gaps *gaps) (*diagnosticsv1alpha1.WorkloadOverview, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	metrics, err := c.metricsOf(ctx, pods)
	if err := gaps.note(err, unknown.NodeMetrics, "what is used is unknown"); err != nil {
		return nil, err
	}
	recommendations, err := c.recommendations(ctx, selection{namespace: namespace})
	if err := gaps.lacks(err, "what is recommended is unknown"); err != nil {
		return nil, err
	}
	list := overview.Workloads(overview.WorkloadsInput{
		Pods: pods, Metrics: metrics, Recommendations: recommendations, Groups: []overview.Group{overview.GroupNamespace}, Unknown: gaps.unknown(), Now: s.options.Clock.Now(),
	})
	return &list.Items[0], nil
}

// metricsOf reads the NodeMetrics of the nodes of pods.
func (c *clients) metricsOf(ctx context.Context, pods []corev1.Pod) ([]slov1alpha1.NodeMetric, error) {
	nodes := map[string]bool{}
	for i := range pods {
		if name := pods[i].Spec.NodeName; name != "" {
			nodes[name] = true
		}
	}
	if len(nodes) > fewNodes {
		return c.metrics(ctx, selection{}, always(metricBriefDrop))
	}
	found := make(chan slov1alpha1.NodeMetric, len(nodes))
	group, groupContext := errgroup.WithContext(ctx)
	for name := range nodes {
		group.Go(func() error {
			some, err := c.metrics(groupContext, selection{fields: equals("metadata.name", name)}, always(metricBriefDrop))
			for i := range some {
				found <- some[i]
			}
			return err
		})
	}
	err := group.Wait()
	close(found)
	var metrics []slov1alpha1.NodeMetric
	for metric := range found {
		metrics = append(metrics, metric)
	}
	return metrics, err
}
