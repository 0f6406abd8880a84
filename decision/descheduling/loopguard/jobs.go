package loopguard

import (
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// MovesOf are the moves by PodMigrationJobs that succeeded, and by those that run: what is under way counts as moved.
func MovesOf(jobs []schedulingv1alpha1.PodMigrationJob) []Move {
	var moves []Move
	for i := range jobs {
		job := &jobs[i]
		from, workload := job.Annotations[extension.AnnotationSourceNode], job.Annotations[extension.AnnotationSourceWorkload]
		if from == "" || workload == "" || !counts(job) {
			continue
		}
		move := Move{Workload: workload, From: from, To: job.Status.NodeName, At: job.CreationTimestamp.Time, By: ByDescheduler}
		if move.To == "" {
			move.To = job.Annotations[extension.AnnotationTargetNode]
		}
		if ref := job.Spec.PodRef; ref != nil {
			move.Pod = ref.Namespace + "/" + ref.Name
		}
		moves = append(moves, move)
	}
	return moves
}

// counts is true for a job that moved its pod, or is about to.
func counts(job *schedulingv1alpha1.PodMigrationJob) bool {
	switch job.Status.Phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded:
		return true
	case schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		return false
	}
	return job.DeletionTimestamp == nil
}
