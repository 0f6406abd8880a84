package live

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/descheduling/evictors"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.EvictionExplainer = (*Source)(nil)

// evictionRead is the snapshot that is being read, and what could not be.
type evictionRead struct {
	*Source
	c    *clients
	in   *objects.EvictionSnapshot
	gaps gaps
	mu   sync.Mutex
}

// ExplainEviction reads the pod, its node and what evicts pods, at the same time.
func (s *Source) ExplainEviction(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.EvictionExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := c.get(ctx, "pods", namespace, name, pod); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missing(ctx, c, request{resource: "pods", namespace: namespace, name: name})
		}
		return nil, err
	}
	read := &evictionRead{Source: s, c: c, in: &objects.EvictionSnapshot{
		Pod: pod, Now: s.options.Clock.Now(), Undecided: map[string][]string{}, Unsure: map[string][]string{},
	}}
	group, groupContext := errgroup.WithContext(ctx)
	for _, part := range []func(context.Context) error{read.node, read.budgets, read.quotas, read.pending, read.descheduler} {
		group.Go(func() error { return part(groupContext) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	read.in.Missing = read.gaps.all()
	for _, unread := range []map[string][]string{read.in.Undecided, read.in.Unsure} {
		for _, lines := range unread {
			slices.Sort(lines) // they are read at the same time
		}
	}
	answer, err := objects.ExplainEviction(read.in)
	if err != nil {
		return nil, fmt.Errorf("explain the eviction of pod %s/%s: %w", namespace, name, err)
	}
	return answer, nil
}

// undecided notes an input that could not be read, without which nothing can be said of some evictors.
func (r *evictionRead) undecided(err error, consequence string, names ...string) error {
	return r.lacking(r.in.Undecided, err, consequence, names)
}

// unsure is undecided for an input without which what is said of the evictors may be wrong.
func (r *evictionRead) unsure(err error, consequence string, names ...string) error {
	return r.lacking(r.in.Unsure, err, consequence, names)
}

func (r *evictionRead) lacking(into map[string][]string, err error, consequence string, names []string) error {
	if err == nil || hasCode(err, finding.NotInstalled, finding.NotFound) {
		return nil
	}
	if err := r.gaps.lacks(err, consequence); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		into[name] = append(into[name], consequence)
	}
	return nil
}

// node reads the pod's node as its agent sees it.
func (r *evictionRead) node(ctx context.Context) error {
	name := r.in.Pod.Spec.NodeName
	if name == "" {
		return nil
	}
	view := &agentview.Node{Now: r.in.Now, Object: &corev1.Node{}, On: map[eviction.Feature]bool{}}
	if err := r.c.get(ctx, "nodes", "", name, view.Object); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil
		}
		return r.undecided(err, "the node could not be read", evictors.NodeAgent, evictors.Preempting, evictors.Kubelet)
	}
	pods, metric, err := r.onNode(ctx, name, view)
	if err != nil {
		return err
	}
	for i := range pods {
		if podrequest.Consumes(&pods[i]) {
			view.Pods = append(view.Pods, &pods[i])
		}
	}
	view.Measure(metric)
	r.in.Node, r.in.Reported = view, metric != nil && metric.Status.UpdateTime != nil
	return nil
}

