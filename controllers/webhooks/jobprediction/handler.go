package jobprediction

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/jobinsight"
	"koordinator.sh/koord/controllers/webhooks/podpatch"
)

// Path of the webhook.
const Path = "/predict-job"

// Handler writes the annotation job-prediction to pods of jobs, and removes it from pods of which nothing is known: nobody spares a pod from
// eviction by writing one. It admits every pod. It is safe for concurrent use.
type Handler struct {
	// Runs that predictions rest on; required, as is Decoder.
	Runs    *jobinsight.Runs
	Decoder admission.Decoder
}

// Handle answers one request.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := h.Decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	pod.Namespace = request.Namespace
	var expected *extension.JobPrediction
	store, err := h.Runs.Latest(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to predict a job; the pod is created without a prediction", "namespace", pod.Namespace)
	} else {
		expected = store.Expected(&pod)
	}
	count(expected, err)
	return patch(&pod, expected)
}

// patch changes the annotation and nothing else.
func patch(pod *corev1.Pod, expected *extension.JobPrediction) admission.Response {
	changed := pod.DeepCopy()
	if err := extension.SetJobPrediction(changed, expected); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return podpatch.Between(pod, changed)
}
