package live

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/nodeextension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/device"
)

// ExplainNode asks the diagnostics API, and the objects where it cannot answer. Both run the same decision.
func (s *Source) ExplainNode(ctx context.Context, name string, spec diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	spec.NodeName = name
	question := &diagnosticsv1alpha1.NodeExplanation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	answer := &diagnosticsv1alpha1.NodeExplanation{}
	r := request{verb: "create", group: diagnosticsv1alpha1.GroupVersion.Group, resource: "nodeexplanations"}
	if err = c.ask(ctx, r.resource, "", question, answer); err == nil {
		answer.TypeMeta = kind("NodeExplanation")
		return answer, nil
	}
	note, err := fallback(ctx, r, err)
	if err != nil {
		return nil, err
	}
	question.TypeMeta = kind("NodeExplanation")
	if err := s.explainFromObjects(ctx, c, question); err != nil {
		return nil, err
	}
	if spec.Agent != nil {
		if len(spec.Resources) == 0 {
			status := &question.Status
			status.Waterfalls, status.Published, status.Strategy, status.Findings, status.Incomplete, status.Unknown = nil, nil, nil, nil, nil, nil
		}
		if err := s.explainAgentFromObjects(ctx, c, question); err != nil {
			return nil, err
		}
	}
	question.Status.Findings = append([]diagnosticsv1alpha1.Finding{note}, question.Status.Findings...)
	return question, nil
}

// explainFromObjects fills in the status from what the user may read. Only the node itself is indispensable.
func (s *Source) explainFromObjects(ctx context.Context, c *clients, e *diagnosticsv1alpha1.NodeExplanation) error {
	in := overcommit.NodeInput{
		Node: &corev1.Node{}, Now: s.options.Clock.Now(),
		ConfigMap: types.NamespacedName{Namespace: s.options.SystemNamespace, Name: strategyConfig},
	}
	if err := c.get(ctx, "nodes", "", e.Spec.NodeName, in.Node); err != nil {
		if hasCode(err, finding.NotFound) {
			return missing(ctx, c, request{resource: "nodes", name: e.Spec.NodeName})
		}
		return err
	}
	var gaps gaps
	extending := nodeextension.Input{Node: in.Node}
	if err := s.readForNode(ctx, c, &in, &extending, &gaps); err != nil {
		return err
	}
	in.Strategy = extending.Config.Colocation(in.Node)
	if chosen, err := in.Strategy.Strategy.Predictor(); err == nil && chosen.Batch+chosen.Mid != "" {
		why := "predictions are not included: only koord-manager keeps the usage history of pods"
		gaps.unread(unknown.Predictions, unknown.Cause{Reason: diagnosticsv1alpha1.UnknownNotAvailable, Message: why})
		gaps.add(why)
	}
	in.Unknown = gaps.unknown()
	extending.Unknown = in.Unknown
	e.Status = overcommit.ExplainNode(in, e.Spec)
	if extending.Devices != nil && extending.Devices.Object != nil && !in.Unknown.Has(unknown.Pods) {
		e.Status.Findings = append(e.Status.Findings, device.OrphanFindings(extending.Devices.Object, in.Node.Labels, in.Pods)...)
	}
	if len(e.Spec.Resources) == 0 {
		trace := &nodeextension.Trace{}
		falls, published := trace.Waterfalls(nodeextension.Decide(extending, trace), in.ConfigMap, overcommit.MaxParts(e.Spec))
		e.Status.Waterfalls, e.Status.Published = append(e.Status.Waterfalls, falls...), append(e.Status.Published, published...)
	}
	e.Status.Incomplete = append(e.Status.Incomplete, gaps.all()...)
	e.Status.Origin = diagnosticsv1alpha1.Origin{Component: "koordctl", EvaluatedAt: metav1.NewTime(in.Now)}
	return nil
}

// readForNode reads, at the same time, what the resources of a node depend on. What cannot be read is a gap.
func (s *Source) readForNode(ctx context.Context, c *clients, in *overcommit.NodeInput, extending *nodeextension.Input, gaps *gaps) error {
	name := in.Node.Name
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Metric, err = c.metric(ctx, name)
		return gaps.note(err, unknown.NodeMetrics, "what is used is unknown")
	})
	group.Go(func() error {
		pods, err := c.pods(ctx, selection{fields: running(name)}, podDrop)
		for i := range pods {
			in.Pods = append(in.Pods, &pods[i])
		}
		return gaps.note(err, unknown.Pods, "what the pods request is unknown")
	})
	group.Go(func() (err error) {
		extending.Config, err = s.strategies(ctx, c)
		return gaps.note(err, unknown.Configuration, "whether co-location is on, and how, is unknown")
	})
	group.Go(func() error {
		topology, err := c.topology(ctx, name)
		if err == nil {
			extending.CPU = nodeextension.CPUOf(topology)
		}
		return gaps.note(err, unknown.Topologies, "cpu normalization and amplification are unknown")
	})
	group.Go(func() error {
		object, err := c.device(ctx, name)
		if err == nil {
			// Whether GPUs are shared is an option of koord-manager, which the node shows.
			_, shared := in.Node.Status.Allocatable[extension.ResourceGPUShared]
			extending.Devices = &nodeextension.Devices{Object: object, SharedGPU: shared}
		}
		return gaps.note(err, unknown.Devices, "the node's devices are unknown")
	})
	return group.Wait()
}

// device reads the devices of a node; a missing one is nil without error.
func (c *clients) device(ctx context.Context, name string) (*schedulingv1alpha1.Device, error) {
	object := &schedulingv1alpha1.Device{}
	if found, err := c.read(ctx, schedulingv1alpha1.GroupVersion, "devices", name, object); err != nil || !found {
		return nil, err
	}
	return object, nil
}

// read reads one object of the whole cluster; false without error when there is none.
func (c *clients) read(ctx context.Context, version schema.GroupVersion, resource, name string, into any) (bool, error) {
	r := request{verb: "get", group: version.Group, resource: resource, name: name}
	raw, err := rawOf(c.slo.Get().AbsPath("/apis", version.Group, version.Version, resource, name).MaxRetries(retries).Do(ctx))
	err = failure(ctx, r, err)
	if hasCode(err, finding.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, failure(ctx, r, json.Unmarshal(raw, into))
}
