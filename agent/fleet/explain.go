package fleet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/simulated"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// trendOver is how far back the trend of a forecast looks, in simulated time.
const trendOver = 5 * time.Minute

// explainer answers for the agents of all simulated nodes. What is not measured it reads from the API server when it is asked: the
// fleet keeps no whole objects.
type explainer struct {
	fleet *fleet
	core  rest.Interface
	slo   rest.Interface
}

// Explain implements diagnostics.Explainer. The agent of a frozen node has stopped, and answers nothing.
func (e *explainer) Explain(ctx context.Context, name string, question *diagnosticsv1alpha1.AgentQuestion) (diagnosticsv1alpha1.AgentExplanation, error) {
	a := e.fleet.agent(name)
	if a == nil {
		return diagnosticsv1alpha1.AgentExplanation{}, diagnostics.UnknownNode(name)
	}
	if a.machine().Frozen {
		return diagnosticsv1alpha1.AgentExplanation{}, apierrors.NewServiceUnavailable(fmt.Sprintf("the simulated koordlet of node %q has stopped", name))
	}
	view, err := e.view(ctx, name)
	if err != nil {
		return diagnosticsv1alpha1.AgentExplanation{}, err
	}
	a.measure(view)
	view.Settings = func(out *diagnosticsv1alpha1.AgentExplanation) { e.settings(ctx, a, view, question, out) }
	return view.Answer(question, agentview.BySimulated, "the node is simulated, and has no kernel"), nil
}

// settings lists what is set for pods by an agent that runs on a simulated machine.
func (e *explainer) settings(ctx context.Context, a *agent, view *agentview.Node, question *diagnosticsv1alpha1.AgentQuestion, out *diagnosticsv1alpha1.AgentExplanation) {
	machine := a.machine()
	imitation, err := newSimulatedAgent(ctx, e.fleet, view, machine.Topology(), machine.Capacity)
	if err != nil {
		out.Incomplete = append(out.Incomplete, "what is set for pods is unknown: "+err.Error())
		return
	}
	imitation.pods(question, out)
}

// view reads the objects of a node.
func (e *explainer) view(ctx context.Context, name string) (*agentview.Node, error) {
	view := &agentview.Node{Now: e.fleet.opts.Clock.Now(), Object: &corev1.Node{}, On: map[eviction.Feature]bool{}}
	for _, feature := range eviction.Features() {
		view.On[feature] = true
	}
	if err := e.core.Get().Resource("nodes").Name(name).Do(ctx).Into(view.Object); err != nil {
		return nil, fmt.Errorf("get node %q: %w", name, err)
	}
	slo := &slov1alpha1.NodeSLO{}
	switch err := e.slo.Get().Resource(connection.NodeSLOs.Resource).Name(name).Do(ctx).Into(slo); {
	case err == nil:
		view.SLO = &slo.Spec
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get nodeslo %q: %w", name, err)
	}
	if object, exists, _ := e.fleet.informers.topologies.GetStore().GetByKey(name); exists {
		view.Topology, _ = object.(*topologyv1alpha1.NodeResourceTopology)
	}
	pods := &corev1.PodList{}
	selector := fields.OneTermEqualSelector("spec.nodeName", name).String()
	if err := e.core.Get().Resource("pods").Param("fieldSelector", selector).Param("resourceVersion", "0").Do(ctx).Into(pods); err != nil {
		return nil, fmt.Errorf("list pods of node %q: %w", name, err)
	}
	for i := range pods.Items {
		if podrequest.Consumes(&pods.Items[i]) {
			view.Pods = append(view.Pods, &pods.Items[i])
		}
	}
	return view, nil
}

// machine is what the agent runs on.
func (a *agent) machine() simulated.Node {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.node.sim
}

// measure adds what the simulated machine uses. Its samples are dated in real time, as far back as they lie in simulated time.
func (a *agent) measure(view *agentview.Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.metrics == nil {
		return
	}
	at := a.lastSample()
	usage, measured := a.metrics.LatestUsage(at)
	if !measured {
		return
	}
	view.Observation, view.Used = freshness.Observation{At: view.Now, Period: a.metrics.Policy().Period}, usage.Amount()
	for _, sample := range a.metrics.Samples(at, trendOver) {
		view.Samples = append(view.Samples, agentview.Sample{At: view.Now.Add(sample.At.Sub(at)), Used: sample.Usage.Amount()})
	}
	speed := a.opts.timeline().Speed
	view.Past = diagnostics.UsageHistory(&a.past, func(measured time.Time) time.Time {
		return view.Now.Add(-time.Duration(float64(at.Sub(measured)) / speed))
	}, speed)
	used := map[types.UID]podrequest.Amount{}
	for _, pod := range a.running {
		if usage, measured := a.metrics.LatestPodUsage(pod.sim.UID, at); measured {
			used[pod.sim.UID] = usage.Amount()
		}
	}
	view.PodUsed = func(pod *corev1.Pod) (podrequest.Amount, bool) {
		amount, measured := used[pod.UID]
		return amount, measured
	}
}
