package live

import (
	"context"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/layering"
	"koordinator.sh/koord/decision/overcommit"
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
			status.Waterfalls, status.Published, status.Strategy, status.Findings, status.Incomplete = nil, nil, nil, nil, nil
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
	name := e.Spec.NodeName
	in := overcommit.NodeInput{
		Node: &corev1.Node{}, Now: s.options.Clock.Now(),
		ConfigMap: types.NamespacedName{Namespace: s.options.SystemNamespace, Name: strategyConfig},
	}
	if err := c.get(ctx, "nodes", "", name, in.Node); err != nil {
		if hasCode(err, finding.NotFound) {
			return missing(ctx, c, request{resource: "nodes", name: name})
		}
		return err
	}
	var gaps gaps
	var pods []corev1.Pod
	config := layering.Default()
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		in.Metric, err = c.metric(groupContext, name)
		return gaps.note(err, "what is used is unknown")
	})
	group.Go(func() (err error) {
		pods, err = c.pods(groupContext, selection{fields: running(name)}, podDrop)
		return gaps.note(err, "what the pods request is unknown, and the results are too high")
	})
	group.Go(func() (err error) {
		config, err = s.strategies(groupContext, c)
		return gaps.note(err, "the built-in settings are assumed")
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range pods {
		in.Pods = append(in.Pods, &pods[i])
	}
	in.Strategy = config.Colocation(in.Node)
	e.Status = overcommit.ExplainNode(in, e.Spec)
	if len(e.Spec.Resources) == 0 {
		gaps.add("cpu normalization, amplification and devices are told by koord-manager alone")
	}
	e.Status.Incomplete = append(e.Status.Incomplete, gaps.all()...)
	e.Status.Origin = diagnosticsv1alpha1.Origin{Component: "koordctl", EvaluatedAt: metav1.NewTime(in.Now)}
	return nil
}
