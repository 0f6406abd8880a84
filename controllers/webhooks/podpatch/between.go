package podpatch

import (
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Between is the patch from one pod to another. Both are compared as this program knows pods, so that a field of a newer API server,
// which it does not know, is not taken for one to be removed.
func Between(before, after *corev1.Pod) admission.Response {
	old, err := json.Marshal(before)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode pod: %w", err))
	}
	changed, err := json.Marshal(after)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode pod: %w", err))
	}
	return admission.PatchResponseFromRaw(old, changed)
}
