package diagnostics

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// uncopied reads from the cache without copying.
var uncopied = &client.GetOptions{UnsafeDisableDeepCopy: new(true)}

// NodeAgents answers what the agents of nodes know, and from the objects where an agent does not answer.
type NodeAgents struct {
	// Client asks agents.
	Client *AgentClient
	// Reader of Nodes, NodeSLOs, NodeMetrics and pods, which finds those of a node by PodIndex, and of what NodeResourceTopologies say
	// about agents. It is a cache: nothing that it returns is modified.
	Reader   client.Reader
	PodIndex string
	Clock    clock.PassiveClock
}

// Explain fills in what the agent of a node says.
func (a *NodeAgents) Explain(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec, status *diagnosticsv1alpha1.NodeExplanationStatus) error {
	node := &corev1.Node{}
	if err := a.Reader.Get(ctx, types.NamespacedName{Name: spec.NodeName}, node, uncopied); err != nil {
		return fmt.Errorf("get node %q: %w", spec.NodeName, err)
	}
	cached, topologyErr := topologyOf(ctx, a.Reader, spec.NodeName)
	answer, err := a.Client.Ask(ctx, node, cached, spec.Agent)
	if err == nil {
		status.Agent = answer
		return nil
	}
	var topology *topologyv1alpha1.NodeResourceTopology
	if cached != nil {
		topology, topologyErr = a.Client.Topology(ctx, spec.NodeName)
	}
	if topologyErr != nil {
		err = fmt.Errorf("get noderesourcetopology: %w", topologyErr)
	}
	view := &agentview.Node{Now: a.Clock.Now(), Object: node, Topology: topology, On: allEvictions()}
	if topologyErr != nil {
		view.Unknown = unknown.Inputs{unknown.Topologies: {Reason: diagnosticsv1alpha1.UnknownFailed, Message: topologyErr.Error()}}
	}
	if err := a.read(ctx, spec.NodeName, view); err != nil {
		return err
	}
	status.Agent = new(view.Answer(spec.Agent, Component, "koordlet did not respond"))
	status.Findings = append(status.Findings, diagnosticsv1alpha1.Finding{
		Code: string(finding.AgentUnavailable), Severity: diagnosticsv1alpha1.SeverityWarning,
		Message: "koordlet on the node did not respond; the answer is computed from API objects only: " + err.Error(),
		Hint:    "kubectl -n koordinator-system get pods -o wide --field-selector spec.nodeName=" + spec.NodeName,
		Object:  &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: spec.NodeName},
	})
	return nil
}

// read takes from the cache what the objects say about a node.
func (a *NodeAgents) read(ctx context.Context, name string, view *agentview.Node) error {
	key := types.NamespacedName{Name: name}
	slo := &slov1alpha1.NodeSLO{}
	switch err := a.Reader.Get(ctx, key, slo, uncopied); {
	case err == nil:
		view.SLO = &slo.Spec
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get nodeslo %q: %w", name, err)
	}
	metric := &slov1alpha1.NodeMetric{}
	switch err := a.Reader.Get(ctx, key, metric, uncopied); {
	case err == nil:
		view.Measure(metric)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get nodemetric %q: %w", name, err)
	}
	var pods corev1.PodList
	if err := a.Reader.List(ctx, &pods, client.MatchingFields{a.PodIndex: name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list pods of node %q: %w", name, err)
	}
	for i := range pods.Items {
		if podrequest.Consumes(&pods.Items[i]) {
			view.Pods = append(view.Pods, &pods.Items[i])
		}
	}
	return nil
}

// allEvictions asks what would happen with every feature that evicts: which of them an agent has on, only it knows.
func allEvictions() map[eviction.Feature]bool {
	on := map[eviction.Feature]bool{}
	for _, feature := range eviction.Features() {
		on[feature] = true
	}
	return on
}
