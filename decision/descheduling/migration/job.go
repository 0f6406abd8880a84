package migration

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Finished reports whether a job has ended.
func Finished(job *schedulingv1alpha1.PodMigrationJob) bool {
	switch job.Status.Phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		return true
	}
	return false
}

// TTLOf is the time a job may take from its creation. It is always greater than 0.
func TTLOf(job *schedulingv1alpha1.PodMigrationJob, args *Args) time.Duration {
	if job.Spec.TTL != nil && job.Spec.TTL.Duration > 0 {
		return job.Spec.TTL.Duration
	}
	if args.DefaultJobTTL != nil && args.DefaultJobTTL.Duration > 0 {
		return args.DefaultJobTTL.Duration
	}
	return DefaultTTL
}

// Deadline is the time at which a job that has not ended fails.
func Deadline(job *schedulingv1alpha1.PodMigrationJob, args *Args) time.Time {
	return job.CreationTimestamp.Add(TTLOf(job, args))
}

// ModeOf is the mode of a job.
func ModeOf(job *schedulingv1alpha1.PodMigrationJob, args *Args) schedulingv1alpha1.PodMigrationJobMode {
	if job.Spec.Mode != "" {
		return job.Spec.Mode
	}
	return args.DefaultJobMode
}

// Latest is the latest time that a job records. A clock that is behind it was set back.
func Latest(job *schedulingv1alpha1.PodMigrationJob) time.Time {
	latest := job.CreationTimestamp.Time
	for _, condition := range job.Status.Conditions {
		for _, at := range []time.Time{condition.LastProbeTime.Time, condition.LastTransitionTime.Time} {
			if at.After(latest) {
				latest = at
			}
		}
	}
	return latest
}

// ReservationName is the name of the Reservation of a job: the one it names, or its own UID.
func ReservationName(job *schedulingv1alpha1.PodMigrationJob) string {
	if options := job.Spec.ReservationOptions; options != nil && options.ReservationRef != nil && options.ReservationRef.Name != "" {
		return options.ReservationRef.Name
	}
	return string(job.UID)
}

// PodUID is the UID of the pod to move; empty before it was looked up.
func PodUID(job *schedulingv1alpha1.PodMigrationJob) types.UID {
	if job.Spec.PodRef == nil {
		return ""
	}
	return job.Spec.PodRef.UID
}

// Condition of a type; nil when there is none.
func Condition(status *schedulingv1alpha1.PodMigrationJobStatus, of schedulingv1alpha1.PodMigrationJobConditionType) *schedulingv1alpha1.PodMigrationJobCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == of {
			return &status.Conditions[i]
		}
	}
	return nil
}

// holds reports whether a condition is true.
func holds(status *schedulingv1alpha1.PodMigrationJobStatus, of schedulingv1alpha1.PodMigrationJobConditionType) bool {
	condition := Condition(status, of)
	return condition != nil && condition.Status == schedulingv1alpha1.PodMigrationJobConditionStatusTrue
}

// setCondition records a step. Its times change only with what it says: the same step twice is the same status.
func setCondition(status *schedulingv1alpha1.PodMigrationJobStatus, condition schedulingv1alpha1.PodMigrationJobCondition, now time.Time) {
	condition.LastProbeTime, condition.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second)), metav1.NewTime(now.Truncate(time.Second))
	before := Condition(status, condition.Type)
	if before == nil {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if before.Status == condition.Status {
		condition.LastTransitionTime = before.LastTransitionTime
	}
	if before.Status == condition.Status && before.Reason == condition.Reason && before.Message == condition.Message && before.Attempts == condition.Attempts {
		return
	}
	*before = condition
}

// referenceTo is the pod that a Reservation's status lists as its user.
func referenceTo(user corev1.ObjectReference) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: user.Namespace, Name: user.Name, UID: user.UID}
}
