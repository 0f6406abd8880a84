package loopguard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestMovesOf(t *testing.T) {
	job := func(change func(*schedulingv1alpha1.PodMigrationJob)) schedulingv1alpha1.PodMigrationJob {
		job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
			Name: "job", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
			Annotations: map[string]string{
				extension.AnnotationSourceNode: "a", extension.AnnotationSourceWorkload: "w", extension.AnnotationTargetNode: "planned",
			},
		}}
		job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web"}
		job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, "b"
		change(&job)
		return job
	}
	tests := map[string]struct {
		change func(*schedulingv1alpha1.PodMigrationJob)
		want   []string
	}{
		"one that succeeded": {func(*schedulingv1alpha1.PodMigrationJob) {}, []string{"shop/web a b"}},
		"one that runs, by its planned target": {func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Status = schedulingv1alpha1.PodMigrationJobStatus{Phase: schedulingv1alpha1.PodMigrationJobRunning}
		}, []string{"shop/web a planned"}},
		"one that failed": {change: func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
		}},
		"one that is deleted while it runs": {change: func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Status.Phase, job.DeletionTimestamp = schedulingv1alpha1.PodMigrationJobRunning, &metav1.Time{Time: noon}
		}},
		"one that was not admitted yet": {change: func(job *schedulingv1alpha1.PodMigrationJob) { job.Annotations = nil }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, move := range MovesOf([]schedulingv1alpha1.PodMigrationJob{job(test.change)}) {
				got = append(got, move.Pod+" "+move.From+" "+move.To)
				if move.Workload != "w" || !move.At.Equal(noon.Add(-time.Hour)) || move.By != ByDescheduler {
					t.Errorf("%+v", move)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}
