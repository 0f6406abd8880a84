package migration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestMarksOfThePodOfAJob(t *testing.T) {
	const soft, progress, only = extension.AnnotationSoftEviction, extension.AnnotationEvictionInProgress, extension.AnnotationRequestEvictOnly
	intent := metav1.NewTime(created.Add(time.Minute))
	requested := func(initiator string, after time.Duration) string {
		object := &metav1.ObjectMeta{}
		if err := extension.SetSoftEvictionSpec(object, &extension.SoftEvictionSpec{Initiator: initiator, Timestamp: new(metav1.NewTime(intent.Add(after)))}); err != nil {
			t.Fatal(err)
		}
		return object.Annotations[soft]
	}
	remove := func(key string) map[string]*string { return map[string]*string{key: nil} }
	const running, failed, aborted, succeeded = schedulingv1alpha1.PodMigrationJobRunning, schedulingv1alpha1.PodMigrationJobFailed,
		schedulingv1alpha1.PodMigrationJobAborted, schedulingv1alpha1.PodMigrationJobSucceeded
	tests := map[string]struct {
		phase       schedulingv1alpha1.PodMigrationJobPhase
		annotations map[string]string
		change      func(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod)
		another     bool
		want        map[string]*string
	}{
		"a request stays while the job runs":               {phase: running, annotations: map[string]string{soft: requested(CreatedBy, 0)}, want: map[string]*string{}},
		"a request is withdrawn when the job fails":        {phase: failed, annotations: map[string]string{soft: requested(CreatedBy, 0)}, want: remove(soft)},
		"a request is withdrawn when the job is aborted":   {phase: aborted, annotations: map[string]string{soft: requested(CreatedBy, time.Second)}, want: remove(soft)},
		"a request stays when the job succeeded":           {phase: succeeded, annotations: map[string]string{soft: requested(CreatedBy, 0)}, want: map[string]*string{}},
		"a request of another component stays":             {phase: failed, annotations: map[string]string{soft: requested("operator", 0)}, want: map[string]*string{}},
		"a request from before the eviction stays":         {phase: failed, annotations: map[string]string{soft: requested(CreatedBy, -time.Second)}, want: map[string]*string{}},
		"a request that cannot be read stays":              {phase: failed, annotations: map[string]string{soft: "soon"}, want: map[string]*string{}},
		"the marks are another job's":                      {phase: failed, annotations: map[string]string{soft: requested(CreatedBy, 0), only: "", progress: CreatedBy}, another: true},
		"an eviction in the background is marked":          {phase: running, annotations: map[string]string{only: ""}, want: map[string]*string{progress: new(CreatedBy)}},
		"and not marked twice":                             {phase: running, annotations: map[string]string{only: "", progress: CreatedBy}, want: map[string]*string{}},
		"one that another component marked stays":          {phase: running, annotations: map[string]string{only: "", progress: "kubevirt"}, want: map[string]*string{}},
		"the mark is removed when the job fails":           {phase: failed, annotations: map[string]string{only: "", progress: CreatedBy}, want: remove(progress)},
		"another component's mark is not":                  {phase: failed, annotations: map[string]string{only: "", progress: "kubevirt"}, want: map[string]*string{}},
		"a pod without request-evict-only is not marked":   {phase: running, annotations: map[string]string{}, want: map[string]*string{}},
		"a pod that is deleted is left alone":              {phase: failed, annotations: map[string]string{only: "", progress: CreatedBy}, change: func(_ *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) { pod.DeletionTimestamp = &intent }},
		"another pod of the name is left alone":            {phase: failed, annotations: map[string]string{only: "", progress: CreatedBy}, change: func(_ *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) { pod.UID = "other" }},
		"a request without an intent to evict is not ours": {phase: failed, annotations: map[string]string{soft: requested(CreatedBy, 0)}, change: func(job *schedulingv1alpha1.PodMigrationJob, _ *corev1.Pod) { job.Status.Conditions = nil }, want: map[string]*string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			job := &schedulingv1alpha1.PodMigrationJob{
				Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "ns", Name: "web", UID: podUID}},
				Status: schedulingv1alpha1.PodMigrationJobStatus{Phase: test.phase, Conditions: []schedulingv1alpha1.PodMigrationJobCondition{
					{Type: schedulingv1alpha1.PodMigrationJobConditionEviction, LastTransitionTime: intent},
				}},
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: podUID, Annotations: test.annotations}}
			if test.change != nil {
				test.change(job, pod)
			}
			if diff := cmp.Diff(test.want, Marks(job, pod, test.another)); diff != "" {
				t.Errorf("annotations to change (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEvictionInTheBackgroundIsWaitedFor(t *testing.T) {
	c := refusedOnce(0)
	c.Job.Status = EvictionTried(c.Job, Attempt{Disrupted: true, Background: true, Message: extension.EvictionInBackgroundText}, c.now())
	condition := Condition(&c.Job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
	if condition.Reason != reasonInBackground {
		t.Errorf("reason %q, want %q: it is no failure", condition.Reason, reasonInBackground)
	}
	verdict := Decide(c.input(DefaultArgs()), nil)
	if verdict.Action.Kind != NoAction || verdict.RequeueAt.Sub(c.now()) != assumedBackground {
		t.Errorf("action %q, next step after %s, want none and %s", verdict.Action.Kind, verdict.RequeueAt.Sub(c.now()), assumedBackground)
	}
	in := c.input(DefaultArgs())
	in.Now = verdict.RequeueAt
	if again := Decide(in, nil); again.Action.Kind != EvictPod {
		t.Errorf("after that time: action %q, want another try", again.Action.Kind)
	}
	pod := *in.Pod
	pod.EvictedBy = "kubevirt"
	in.Pod = &pod
	if marked := Decide(in, nil); marked.Action.Kind != NoAction || marked.Status.Message != "kubevirt evicts the pod in the background" {
		t.Errorf("a pod that is marked: action %q, message %q", marked.Action.Kind, marked.Status.Message)
	}
}

func TestOnlyTheAnswerOfTheProtocolIsInBackground(t *testing.T) {
	asked := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationRequestEvictOnly: ""}}}
	for _, test := range []struct {
		pod     *corev1.Pod
		message string
		want    bool
	}{
		{asked, "admission webhook denied the request: Eviction triggered evacuation of VMI ns/vm", true},
		{asked, "Cannot evict pod as it would violate the pod's disruption budget.", false},
		{&corev1.Pod{}, "Eviction triggered evacuation", false},
	} {
		if got := InBackground(test.pod, test.message); got != test.want {
			t.Errorf("%q with annotations %v is in the background: %t, want %t", test.message, test.pod.Annotations, got, test.want)
		}
	}
}
