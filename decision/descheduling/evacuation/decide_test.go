package evacuation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// jobOf the pod, which changed a while ago.
func jobOf(name string, phase schedulingv1alpha1.PodMigrationJobPhase, message string, ago time.Duration) Job {
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-ago))},
		Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: phase, Message: message},
	}
	return JobOf(job)
}

func TestEvictionsWaitForTheMigration(t *testing.T) {
	const noNode = "reservation is unschedulable"
	first := Verdict{Create: "eviction-4f3231aac24e21e2", Message: "PodMigrationJob eviction-4f3231aac24e21e2 moves the pod"}
	for _, test := range []struct {
		name   string
		policy Policy
		change func(*Pod)
		jobs   []Job
		want   Verdict
	}{
		{name: "a pod without the annotation", want: Verdict{Allowed: true}},
		{name: "an unknown policy", policy: "true", want: Verdict{Allowed: true, Warning: `annotation descheduler.koordinator.sh/migrate-on-eviction is "true", ` +
			"which is neither Preferred nor Required: the pod is evicted without a reservation"}},
		{name: "a pod that leaves already", policy: Required, change: func(pod *Pod) { pod.Leaving = true }, want: Verdict{Allowed: true}},
		{name: "a pod without a controller", policy: Required, change: func(pod *Pod) { pod.Controlled = false }, want: Verdict{
			Allowed: true, Warning: "the pod has no controller that would replace it: it is evicted without a reservation",
		}},
		{name: "the first eviction", policy: Preferred, want: first},
		{name: "a job that runs", policy: Preferred, jobs: []Job{jobOf("a", "Running", "waiting for a node", time.Hour)}, want: Verdict{
			Message: "PodMigrationJob a moves the pod: waiting for a node",
		}},
		{name: "a job that was just created", policy: Preferred, jobs: []Job{jobOf("a", "", "", time.Second)}, want: Verdict{Message: "PodMigrationJob a moves the pod"}},
		{name: "a job that does not start", policy: Preferred, jobs: []Job{jobOf("a", "Pending", "waiting for the arbitrator", 2*time.Minute)}, want: Verdict{
			Allowed: true, Warning: "PodMigrationJob a has not started within 2m0s: waiting for the arbitrator: the pod is evicted without a reservation",
		}},
		{name: "a job that does not start, and is required", policy: Required, jobs: []Job{jobOf("a", "Pending", "waiting for the arbitrator", time.Hour)}, want: Verdict{
			Message: "PodMigrationJob a moves the pod: waiting for the arbitrator",
		}},
		{name: "a job that failed", policy: Preferred, jobs: []Job{jobOf("a", "Failed", noNode, time.Minute)}, want: Verdict{
			Allowed: true, Warning: "PodMigrationJob a ended as Failed: reservation is unschedulable: the pod is evicted without a reservation",
		}},
		{name: "a job that failed, and is required", policy: Required, jobs: []Job{jobOf("a", "Failed", noNode, time.Minute)}, want: Verdict{
			Message: "PodMigrationJob a ended as Failed: reservation is unschedulable; the next one is created from 2026-05-01T12:04:00Z on",
		}},
		{name: "a job that failed long ago", policy: Required, jobs: []Job{jobOf("a", "Failed", noNode, 5*time.Minute)}, want: Verdict{
			Create: "eviction-ad168c9f744dbc4e", Message: "PodMigrationJob eviction-ad168c9f744dbc4e moves the pod",
		}},
		{name: "the latest job counts", policy: Preferred, jobs: []Job{jobOf("b", "Running", "", time.Minute), jobOf("a", "Failed", noNode, time.Hour)}, want: Verdict{
			Message: "PodMigrationJob b moves the pod",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Pod: Pod{UID: "pod", Policy: test.policy, Controlled: true}, Jobs: test.jobs, Now: now}
			if test.change != nil {
				test.change(&in.Pod)
			}
			if diff := cmp.Diff(test.want, Decide(in)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobThatTimedOutEndedWithItsTTL(t *testing.T) {
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{TTL: &metav1.Duration{Duration: 58 * time.Minute}},
		Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: "Failed", Reason: schedulingv1alpha1.PodMigrationJobReasonTimeout},
	}
	if got, want := JobOf(job).Ended, now.Add(-2*time.Minute); !got.Equal(want) {
		t.Errorf("the job ended at %s, want %s", got, want)
	}
}

func TestWhatIsReadOfAPod(t *testing.T) {
	pod := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		out := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				UID: "pod", Annotations: map[string]string{extension.AnnotationMigrateOnEviction: "Required"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "a"},
		}
		for _, edit := range edits {
			edit(out)
		}
		return out
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want Pod
	}{
		"a pod that runs":         {pod(), Pod{UID: "pod", Policy: Required, Controlled: true}},
		"a pod that is deleted":   {pod(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(now)) }), Pod{UID: "pod", Policy: Required, Controlled: true, Leaving: true}},
		"a pod that has ended":    {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), Pod{UID: "pod", Policy: Required, Controlled: true, Leaving: true}},
		"a pod without a node":    {pod(func(p *corev1.Pod) { p.Spec.NodeName = "" }), Pod{UID: "pod", Policy: Required, Controlled: true, Leaving: true}},
		"a pod with nothing else": {&corev1.Pod{Spec: corev1.PodSpec{NodeName: "a"}}, Pod{}},
	} {
		if diff := cmp.Diff(test.want, PodOf(test.pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
