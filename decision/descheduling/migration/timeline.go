package migration

import (
	"cmp"
	"slices"
	"time"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// The moments of a timeline beside those that the conditions of a job name.
const (
	MomentCreated    = "Created"
	MomentArbitrated = "Arbitrated"
)

// Moment is a step of a PodMigrationJob that was done or failed.
type Moment struct {
	At time.Time
	// Event is Created, Arbitrated, the type of a condition, or the phase in which the job ended.
	Event string
	// Message says more, such as why the job failed; it may be empty.
	Message string
	Failed  bool
}

// Timeline lists what a job has come to, the oldest first. When it was arbitrated and when it ended is not recorded: these take the time of
// the step after and of the step before.
func Timeline(job *schedulingv1alpha1.PodMigrationJob) []Moment {
	created := job.CreationTimestamp.Time
	var steps []Moment
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		if condition.Status == schedulingv1alpha1.PodMigrationJobConditionStatusTrue {
			steps = append(steps, Moment{At: condition.LastTransitionTime.Time, Event: string(condition.Type), Message: cmp.Or(condition.Message, condition.Reason)})
		}
	}
	slices.SortStableFunc(steps, func(a, b Moment) int { return a.At.Compare(b.At) })
	out := []Moment{{At: created, Event: MomentCreated, Message: job.Annotations[extension.AnnotationEvictReason]}}
	if extension.HasPassedArbitration(job.Annotations) {
		at := created
		if len(steps) > 0 {
			at = steps[0].At
		}
		out = append(out, Moment{At: at, Event: MomentArbitrated})
	}
	out = append(out, steps...)
	switch phase := job.Status.Phase; phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		out = append(out, Moment{
			At: latest(job), Event: string(phase), Message: cmp.Or(job.Status.Message, job.Status.Reason), Failed: phase != schedulingv1alpha1.PodMigrationJobSucceeded,
		})
	}
	return out
}

// latest is when a condition of the job changed last.
func latest(job *schedulingv1alpha1.PodMigrationJob) time.Time {
	at := job.CreationTimestamp.Time
	for i := range job.Status.Conditions {
		if changed := job.Status.Conditions[i].LastTransitionTime.Time; changed.After(at) {
			at = changed
		}
	}
	return at
}
