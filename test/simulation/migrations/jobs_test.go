package migrations

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
)

// jobController does what the controller of PodMigrationJobs does with one job that has not finished. It is called with a copy, again
// and again.
type jobController interface {
	step(w *world, job *schedulingv1alpha1.PodMigrationJob)
}

// model is the least that a controller does: jobs that passed the arbitration evict their pod, wait until as many pods are ready as
// before, and end. Evictions are refused sometimes, jobs fail at any time, and at the end of their ttl.
type model struct{}

func (model) step(w *world, job *schedulingv1alpha1.PodMigrationJob) {
	switch {
	case w.now.Sub(job.CreationTimestamp.Time) >= job.Spec.TTL.Duration:
		w.finish(job, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobReasonTimeout)
	case arbitration.StateOf(job) != arbitration.Running || job.Spec.Paused:
	case w.chance(5):
		w.finish(job, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobReasonUnschedulable)
	case job.Status.Phase != schedulingv1alpha1.PodMigrationJobRunning:
		job.Status.Phase = schedulingv1alpha1.PodMigrationJobRunning
		_ = w.server.update(job)
	case len(job.Status.Conditions) == 0:
		w.evict(job)
	case w.replaced(job):
		w.finish(job, schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")
	}
}

func (w *world) finish(job *schedulingv1alpha1.PodMigrationJob, phase schedulingv1alpha1.PodMigrationJobPhase, reason string) {
	job.Status.Phase, job.Status.Reason = phase, reason
	_ = w.server.update(job)
	w.note("%s ends: %s %s", job.Name, phase, reason)
}

// evict deletes the pod, unless a budget refuses that, and says so.
func (w *world) evict(job *schedulingv1alpha1.PodMigrationJob) {
	pod, found := w.server.objects[key{kind: "Pod", namespace: job.Spec.PodRef.Namespace, name: job.Spec.PodRef.Name}].(*corev1.Pod)
	switch {
	case !found:
		w.finish(job, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobReasonMissingPod)
		return
	case w.chance(30):
		w.note("the eviction of %s is refused", pod.Name)
		return
	}
	w.deletePod(job, pod)
	job.Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{
		Type: schedulingv1alpha1.PodMigrationJobConditionEviction, Status: schedulingv1alpha1.PodMigrationJobConditionStatusTrue,
		Reason: schedulingv1alpha1.PodMigrationJobReasonEvictComplete, LastTransitionTime: metav1.NewTime(w.now),
	}}
	_ = w.server.update(job)
}

// deletePod is what an eviction does.
func (w *world) deletePod(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) {
	w.server.delete(pod)
	w.moved++
	for _, of := range []string{"namespace " + pod.Namespace, pod.Labels["app"]} {
		w.evictions[of] = append(w.evictions[of], w.now)
	}
	w.note("%s evicts %s", job.Name, pod.Name)
}

// replaced is true when the workload of a job is as it should be.
func (w *world) replaced(job *schedulingv1alpha1.PodMigrationJob) bool {
	deployment := job.Labels["app"]
	return w.available(deployment) >= w.replicas(deployment)
}
