package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// evictionTimeout bounds one try, so that an API server that does not answer does not hold up other jobs.
const evictionTimeout = 30 * time.Second

// evictor evicts pods, each on the condition of its UID.
type evictor struct {
	client kubernetes.Interface
}

// evict tries once, by a policy.
func (e evictor) evict(ctx context.Context, pod *corev1.Pod, action migration.Action, options metav1.DeleteOptions, soft extension.SoftEvictionSpec) error {
	ctx, cancel := context.WithTimeout(ctx, evictionTimeout)
	defer cancel()
	options.Preconditions = &metav1.Preconditions{UID: &action.UID}
	switch action.Policy {
	case migration.Delete:
		return e.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	case migration.SoftEviction:
		return e.annotate(ctx, pod, action.UID, soft)
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: &options}
	// The client would repeat an answer of 429 by itself, and hold up the worker for as long as the answer says.
	return e.client.CoreV1().RESTClient().Post().
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
}

// annotate asks for the eviction. The resource version keeps it from another pod of the name.
func (e evictor) annotate(ctx context.Context, pod *corev1.Pod, uid types.UID, soft extension.SoftEvictionSpec) error {
	annotated := &metav1.ObjectMeta{}
	if err := extension.SetSoftEvictionSpec(annotated, &soft); err != nil {
		return fmt.Errorf("encode the soft eviction: %w", err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": uid, "resourceVersion": pod.ResourceVersion, "annotations": annotated.Annotations,
	}})
	if err != nil {
		return fmt.Errorf("encode the soft eviction: %w", err)
	}
	_, err = e.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// evict evicts the pod of a job, and records in the job what came of it.
func (r *reconciler) evict(ctx context.Context, s situation, action migration.Action) error {
	options := metav1.DeleteOptions{}
	for _, given := range []*metav1.DeleteOptions{r.args.DefaultDeleteOptions, s.job.Spec.DeleteOptions} {
		if given != nil {
			options = *given.DeepCopy()
		}
	}
	now := r.now(s.job)
	soft := extension.SoftEvictionSpec{
		Timestamp: new(metav1.NewTime(now.Truncate(time.Second))), Initiator: migration.CreatedBy, Reason: s.job.Annotations[extension.AnnotationEvictReason],
	}
	if s.job.Spec.DeleteOptions != nil || r.args.DefaultDeleteOptions != nil {
		soft.DeleteOptions = options.DeepCopy()
	}
	err := r.tryEviction(ctx, s, action, options, soft)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return err // the pod is gone, or changed: the next step looks again
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	attempt := migration.Attempt{Policy: action.Policy, Accepted: err == nil, Disrupted: apierrors.IsTooManyRequests(err)}
	attempt.Background = attempt.Disrupted && migration.InBackground(s.pod, err.Error())
	if !attempt.Background {
		countEviction(s.job, s.pod, err)
	}
	if err != nil {
		attempt.Message = err.Error()
		klog.FromContext(ctx).Info("Eviction refused", "background", attempt.Background, "job", s.job.Name, "pod", klog.KObj(s.pod), "policy", action.Policy, "err", err)
	} else {
		r.reportEviction(ctx, s, action)
	}
	_, err = r.writeStatus(ctx, s.job, migration.EvictionTried(s.job, attempt, now))
	return err
}

// tryEviction tries once, by a request or by the evictor.
func (r *reconciler) tryEviction(ctx context.Context, s situation, action migration.Action, options metav1.DeleteOptions, soft extension.SoftEvictionSpec) error {
	if action.Policy != migration.RequestEviction {
		return r.evictor.evict(ctx, s.pod, action, options, soft)
	}
	ctx, cancel := context.WithTimeout(ctx, evictionTimeout)
	defer cancel()
	return r.requests.create(ctx, s.job)
}

func (r *reconciler) reportEviction(ctx context.Context, s situation, action migration.Action) {
	message, done := "Evicted pod", "pod is evicted"
	if action.Policy == migration.RequestEviction {
		message, done = "Requested the eviction of the pod", "eviction of the pod is requested"
	}
	klog.FromContext(ctx).Info(message, "job", s.job.Name, "pod", klog.KObj(s.pod), "node", s.pod.Spec.NodeName, "policy", action.Policy)
	to := s.job.Status.NodeName
	if to == "" {
		to = "any other"
	}
	r.recorder.Eventf(s.pod, s.job, corev1.EventTypeNormal, "Descheduled", "Migrating", "%s from node %s to move to node %s: %s",
		done, s.pod.Spec.NodeName, to, reasonOf(s.job))
}

// reasonOf says why a pod is to be moved.
func reasonOf(job *schedulingv1alpha1.PodMigrationJob) string {
	if reason := job.Annotations[extension.AnnotationEvictReason]; reason != "" {
		return reason
	}
	return fmt.Sprintf("migration job %s", job.Name)
}
