package overview_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overview"
)

func TestReasonOfPods(t *testing.T) {
	unscheduled := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "not ready"},
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message},
		}}
	}
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	ended := func(code int32, reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
	}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"a pod that fits no node, without preemption": {
			unscheduled("Unschedulable", "0/30 nodes are available: 29 Insufficient cpu. no new claims to deallocate, preemption: 0/30 nodes are available: 30 No preemption victims found."),
			"0/30 nodes are available: 29 Insufficient cpu.",
		},
		"a condition without a message": {unscheduled("SchedulingGated", ""), "SchedulingGated"},
		"a pod that nobody looked at":   {corev1.PodStatus{Phase: corev1.PodPending}, ""},
		"an image that cannot be pulled": {
			corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{waiting("", ""), waiting("ErrImagePull", "no such host")}},
			"ErrImagePull: no such host",
		},
		"an init container comes first": {
			corev1.PodStatus{
				Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{waiting("PodInitializing", "")},
				InitContainerStatuses: []corev1.ContainerStatus{waiting("ImagePullBackOff", "")},
			},
			"ImagePullBackOff",
		},
		"an evicted pod": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "memory was low"}, "Evicted: memory was low"},
		"a container that was killed": {
			corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{ended(0, "Completed"), ended(137, "OOMKilled")}}, "OOMKilled",
		},
		"a pod that runs needs none": {
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{waiting("CrashLoopBackOff", "")}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := overview.Pods(overview.PodsInput{Rows: []diagnosticsv1alpha1.PodOverview{overview.PodOf(&corev1.Pod{Status: tc.status})}})
			if got := list.Items[0].Reason; got != tc.want {
				t.Errorf("unexpected reason %q, want %q", got, tc.want)
			}
		})
	}
}
