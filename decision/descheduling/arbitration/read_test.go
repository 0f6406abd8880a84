package arbitration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// objectOf is a job in a phase that was created five minutes ago, changed as the options say.
func objectOf(phase schedulingv1alpha1.PodMigrationJobPhase, options ...func(job *schedulingv1alpha1.PodMigrationJob)) *schedulingv1alpha1.PodMigrationJob {
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "uid", CreationTimestamp: metav1.NewTime(noon.Add(-5 * time.Minute))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: "web", UID: "pod"}},
		Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: phase},
	}
	for _, option := range options {
		option(job)
	}
	return job
}

func passed(job *schedulingv1alpha1.PodMigrationJob) {
	Admit(job, Admission{Node: "node-1", Workload: "w", Title: "Deployment/web"})
}

func eviction(status schedulingv1alpha1.PodMigrationJobConditionStatus, reason string, probed time.Duration) func(*schedulingv1alpha1.PodMigrationJob) {
	return func(job *schedulingv1alpha1.PodMigrationJob) {
		job.Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{
			Type: schedulingv1alpha1.PodMigrationJobConditionEviction, Status: status, Reason: reason,
			LastTransitionTime: metav1.NewTime(noon.Add(-3 * time.Minute)), LastProbeTime: metav1.NewTime(noon.Add(-probed)),
		}}
	}
}

func TestRead(t *testing.T) {
	const (
		isTrue   = schedulingv1alpha1.PodMigrationJobConditionStatusTrue
		isFalse  = schedulingv1alpha1.PodMigrationJobConditionStatusFalse
		evicting = schedulingv1alpha1.PodMigrationJobReasonEvicting
		running  = schedulingv1alpha1.PodMigrationJobRunning
		ended    = schedulingv1alpha1.PodMigrationJobFailed
	)
	reservationBound := func(status schedulingv1alpha1.PodMigrationJobConditionStatus) func(*schedulingv1alpha1.PodMigrationJob) {
		return func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{Type: schedulingv1alpha1.PodMigrationJobConditionReservationBound, Status: status}}
		}
	}
	direct := func(job *schedulingv1alpha1.PodMigrationJob) {
		job.Spec.Mode = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly
	}
	for name, test := range map[string]struct {
		job  *schedulingv1alpha1.PodMigrationJob
		want func(job *Job)
	}{
		"one that evicts without a reservation": {objectOf("", direct), func(job *Job) { job.Home = AnyHome }},
		"one whose reservation waits for its pod": {objectOf(running, passed, reservationBound(isFalse)), func(job *Job) {
			job.State, job.Node, job.Workload = Running, "node-1", "w"
		}},
		"one whose reservation is used": {objectOf(running, passed, reservationBound(isTrue)), func(job *Job) {
			job.State, job.Node, job.Workload, job.Home = Running, "node-1", "w", ""
		}},
		"a new job":     {objectOf(""), func(*Job) {}},
		"a pending job": {objectOf(schedulingv1alpha1.PodMigrationJobPending), func(*Job) {}},
		"one that may start": {objectOf(schedulingv1alpha1.PodMigrationJobPending, passed), func(job *Job) {
			job.State, job.Node, job.Workload = Running, "node-1", "w"
		}},
		"one that replaces its pod first": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) { Admit(job, Admission{Node: "n", ReplacedFirst: true}) }),
			func(job *Job) { job.State, job.Node, job.ReplacedFirst = Running, "n", true },
		},
		"one that a user wants to replace its pod first": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) {
				job.Annotations = map[string]string{extension.AnnotationReplaceFirst: "true"}
			}),
			func(*Job) {},
		},
		"one that passed without a workload": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) { Admit(job, Admission{}) }), func(job *Job) { job.State, job.Home = Running, AnyHome },
		},
		"one that upstream's descheduler let start": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) {
				job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
			}),
			func(job *Job) { job.State, job.Unattributed = Running, true },
		},
		"one whose annotation says something else": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) {
				job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "false"}
			}),
			func(*Job) {},
		},
		"one that runs":             {objectOf(running), func(job *Job) { job.State, job.Unattributed = Running, true }},
		"a phase that is not known": {objectOf("Resting"), func(job *Job) { job.State, job.Unattributed = Running, true }},
		"one that was aborted":      {objectOf(schedulingv1alpha1.PodMigrationJobAborted), func(job *Job) { job.State = Finished }},
		"one that succeeded, passed": {objectOf(schedulingv1alpha1.PodMigrationJobSucceeded, passed, eviction(isTrue, "EvictComplete", time.Hour)), func(job *Job) {
			job.State, job.Node, job.Workload, job.EvictedAt = Finished, "node-1", "w", noon.Add(-3*time.Minute)
		}},
		"one that is about to evict": {objectOf(running, passed, eviction(isFalse, evicting, 0)), func(job *Job) {
			job.State, job.Node, job.Workload = Running, "node-1", "w"
		}},
		"one that ended after a try to evict": {objectOf(ended, eviction(isFalse, evicting, time.Minute)), func(job *Job) {
			job.State, job.EvictedAt = Finished, noon.Add(-time.Minute)
		}},
		"one that ended because it could not evict": {
			objectOf(ended, eviction(isFalse, schedulingv1alpha1.PodMigrationJobReasonFailedEvict, 0)), func(job *Job) { job.State = Finished },
		},
		"one without a reference, with a ttl, paused": {
			objectOf("", func(job *schedulingv1alpha1.PodMigrationJob) {
				job.Spec = schedulingv1alpha1.PodMigrationJobSpec{Paused: true, TTL: &metav1.Duration{Duration: time.Minute}}
			}),
			func(job *Job) {
				job.Namespace, job.Pod, job.PodUID, job.Paused, job.Expires = "", "", "", true, noon.Add(-4*time.Minute)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := Job{UID: "uid", Name: "job", State: Pending, Created: noon.Add(-5 * time.Minute), Namespace: "shop", Pod: "web", PodUID: "pod", Home: ReservedHome}
			test.want(&want)
			if want.State == Finished {
				want.Home = ""
			}
			if diff := cmp.Diff(want, Read(test.job, "")); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}