// onNode reads what the agent decides from.
func (r *evictionRead) onNode(ctx context.Context, name string, view *agentview.Node) (pods []corev1.Pod, metric *slov1alpha1.NodeMetric, err error) {
	group, groupContext := errgroup.WithContext(ctx)
	var local gaps
	group.Go(func() (err error) {
		metric, err = r.c.metric(groupContext, name)
		_ = local.note(err, unknown.NodeMetrics, "")
		return r.undecided(err, "what is used on the node, and whether koordlet runs there, is unknown", evictors.NodeAgent)
	})
	group.Go(func() (err error) {
		pods, err = r.c.pods(groupContext, selection{fields: running(name)}, podDrop)
		_ = local.note(err, unknown.Pods, "")
		return r.undecided(err, "the node's pods are unknown", evictors.NodeAgent)
	})
	group.Go(func() (err error) {
		view.SLO, err = r.c.nodeSLO(groupContext, name)
		_ = local.note(err, unknown.NodeSLOs, "")
		return r.undecided(err, "which evictions are configured for the node is unknown", evictors.NodeAgent)
	})
	var gates map[string]bool
	group.Go(func() (err error) {
		gates, err = r.c.agentFeatures(groupContext, r.options.SystemNamespace)
		return r.unsure(err, "the feature gates of koordlet are unknown and taken to be the defaults", evictors.NodeAgent)
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, feature := range eviction.Features() {
		on, set := gates[string(feature)]
		view.On[feature] = on || !set
	}
	view.On[eviction.SoftEvict] = nodefeature.SoftEvict.On(gates)
	view.Unknown = local.unknown()
	return pods, metric, nil
}

// budgets reads the PodDisruptionBudgets of the namespace.
func (r *evictionRead) budgets(ctx context.Context) error {
	var err error
	r.in.Budgets, err = r.c.budgets(ctx, r.in.Pod.Namespace)
	return r.unsure(err, "whether PodDisruptionBudgets protect the pod is unknown", evictors.NodeAgent, evictors.Revoking, evictors.Descheduled, evictors.Drain)
}

// quotas reads the ElasticQuotas, and whether the scheduler evicts pods because of them.
func (r *evictionRead) quotas(ctx context.Context) error {
	found, err := r.c.quotas(ctx)
	r.in.Quotas = found
	if err := r.undecided(err, "the quota of the pod is unknown", evictors.Revoking); err != nil {
		return err
	}
	settings, err := r.schedulerSettings(ctx, r.c)
	if quotas := settings.Quotas; quotas != nil && quotas.MonitorAllQuotas != nil {
		r.in.MonitorsQuotas = *quotas.MonitorAllQuotas
	}
	return r.undecided(err, "whether the scheduler evicts pods of quotas is unknown", evictors.Revoking)
}

// pending reads the pods that wait for a node.
func (r *evictionRead) pending(ctx context.Context) error {
	if r.in.Pod.Spec.NodeName == "" {
		return nil
	}
	found, err := r.c.pods(ctx, selection{fields: waiting()}, podEvictableDrop)
	r.in.Pending = found
	return r.undecided(err, "which pods wait for a node is unknown", evictors.Preempting)
}

// descheduler reads whether koord-descheduler runs, how it is configured, and its jobs.
func (r *evictionRead) descheduler(ctx context.Context) error {
	const name = "koord-descheduler"
	err := r.c.apps(ctx, "deployments", r.options.SystemNamespace, name, &appsv1.Deployment{})
	r.in.Descheduling = err == nil
	if err := r.undecided(err, "whether koord-descheduler runs is unknown", evictors.Descheduled); err != nil || !r.in.Descheduling {
		return err
	}
	r.in.Jobs, err = r.c.migrationJobs(ctx)
	if err := r.unsure(err, "whether the pod has a PodMigrationJob is unknown", evictors.Descheduled); err != nil {
		return err
	}
	if r.in.Descheduler, err = r.Source.descheduler(ctx, r.c, &r.gaps); err != nil {
		return err
	}
	if err := r.workload(ctx); err != nil {
		return err
	}
	for i := range r.in.Descheduler.Profiles {
		if r.in.Descheduler.Profiles[i].Migration.NodeFit {
			return r.otherNodes(ctx)
		}
	}
	return nil
}

// workload reads what is above the pod's ReplicaSet, where a workload of the namespace goes in circles.
func (r *evictionRead) workload(ctx context.Context) error {
	controller := metav1.GetControllerOf(r.in.Pod)
	if controller == nil || controller.Kind != "ReplicaSet" || !r.in.Descheduler.Guard(r.in.Jobs, r.in.Now).Concerns(r.in.Pod.Namespace) {
		return nil
	}
	set := &appsv1.ReplicaSet{}
	err := r.c.apps(ctx, "replicasets", r.in.Pod.Namespace, controller.Name, set)
	if err == nil && set.UID == controller.UID {
		r.in.Above = metav1.GetControllerOf(set)
	}
	return r.unsure(err, "whether the workload of the pod goes in circles is unknown", evictors.Descheduled)
}

// otherNodes reads where the pod could run, for a descheduler that asks.
func (r *evictionRead) otherNodes(ctx context.Context) error {
	var err error
	if r.in.Nodes, err = r.c.nodes(ctx, selection{}); err == nil {
		r.in.Pods, err = r.c.pods(ctx, selection{fields: running("")}, podEvictableDrop)
	}
	return r.undecided(err, "whether another node takes the pod is unknown", evictors.Descheduled)
}
