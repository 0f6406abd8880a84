package evacuation

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/decision/descheduling/evacuation"
)

// Path of the webhook.
const Path = "/migrate-on-eviction"

// jobTTL is how long a job may take.
const jobTTL = 10 * time.Minute

// causeMigrating is the cause of answers while a job moves the pod.
const causeMigrating metav1.CauseType = "MigrationInProgress"

// byPod is the index of jobs by the UIDs of their pods.
const byPod = "evacuation.pod"

// Handler answers evictions. It is safe for concurrent use.
type Handler struct {
	// Decoder of Evictions; required.
	Decoder admission.Decoder
	// Movers are the user names whose evictions are let through: koord-descheduler, which ends a migration with one, and the node agents,
	// which relieve their nodes.
	Movers []string
	// Client has the jobs in its cache, with the index that AddToManager makes, and creates them. Live reads pods.
	Client client.Client
	Live   client.Reader
	Clock  clock.PassiveClock
}

var _ admission.Handler = (*Handler)(nil)

// Handle answers one eviction.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "eviction" || slices.Contains(h.Movers, request.UserInfo.Username) {
		return admission.Allowed("")
	}
	asked := &policyv1.Eviction{}
	if err := h.Decoder.Decode(request, asked); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode eviction: %w", err))
	}
	name := types.NamespacedName{Namespace: request.Namespace, Name: request.Name}
	pod := &corev1.Pod{}
	if err := h.Live.Get(ctx, name, pod); apierrors.IsNotFound(err) {
		return admission.Allowed("") // the API server says so itself
	} else if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("get pod %s: %w", name, err))
	}
	jobs, err := h.jobs(ctx, pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	verdict := evacuation.Decide(evacuation.Input{Pod: evacuation.PodOf(pod), Jobs: jobs, Now: h.Clock.Now()})
	if verdict.Create != "" && !eviction.IsTried(request, asked) {
		if err := h.create(ctx, pod, verdict.Create, request.UserInfo.Username); err != nil {
			count(resultFailed)
			return admission.Errored(http.StatusServiceUnavailable, err)
		}
	}
	return answer(name, verdict)
}

// jobs of a pod, by the cache. A job that it does not have yet has the name of the one that would be created.
func (h *Handler) jobs(ctx context.Context, pod *corev1.Pod) ([]evacuation.Job, error) {
	var list schedulingv1alpha1.PodMigrationJobList
	if err := h.Client.List(ctx, &list, client.MatchingFields{byPod: string(pod.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the migration jobs of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	jobs := make([]evacuation.Job, len(list.Items))
	for i := range list.Items {
		jobs[i] = evacuation.JobOf(&list.Items[i])
	}
	return jobs, nil
}

// create creates a job. One of the name is the same one, made for an eviction at the same time.
func (h *Handler) create(ctx context.Context, pod *corev1.Pod, name, user string) error {
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			extension.AnnotationEvictReason: fmt.Sprintf("eviction requested by %s", user), extension.AnnotationEvictTrigger: "Eviction",
			extension.AnnotationSourceNode: pod.Spec.NodeName,
		}},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			Mode: schedulingv1alpha1.PodMigrationJobModeReservationFirst, TTL: &metav1.Duration{Duration: jobTTL},
			PodRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		},
	}
	err := h.Client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create PodMigrationJob %s for pod %s/%s: %w", name, pod.Namespace, pod.Name, err)
	}
	log.FromContext(ctx).Info("Created migration job for an eviction", "job", name, "pod", client.ObjectKeyFromObject(pod).String(), "user", user)
	return nil
}

// answer is the verdict as the API server passes it on: 429 with the text by which sigs.k8s.io/descheduler knows an eviction in the
// background, and after which kubectl drain tries again.
func answer(pod types.NamespacedName, verdict evacuation.Verdict) admission.Response {
	if verdict.Allowed {
		count(resultAllowed)
		response := admission.Allowed("")
		if verdict.Warning != "" {
			response = response.WithWarnings(fmt.Sprintf("%s (%s)", verdict.Warning, finding.EvictionWithoutReservation))
		}
		return response
	}
	count(resultMigrating)
	denied := admission.Denied(fmt.Sprintf("%s: %s", extension.EvictionInBackgroundText, verdict.Message))
	return eviction.TooMany(denied, pod, causeMigrating, verdict.Message)
}
