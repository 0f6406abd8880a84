package gang

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestStatusOf(t *testing.T) {
	const none = corev1.PodPhase("")
	type status = schedulingsigsv1alpha1.PodGroupStatus
	began, now := metav1.NewTime(start), metav1.NewTime(start.Add(1))
	tests := map[string]struct {
		phases []corev1.PodPhase
		want   status
	}{
		"too few pods":                    {[]corev1.PodPhase{none, none}, status{Phase: "Pending"}},
		"enough pods":                     {[]corev1.PodPhase{none, none, none}, status{Phase: "PreScheduling"}},
		"one with a node":                 {[]corev1.PodPhase{corev1.PodPending, none, none}, status{Phase: "Scheduling", Scheduled: 1}},
		"one with a node and two gone":    {[]corev1.PodPhase{corev1.PodPending}, status{Phase: "Scheduling", Scheduled: 1}},
		"enough with a node":              {[]corev1.PodPhase{corev1.PodRunning, corev1.PodPending, corev1.PodPending, none}, status{Phase: "Scheduled", Scheduled: 3, Running: 1}},
		"enough run":                      {[]corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded}, status{Phase: "Running", Scheduled: 3, Running: 2, Succeeded: 1}},
		"one failed":                      {[]corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodFailed}, status{Phase: "Failed", Scheduled: 3, Running: 2, Failed: 1}},
		"one failed before the group ran": {[]corev1.PodPhase{corev1.PodFailed, none, none}, status{Phase: "Scheduling", Scheduled: 1, Failed: 1}},
		"enough succeeded":                {[]corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodFailed}, status{Phase: "Finished", Scheduled: 4, Succeeded: 3, Failed: 1}},
	}
	for name, test := range tests {
		group := groupOfPods("a", 3)
		var pods []*corev1.Pod
		for i, phase := range test.phases {
			pod := podOf("a", i)
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "train"}}
			if phase != none {
				pod = bound(pod)
				pod.Status.Phase = phase
			}
			pods = append(pods, pod)
		}
		test.want.OccupiedBy = "ns/train"
		if test.want.Phase != "Pending" {
			test.want.ScheduleStartTime = now
		}
		if diff := cmp.Diff(test.want, StatusOf(group, pods, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		group.Status.OccupiedBy, group.Status.ScheduleStartTime = "ns/other", began
		if again := StatusOf(group, pods, now); again.OccupiedBy != "ns/other" || !again.ScheduleStartTime.Equal(&began) {
			t.Errorf("%s: what was there is not kept: %+v", name, again)
		}
	}
}
