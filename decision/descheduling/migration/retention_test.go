package migration

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// ended is a job that succeeded some time ago.
func ended(name, namespace string, ago time.Duration, edits ...func(*schedulingv1alpha1.PodMigrationJob)) schedulingv1alpha1.PodMigrationJob {
	at := metav1.NewTime(noon.Add(-ago))
	job := schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(at.Add(-time.Minute))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: namespace, Name: name}},
	}
	job.Status.Phase = schedulingv1alpha1.PodMigrationJobSucceeded
	job.Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{
		Type: schedulingv1alpha1.PodMigrationJobConditionEviction, Status: schedulingv1alpha1.PodMigrationJobConditionStatusTrue, LastTransitionTime: at,
	}}
	for _, edit := range edits {
		edit(&job)
	}
	return job
}

// neverEvicted is a job that failed before it evicted anything.
func neverEvicted(job *schedulingv1alpha1.PodMigrationJob) {
	job.CreationTimestamp = job.Status.Conditions[0].LastTransitionTime
	job.Status.Phase, job.Status.Conditions = schedulingv1alpha1.PodMigrationJobFailed, nil
}

func running(job *schedulingv1alpha1.PodMigrationJob) {
	job.Status.Phase = schedulingv1alpha1.PodMigrationJobRunning
}

func deleted(job *schedulingv1alpha1.PodMigrationJob) {
	job.DeletionTimestamp = new(metav1.NewTime(noon))
}

func withoutPod(job *schedulingv1alpha1.PodMigrationJob) { job.Spec.PodRef = nil }

func TestJobsThatEndedAreKeptForAsLongAsTheyAreLookedBackAt(t *testing.T) {
	const hour = time.Hour
	for name, test := range map[string]struct {
		retention Retention
		jobs      []schedulingv1alpha1.PodMigrationJob
		want      []string
	}{
		"by the time since they ended": {
			retention: RetentionOf(),
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("just", "a", 24*hour), ended("past", "a", 24*hour+time.Second), ended("new", "a", 0)},
			want:      []string{"past Expired"},
		},
		"for as long as a limiter counts": {
			retention: RetentionOf(48*hour, 5*time.Minute),
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("counted", "a", 47*hour), ended("forgotten", "a", 49*hour)},
			want:      []string{"forgotten Expired"},
		},
		"a job that runs, however old": {
			retention: Retention{For: hour, Max: 1, MaxPerNamespace: 1},
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("runs", "a", 90*hour, running), ended("goes", "a", 90*hour, deleted), ended("new", "a", 0)},
		},
		"the oldest go where there are too many": {
			retention: Retention{For: 24 * hour, Max: 2},
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("third", "c", 1*hour), ended("first", "a", 3*hour), ended("second", "b", 2*hour), ended("fourth", "d", 0)},
			want:      []string{"first Full", "second Full"},
		},
		"a namespace does not displace others": {
			retention: Retention{For: 24 * hour, Max: 3, MaxPerNamespace: 2},
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("quiet", "a", 9*hour), ended("1", "busy", 3*hour), ended("2", "busy", 2*hour), ended("3", "busy", 1*hour)},
			want:      []string{"1 NamespaceFull"},
		},
		"those that evicted nothing go first": {
			retention: Retention{For: 24 * hour, Max: 2},
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("moved", "a", 9*hour), ended("refused", "a", 1*hour, neverEvicted), ended("moved too", "a", 8*hour)},
			want:      []string{"refused Full"},
		},
		"without a pod they have no namespace": {
			retention: Retention{For: 24 * hour, MaxPerNamespace: 1},
			jobs:      []schedulingv1alpha1.PodMigrationJob{ended("1", "", 2*hour, withoutPod), ended("2", "", 1*hour, withoutPod), ended("3", "a", 1*hour)},
			want:      []string{"1 NamespaceFull"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, names(test.retention.Removals(test.jobs, noon))); diff != "" {
				t.Errorf("removals (-want +got):\n%s", diff)
			}
		})
	}
}

func names(removals []Removal) (out []string) {
	for _, removal := range removals {
		out = append(out, fmt.Sprintf("%s %s", removal.Job.Name, removal.Reason))
	}
	return out
}

// TestTheBoundsOfJobsThatEndedHold keeps no more than allowed of any jobs, removes none twice, and none while there is room.
func TestTheBoundsOfJobsThatEndedHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		retention := Retention{For: 24 * time.Hour, Max: random.IntN(12), MaxPerNamespace: random.IntN(5)}
		var jobs []schedulingv1alpha1.PodMigrationJob
		for i := range random.IntN(30) {
			job := ended(fmt.Sprint(i), fmt.Sprint(random.IntN(4)), time.Duration(random.IntN(30))*time.Hour)
			for _, edit := range []func(*schedulingv1alpha1.PodMigrationJob){neverEvicted, running} {
				if random.IntN(4) == 0 && Finished(&job) {
					edit(&job)
				}
			}
			jobs = append(jobs, job)
		}
		removed := map[string]bool{}
		for _, removal := range retention.Removals(jobs, noon) {
			if removed[removal.Job.Name] || !Finished(removal.Job) {
				t.Fatalf("%s is removed twice or has not ended", removal.Job.Name)
			}
			removed[removal.Job.Name] = true
		}
		total, of := 0, map[string]int{}
		for i := range jobs {
			if Finished(&jobs[i]) && !removed[jobs[i].Name] {
				total++
				of[podNamespace(&jobs[i])]++
			}
		}
		if retention.Max > 0 && total > retention.Max {
			t.Fatalf("%d jobs are kept, at most %d are allowed", total, retention.Max)
		}
		for namespace, count := range of {
			if retention.MaxPerNamespace > 0 && count > retention.MaxPerNamespace {
				t.Fatalf("%d jobs of namespace %s are kept, at most %d are allowed", count, namespace, retention.MaxPerNamespace)
			}
		}
		if again := retention.Removals(keep(jobs, removed), noon); len(again) > 0 {
			t.Fatalf("removed in a second round: %v", names(again))
		}
	}
}

func keep(jobs []schedulingv1alpha1.PodMigrationJob, removed map[string]bool) (kept []schedulingv1alpha1.PodMigrationJob) {
	for _, job := range jobs {
		if !removed[job.Name] {
			kept = append(kept, job)
		}
	}
	return kept
}
