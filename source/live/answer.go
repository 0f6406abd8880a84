package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// answerTimeout bounds the wait for the diagnostics API, after which the objects answer.
const answerTimeout = 8 * time.Second

// readTimeout bounds the wait for what the diagnostics API computes of objects that can be read as well: reading them takes no longer in most
// clusters.
const readTimeout = 5 * time.Second

// ask posts a question to the diagnostics API.
func (c *clients) ask(ctx context.Context, resource, namespace string, question, answer runtime.Object) error {
	return c.askWithin(ctx, answerTimeout, resource, namespace, question, answer)
}

// askWithin is ask for a question that takes longer to answer.
func (c *clients) askWithin(ctx context.Context, timeout time.Duration, resource, namespace string, question, answer runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.diagnostics.Post().NamespaceIfScoped(namespace, namespace != "").Resource(resource).
		MaxRetries(0).Body(question).Do(ctx).Into(answer)
}

// askedAlone ends the first sentence about what did not answer.
const askedAlone = ", so the answer is from API objects only"

// fallback says whether the objects can answer in place of the diagnostics API, and what to tell about it. What is not
// the API's absence, ill health or refusal - a wrong question, an interruption - is an error all the same.
func fallback(ctx context.Context, r request, err error) (diagnosticsv1alpha1.Finding, error) {
	note := diagnosticsv1alpha1.Finding{
		Code: string(finding.DiagnosticsUnavailable), Severity: diagnosticsv1alpha1.SeverityWarning,
		Hint: "kubectl get apiservice v1alpha1.diagnostics.koordinator.sh",
	}
	switch {
	case canceled(ctx, err):
		return note, failure(ctx, r, err)
	case schedulerDown(err):
		note.Code = string(finding.SchedulerUnavailable)
		note.Message = "koord-scheduler did not respond" + askedAlone + ": " + err.Error()
		note.Hint = "kubectl get lease -A | grep scheduler"
	case apierrors.IsNotFound(err):
		note.Message = "this cluster has no diagnostics API" + askedAlone
		note.Hint = "koordctl install"
	case apierrors.IsForbidden(err):
		note.Code = string(finding.Forbidden)
		note.Message = "you do not have permission to " + r.String() + askedAlone
		note.Hint = r.canI()
	case unhealthy(err):
		note.Message = "the diagnostics API did not respond" + askedAlone + ": " + err.Error()
	default:
		return note, failure(ctx, r, err)
	}
	return note, nil
}

// unhealthy is true for an API that is registered and does not work.
func unhealthy(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	return status.Status().Code >= http.StatusInternalServerError || apierrors.IsTooManyRequests(err)
}

// schedulerDown is true when koord-manager answered that it could not reach the scheduler.
func schedulerDown(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if string(cause.Type) == string(finding.SchedulerUnavailable) {
			return true
		}
	}
	return false
}
