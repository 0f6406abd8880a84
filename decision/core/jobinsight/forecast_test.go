package jobinsight

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestForecast(t *testing.T) {
	store := repeated(Kind{User: "etl", Application: "report"}, 20, Completed, 2, time.Hour)
	now := noon.Add(30 * time.Minute)
	container := func(state corev1.ContainerState) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: state}}
	}
	tests := map[string]struct {
		status        corev1.PodStatus
		wantState     State
		wantRan       time.Duration
		wantRemaining bool
	}{
		"that waits for a node": {corev1.PodStatus{Phase: corev1.PodPending}, Pending, 0, false},
		"that runs": {corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: container(corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}})}, Running, 30 * time.Minute, true},
		"whose clock is ahead": {corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: container(corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(time.Hour))}})}, Running, 0, true},
		"that ended": {corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: container(corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(noon), FinishedAt: metav1.NewTime(noon.Add(time.Minute))}})}, Ended, time.Minute, false},
	}
	for name, test := range tests {
		t.Run("a job "+name, func(t *testing.T) {
			got, ok := store.Forecast(ofJob("report-12345678", func(p *corev1.Pod) { p.Status = test.status }), now, 0.9, nil)
			if !ok || got.State != test.wantState || got.Ran != test.wantRan || (got.Remaining != nil) != test.wantRemaining || got.Of(Memory) == nil {
				t.Errorf("%v %+v", ok, got)
			}
		})
	}
	if _, ok := store.Forecast(&corev1.Pod{}, now, 0.9, nil); ok {
		t.Error("a pod that is no job has a forecast")
	}
}
