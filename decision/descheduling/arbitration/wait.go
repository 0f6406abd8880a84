package arbitration

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// MarkWaiting records on a job what it waits for, and reports whether that is news: another gate, or the same one after the time that was
// recorded. Counts that change are none, so that jobs that wait are not written again and again.
func MarkWaiting(job *schedulingv1alpha1.PodMigrationJob, outcome Outcome, now time.Time) (bool, error) {
	recorded, err := extension.GetArbitrationWait(job.Annotations)
	if err == nil && recorded != nil && recorded.Gate == string(outcome.Gate) && (recorded.Until == nil || now.Before(recorded.Until.Time)) {
		return false, nil
	}
	wait := &extension.ArbitrationWait{Gate: string(outcome.Gate), Message: outcome.Message}
	if outcome.Retry > 0 {
		wait.Until = &metav1.Time{Time: now.Add(outcome.Retry)}
	}
	return true, extension.SetArbitrationWait(job, wait)
}
