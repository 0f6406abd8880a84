package eviction

import (
	"net/http"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TooMany is a refusal as the API server's own for a budget: with status 429, after which clients try again, and a cause that they know it
// by.
func TooMany(response admission.Response, pod types.NamespacedName, cause metav1.CauseType, text string) admission.Response {
	response.Result.Code, response.Result.Reason = http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests
	response.Result.Details = &metav1.StatusDetails{Name: pod.Name, Kind: "pods", Causes: []metav1.StatusCause{{Type: cause, Message: text}}}
	return response
}

// IsTried reports whether an eviction is a dry run: by the options of the request, or by those of the deletion.
func IsTried(request admission.Request, eviction *policyv1.Eviction) bool {
	return request.DryRun != nil && *request.DryRun || eviction.DeleteOptions != nil && len(eviction.DeleteOptions.DryRun) > 0
}
