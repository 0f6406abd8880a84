package jobinsight

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// ofJob is a pod of a Job.
func ofJob(job string, change ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: job + "-abcde", Labels: map[string]string{}, Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: job, Controller: &controller}}}}
	for _, each := range change {
		if each != nil {
			each(pod)
		}
	}
	return pod
}

func TestKindOf(t *testing.T) {
	tests := map[string]struct {
		pod       *corev1.Pod
		want      Kind
		wantNoJob bool
	}{
		"of a CronJob":             {pod: ofJob("report-29384756", nil), want: Kind{User: "etl", Application: "report"}},
		"of a Job of generateName": {pod: ofJob("report-x7k2p", nil), want: Kind{User: "etl", Application: "report"}},
		"of a Job with a name":     {pod: ofJob("report-daily", nil), want: Kind{User: "etl", Application: "report-daily"}},
		"of Spark, with a quota": {pod: ofJob("x", func(p *corev1.Pod) {
			p.OwnerReferences = nil
			p.Labels = map[string]string{LabelSparkApplication: "pi", labelSparkRole: "driver", extension.LabelQuotaName: "analytics"}
		}), want: Kind{User: "etl", Queue: "analytics", Application: "pi", Shape: "driver"}},
		"with annotations": {pod: ofJob("x", func(p *corev1.Pod) {
			p.OwnerReferences = nil
			p.Annotations = map[string]string{extension.AnnotationJobUser: "alice", extension.AnnotationJobQueue: "q", extension.AnnotationJobApplication: "etl-7", extension.AnnotationJobShape: "large"}
		}), want: Kind{User: "alice", Queue: "q", Application: "etl-7", Shape: "large"}},
		"of a service": {pod: ofJob("x", func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }), want: Kind{User: "etl"}, wantNoJob: true},
	}
	for name, test := range tests {
		t.Run("a pod "+name, func(t *testing.T) {
			got, isJob := KindOf(test.pod)
			if diff := cmp.Diff(test.want, got); diff != "" || isJob == test.wantNoJob {
				t.Errorf("is a job: %v (-want +got):\n%s", isJob, diff)
			}
		})
	}
}

func TestHowPodsEnd(t *testing.T) {
	ended := func(reason string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: reason, ExitCode: code, StartedAt: metav1.NewTime(noon), FinishedAt: metav1.NewTime(noon.Add(time.Hour))}}}
	}
	tests := map[string]struct {
		status  corev1.PodStatus
		want    Outcome
		wantNot bool
	}{
		"running":       {status: corev1.PodStatus{Phase: corev1.PodRunning}, wantNot: true},
		"succeeded":     {status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{ended("Completed", 0)}}, want: Completed},
		"failed":        {status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{ended("Error", 1)}}, want: Failed},
		"out of memory": {status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{ended("OOMKilled", 137)}}, want: OOMKilled},
		"evicted":       {status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, want: Killed},
		"preempted": {status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{ended("Error", 143)},
			Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}, want: Killed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: test.status}
			at, got, ok := EndOf(pod)
			if got != test.want || ok == test.wantNot {
				t.Errorf("%q, %v; want %q", got, ok, test.want)
			}
			if len(test.status.ContainerStatuses) > 0 && (!at.Equal(noon.Add(time.Hour)) || !StartOf(pod).Equal(noon)) {
				t.Errorf("from %s to %s, want an hour from noon", StartOf(pod), at)
			}
		})
	}
	executor := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{labelSparkRole: "executor"}}}
	if got := OutcomeOfDeleted(executor); got != Completed {
		t.Errorf("an executor that its driver deleted is %s", got)
	}
	if got := OutcomeOfDeleted(ofJob("x", nil)); got != Killed {
		t.Errorf("a deleted pod of a Job is %s", got)
	}
}
