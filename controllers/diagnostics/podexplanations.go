package diagnostics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/schedulerclient"
)

// podExplanations answers questions about pods.
type podExplanations struct {
	explainer  PodExplainer
	authorizer authorizer.Authorizer
}

// New returns an empty question.
func (*podExplanations) New() runtime.Object { return &diagnosticsv1alpha1.PodExplanation{} }

// Destroy does nothing: there is no storage.
func (*podExplanations) Destroy() {}

// NamespaceScoped is true: a question lives in its pod's namespace.
func (*podExplanations) NamespaceScoped() bool { return true }

// GetSingularName is the resource's name for one object.
func (*podExplanations) GetSingularName() string { return "podexplanation" }

// Create answers a question about a pod of the request's namespace, or a Reservation, that the caller may get. The
// answer names what else the caller may get, and counts the rest.
func (p *podExplanations) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := object.(*diagnosticsv1alpha1.PodExplanation)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a PodExplanation: %T", object))
	}
	nameAfter(question, cmp.Or(question.Spec.PodName, question.Spec.ReservationName))
	question.Status = diagnosticsv1alpha1.PodExplanationStatus{}
	if errs := validatePodQuestion(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(podKind, question.Name, errs)
	}
	if err := admit(ctx, question, check); err != nil {
		return nil, err
	}
	question.Namespace = request.NamespaceValue(ctx)
	if err := requireGet(ctx, p.authorizer, subjectOf(question)); err != nil {
		return nil, err
	}
	answer, err := p.explainer.ExplainPod(ctx, question)
	if err != nil {
		return nil, p.disclosedError(ctx, statusOf(err))
	}
	question.Status = answer.Status
	return question, p.disclose(ctx, &question.Status)
}

// disclose leaves of an answer what the caller may see.
func (p *podExplanations) disclose(ctx context.Context, status *diagnosticsv1alpha1.PodExplanationStatus) error {
	granted, err := grantsOf(ctx, p.authorizer)
	if err != nil {
		return err
	}
	disclosure.PodExplanation(status, granted.May)
	return checked(granted)
}

// disclosedError is an error as the caller may see it. Why a scheduler did not answer has its addresses, and may name anything; only
// that it did not is for everybody, and the rest for the log.
func (p *podExplanations) disclosedError(ctx context.Context, err error) error {
	if code := statusCode(err); code < http.StatusInternalServerError {
		return err
	}
	granted, failed := grantsOf(ctx, p.authorizer)
	if failed != nil || disclosure.Everything(granted.May) {
		return err
	}
	klog.FromContext(ctx).Info("Failed to explain a pod", "err", err)
	switch {
	case apierrors.IsServiceUnavailable(err):
		return schedulerclient.Unavailable(errors.New("see the log of koord-manager"))
	case apierrors.IsTimeout(err):
		return apierrors.NewTimeoutError("the explanation timed out", schedulerclient.RetryAfterSeconds)
	}
	return apierrors.NewInternalError(errors.New("the pod could not be explained; see the log of koord-manager"))
}

func statusCode(err error) int32 {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status().Code
	}
	return http.StatusInternalServerError
}

// subjectOf is the object that a question is about: Reservations are in no namespace, whatever the question's own is.
func subjectOf(question *diagnosticsv1alpha1.PodExplanation) subject {
	if name := question.Spec.ReservationName; name != "" {
		return subject{resource: schedulingv1alpha1.GroupVersion.WithResource("reservations"), name: name}
	}
	return subject{resource: corev1.SchemeGroupVersion.WithResource("pods"), namespace: question.Namespace, name: question.Spec.PodName}
}

// ConvertToTable renders the answer as name, verdict, feasible nodes and summary.
func (*podExplanations) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	answer, ok := object.(*diagnosticsv1alpha1.PodExplanation)
	if !ok {
		return nil, fmt.Errorf("not a PodExplanation: %T", object)
	}
	columns := []metav1.TableColumnDefinition{
		nameColumn(),
		{Name: "Verdict", Type: "string", Description: "The verdict."},
		{Name: "Feasible", Type: "string", Description: "Number of nodes that pass all filters, and of all nodes."},
		summaryColumn(),
	}
	feasible := fmt.Sprintf("%d/%d", answer.Status.NodesFeasible, answer.Status.NodesTotal)
	return answerTable(options, columns,
		answerRow(answer, cmp.Or(answer.Spec.PodName, answer.Spec.ReservationName), string(answer.Status.Verdict), feasible, answer.Status.Summary)), nil
}
