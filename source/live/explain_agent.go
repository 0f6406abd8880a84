package live

import (
	"context"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// explainAgentFromObjects fills in what can be read from objects about what an agent knows.
func (s *Source) explainAgentFromObjects(ctx context.Context, c *clients, e *diagnosticsv1alpha1.NodeExplanation) error {
	name := e.Spec.NodeName
	view := &agentview.Node{Now: s.options.Clock.Now(), Object: &corev1.Node{}, On: map[eviction.Feature]bool{}}
	for _, feature := range eviction.Features() {
		view.On[feature] = true
	}
	if err := c.get(ctx, "nodes", "", name, view.Object); err != nil {
		if hasCode(err, finding.NotFound) {
			return missing(ctx, c, request{resource: "nodes", name: name})
		}
		return err
	}
	var gaps gaps
	var pods []corev1.Pod
	var metric *slov1alpha1.NodeMetric
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		metric, err = c.metric(groupContext, name)
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() (err error) {
		pods, err = c.pods(groupContext, selection{fields: running(name)}, podDrop)
		return gaps.note(err, unknown.Pods, "the node's pods are unknown")
	})
	group.Go(func() (err error) {
		view.SLO, err = c.nodeSLO(groupContext, name)
		return gaps.note(err, unknown.NodeSLOs, "what is configured for the node is unknown")
	})
	group.Go(func() (err error) {
		view.Topology, err = c.topology(groupContext, name)
		return gaps.note(err, unknown.Topologies, "the node's CPUs are unknown")
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range pods {
		if podrequest.Consumes(&pods[i]) {
			view.Pods = append(view.Pods, &pods[i])
		}
	}
	view.Measure(metric)
	view.Unknown = gaps.unknown()
	e.Status.Agent = new(view.Answer(e.Spec.Agent, agentview.ByObjects, "koordlet was not asked"))
	e.Status.Agent.Incomplete = append(e.Status.Agent.Incomplete, gaps.all()...)
	return nil
}

// nodeSLO reads what the cluster wants of a node; a missing one is nil without error.
func (c *clients) nodeSLO(ctx context.Context, name string) (*slov1alpha1.NodeSLOSpec, error) {
	r := request{verb: "get", group: slov1alpha1.GroupVersion.Group, resource: "nodeslos", name: name}
	slo := &slov1alpha1.NodeSLO{}
	err := failure(ctx, r, c.slo.Get().Resource(r.resource).Name(name).MaxRetries(retries).Do(ctx).Into(slo))
	if hasCode(err, finding.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &slo.Spec, nil
}

// topology reads how a node is built; a missing one is nil without error.
func (c *clients) topology(ctx context.Context, name string) (*topologyv1alpha1.NodeResourceTopology, error) {
	topology := &topologyv1alpha1.NodeResourceTopology{}
	if found, err := c.read(ctx, topologyv1alpha1.GroupVersion, "noderesourcetopologies", name, topology); err != nil || !found {
		return nil, err
	}
	return topology, nil
}
