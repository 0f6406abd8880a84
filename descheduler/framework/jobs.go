package framework

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
)

// newJob is a migration job for the pod.
func (e *evictor) newJob(
	pass *ledger, pod *corev1.Pod, entry *Eviction, attempt int, edit func(*schedulingv1alpha1.PodMigrationJob),
) *schedulingv1alpha1.PodMigrationJob {
	spec := e.profile.jobSpec(pod)
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{
				extension.AnnotationEvictReason:  entry.Reason,
				extension.AnnotationEvictTrigger: entry.Plugin,
				extension.AnnotationJobCreatedBy: e.descheduler.config.Identity,
				// Jobs of one pass that also have a target start in the order in which they make room for each other.
				extension.AnnotationMigrationPass: pass.name,
				extension.AnnotationSourceNode:    pod.Spec.NodeName,
			},
		},
		// What the API server answers is decoded into the job, and must not reach the arguments of a plugin.
		Spec: *spec.DeepCopy(),
	}
	if edit != nil {
		edit(job)
	}
	job.Name = jobName(pod, attempt)
	job.Spec.PodRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	return job
}

// jobSpec is what the profile says of the jobs of its pods.
func (p *profile) jobSpec(pod *corev1.Pod) schedulingv1alpha1.PodMigrationJobSpec {
	if p.migrator != nil {
		return p.migrator.JobSpec(pod)
	}
	spec := schedulingv1alpha1.PodMigrationJobSpec{
		TTL:  &metav1.Duration{Duration: defaultJobTTL},
		Mode: schedulingv1alpha1.PodMigrationJobModeReservationFirst,
	}
	// A pod that ended holds no resources that its successor would need elsewhere.
	if podstate.Ended(pod) {
		spec.Mode = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly
	}
	return spec
}

// maxPodInJobName leaves room for the rest of a name of 253 bytes.
const maxPodInJobName = 200

// jobName is the name of a job for a pod, the same for the same pod and attempt, so that a job whose creation was not answered is found
// again, and two deschedulers cannot create two.
func jobName(pod *corev1.Pod, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", pod.UID, attempt))
	name := pod.Name[:min(len(pod.Name), maxPodInJobName)]
	return strings.TrimRight(name, "-.") + "-" + hex.EncodeToString(sum[:6])
}

// errUnknown marks an error after which the job may be there.
var errUnknown = errors.New("it may have been created")

// maxJobNames bounds the jobs of a pod that are over and unknown to the pass.
const maxJobNames = 8

// createJob creates the job, and returns its name. It is not created when the pod has a live job that the pass did not know of; one of the
// same name that is over makes the next name the right one.
func (d *Descheduler) createJob(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, attempt int) (name string, created bool, err error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: job.Spec.PodRef.Name, UID: job.Spec.PodRef.UID}}
	for next := attempt; next < attempt+maxJobNames; next++ {
		job.Name, job.ResourceVersion = jobName(pod, next), ""
		err := d.config.Jobs.Create(ctx, job)
		if err == nil {
			return job.Name, true, nil
		}
		exists := apierrors.IsAlreadyExists(err)
		if !exists && !answerLost(err) {
			return "", false, fmt.Errorf("create migration job for pod %s/%s: %w", job.Spec.PodRef.Namespace, job.Spec.PodRef.Name, err)
		}
		found := &schedulingv1alpha1.PodMigrationJob{}
		getErr := d.config.LiveJobs.Get(ctx, types.NamespacedName{Name: job.Name}, found)
		switch {
		case apierrors.IsNotFound(getErr) && exists: // it was there, and is deleted
		case apierrors.IsNotFound(getErr):
			return "", false, fmt.Errorf("create migration job for pod %s/%s: %w", job.Spec.PodRef.Namespace, job.Spec.PodRef.Name, err)
		case getErr != nil:
			return "", false, fmt.Errorf("get migration job %s: %w, %w", job.Name, getErr, errUnknown)
		case !hasEnded(found):
			return found.Name, !exists, nil
		}
	}
	return "", false, fmt.Errorf("create migration job for pod %s/%s: %d jobs of the pod are over that the pass did not know of", job.Spec.PodRef.Namespace, job.Spec.PodRef.Name, maxJobNames)
}

// answerLost is true for errors after which the object may have been created.
func answerLost(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err)
}

// listJobs reads all migration jobs, which must not be modified.
func listJobs(ctx context.Context, reader client.Reader) ([]schedulingv1alpha1.PodMigrationJob, error) {
	list := &schedulingv1alpha1.PodMigrationJobList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list migration jobs: %w", err)
	}
	return list.Items, nil
}
