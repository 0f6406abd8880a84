package schedulerclient

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
)

// RetryAfterSeconds is the Retry-After for requests to an unavailable scheduler.
const RetryAfterSeconds = 5

// Unavailable returns the error for a request that the scheduler did not serve: 503 with the finding code both in the
// message and as a cause, so that programs need not parse the message.
func Unavailable(why error) error {
	code := finding.SchedulerUnavailable
	message := fmt.Sprintf("%s: koord-scheduler did not respond: %v", code, why)
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusServiceUnavailable,
		Reason:  metav1.StatusReasonServiceUnavailable,
		Message: message,
		Details: &metav1.StatusDetails{
			Causes:            []metav1.StatusCause{{Type: metav1.CauseType(code), Message: why.Error()}},
			RetryAfterSeconds: RetryAfterSeconds,
		},
	}}
}
