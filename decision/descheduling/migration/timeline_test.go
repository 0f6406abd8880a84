package migration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestTimeline(t *testing.T) {
	start := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	step := func(kind schedulingv1alpha1.PodMigrationJobConditionType, status schedulingv1alpha1.PodMigrationJobConditionStatus, seconds int) schedulingv1alpha1.PodMigrationJobCondition {
		return schedulingv1alpha1.PodMigrationJobCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(start.Add(time.Duration(seconds) * time.Second)), Message: "m"}
	}
	const done, not = schedulingv1alpha1.PodMigrationJobConditionStatusTrue, schedulingv1alpha1.PodMigrationJobConditionStatusFalse
	tests := map[string]struct {
		annotations map[string]string
		status      schedulingv1alpha1.PodMigrationJobStatus
		// want are seconds after the start, with the event.
		want []string
	}{
		"one that waits for arbitration": {want: []string{"0s Created"}},
		"one that was arbitrated":        {annotations: map[string]string{extension.AnnotationPassedArbitration: "true"}, want: []string{"0s Created", "0s Arbitrated"}},
		"one that succeeded, with its conditions out of order": {
			annotations: map[string]string{extension.AnnotationPassedArbitration: "true"},
			status: schedulingv1alpha1.PodMigrationJobStatus{Phase: schedulingv1alpha1.PodMigrationJobSucceeded, Conditions: []schedulingv1alpha1.PodMigrationJobCondition{
				step("Eviction", done, 9), step("ReservationCreated", done, 2), step("ReservationScheduled", done, 4), step("BoundPodReady", done, 20),
			}},
			want: []string{"0s Created", "2s Arbitrated", "2s ReservationCreated: m", "4s ReservationScheduled: m", "9s Eviction: m", "20s BoundPodReady: m", "20s Succeeded"},
		},
		"one that failed": {
			status: schedulingv1alpha1.PodMigrationJobStatus{
				Phase: schedulingv1alpha1.PodMigrationJobFailed, Reason: "Unschedulable", Conditions: []schedulingv1alpha1.PodMigrationJobCondition{
					step("ReservationCreated", done, 2), step("ReservationScheduled", not, 30),
				},
			},
			want: []string{"0s Created", "2s ReservationCreated: m", "30s Failed: Unschedulable (failed)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start), Annotations: test.annotations}, Status: test.status}
			var got []string
			for _, moment := range Timeline(job) {
				line := moment.At.Sub(start).String() + " " + moment.Event
				if moment.Message != "" {
					line += ": " + moment.Message
				}
				if moment.Failed {
					line += " (failed)"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("timeline (-want +got):\n%s", diff)
			}
		})
	}
}
