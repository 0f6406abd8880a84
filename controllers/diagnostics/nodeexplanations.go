package diagnostics

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/grants"
)

// Component is the name of the answering component in an answer's origin.
const Component = "koord-manager"

// nodeExplanations answers questions about nodes.
type nodeExplanations struct {
	explainer  NodeExplainer
	agents     AgentExplainer
	authorizer authorizer.Authorizer
	identity   string
	leader     func() bool
	clock      clock.PassiveClock
}

// New returns an empty question.
func (*nodeExplanations) New() runtime.Object { return &diagnosticsv1alpha1.NodeExplanation{} }

// Destroy does nothing: there is no storage.
func (*nodeExplanations) Destroy() {}

// NamespaceScoped is false: nodes have no namespace.
func (*nodeExplanations) NamespaceScoped() bool { return false }

// GetSingularName is the resource's name for one object.
func (*nodeExplanations) GetSingularName() string { return "nodeexplanation" }

// Create answers a question about a node that the caller may get. What is set for a pod takes the right to get it, and for all pods of
// the node, as for what the agent did, that to get any. Of other pods the answer names those that the caller may get.
func (n *nodeExplanations) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := object.(*diagnosticsv1alpha1.NodeExplanation)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a NodeExplanation: %T", object))
	}
	nameAfter(question, question.Spec.NodeName)
	question.Status = diagnosticsv1alpha1.NodeExplanationStatus{}
	if errs := validateNodeQuestion(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(nodeKind, question.Name, errs)
	}
	if err := admit(ctx, question, check); err != nil {
		return nil, err
	}
	if err := requireGet(ctx, n.authorizer, subject{resource: corev1.SchemeGroupVersion.WithResource("nodes"), name: question.Spec.NodeName}); err != nil {
		return nil, err
	}
	if err := n.requirePods(ctx, question.Spec.Agent); err != nil {
		return nil, err
	}
	granted, err := grantsOf(ctx, n.authorizer)
	if err != nil {
		return nil, err
	}
	status, err := n.explain(ctx, question.Spec, granted)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(corev1.Resource("nodes"), question.Spec.NodeName)
	}
	if err != nil {
		return nil, statusOf(err)
	}
	question.Status = status
	return question, checked(granted)
}

// requirePods fails unless the caller may get the pods that a question to an agent is about. The entries of its log name pods and their
// cgroups, and no field says which.
func (n *nodeExplanations) requirePods(ctx context.Context, agent *diagnosticsv1alpha1.AgentQuestion) error {
	if agent == nil {
		return nil
	}
	pods := subject{resource: corev1.SchemeGroupVersion.WithResource("pods")}
	if slices.Contains(agent.Sections, diagnosticsv1alpha1.SectionAudit) {
		if err := requireGet(ctx, n.authorizer, pods); err != nil {
			return err
		}
	}
	if agent.PodName != "" || slices.Contains(agent.Sections, diagnosticsv1alpha1.SectionPods) {
		pods.namespace, pods.name = agent.PodNamespace, agent.PodName
		return requireGet(ctx, n.authorizer, pods)
	}
	return nil
}

// explain answers a question about one node as its caller may see it, and says who did.
func (n *nodeExplanations) explain(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec, granted *grants.Grants) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	begin := n.clock.Now()
	status, err := n.answer(ctx, spec)
	if err != nil {
		return status, err
	}
	status.Origin = diagnosticsv1alpha1.Origin{
		Component:            Component,
		Instance:             n.identity,
		Leader:               n.leader(),
		EvaluatedAt:          metav1.NewTime(begin),
		DurationMicroseconds: n.clock.Since(begin).Microseconds(),
	}
	disclosure.NodeExplanation(&status, granted.May)
	return status, nil
}

// answer asks the objects, and the agent of the node when that is wanted.
func (n *nodeExplanations) answer(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	status, err := n.explainer.ExplainNode(ctx, spec)
	if err != nil || spec.Agent == nil {
		return status, err
	}
	if len(spec.Resources) == 0 {
		status.Waterfalls, status.Published, status.Strategy, status.Findings, status.Incomplete = nil, nil, nil, nil, nil
	}
	if n.agents == nil {
		status.Incomplete = append(status.Incomplete, "this server cannot send requests to koordlet")
		return status, nil
	}
	return status, n.agents.Explain(ctx, spec, &status)
}

// ConvertToTable renders the answer as name, age class of the data and summary.
func (*nodeExplanations) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	answer, ok := object.(*diagnosticsv1alpha1.NodeExplanation)
	if !ok {
		return nil, fmt.Errorf("not a NodeExplanation: %T", object)
	}
	return answerTable(options, nodeColumns(), nodeRow(answer)), nil
}

func nodeColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		nameColumn(),
		{Name: "Metric", Type: "string", Description: "State of the NodeMetric of the node: fresh, stale or expired."},
		summaryColumn(),
	}
}

func nodeRow(answer *diagnosticsv1alpha1.NodeExplanation) metav1.TableRow {
	return answerRow(answer, answer.Spec.NodeName, string(answer.Status.Metric.State), answer.Status.Summary)
}
