package objects

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/core/phrase"
)

// created adds that the pod was created, by whom, and what gates it.
func (t *timeline) created() {
	pod, by := t.in.Pod, ""
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		by = owner.Kind + "/" + owner.Name
	}
	t.add(pod.CreationTimestamp.Time, by, eventPodCreated, "", false)
	if len(pod.Spec.SchedulingGates) > 0 {
		names := make([]string, len(pod.Spec.SchedulingGates))
		for i, gate := range pod.Spec.SchedulingGates {
			names[i] = gate.Name
		}
		t.add(pod.CreationTimestamp.Time, "", eventGated, "by "+strings.Join(names, ", ")+", until now", false)
	}
}

// conditions adds what the conditions of the pod say that no event does.
func (t *timeline) conditions() {
	for i := range t.in.Pod.Status.Conditions {
		condition := &t.in.Pod.Status.Conditions[i]
		at, met := condition.LastTransitionTime.Time, condition.Status == corev1.ConditionTrue
		message := cmp.Or(condition.Message, condition.Reason)
		switch {
		case condition.Type == corev1.PodScheduled && met && !t.has(eventScheduled):
			t.add(at, t.in.Pod.Spec.SchedulerName, eventScheduled, "bound to node "+t.in.Pod.Spec.NodeName, false)
		case condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable && !t.has(eventFailedScheduling):
			t.add(at, t.in.Pod.Spec.SchedulerName, eventFailedScheduling, message, true)
		case condition.Type == corev1.PodReady && met:
			t.add(at, "", eventReady, "", false)
		case condition.Type == corev1.PodReady && t.in.Pod.Status.StartTime != nil && at.After(t.in.Pod.Status.StartTime.Time):
			t.add(at, "", eventNotReady, message, true)
		case condition.Type == corev1.DisruptionTarget && met:
			t.add(at, "", string(corev1.DisruptionTarget), strings.TrimPrefix(condition.Reason+": "+condition.Message, ": "), true)
		}
	}
}

// containers adds how the containers of the pod started and ended. Of those that started more often than twice, only the last two times
// are recorded.
func (t *timeline) containers() {
	started := t.has(eventStarted)
	for _, statuses := range [][]corev1.ContainerStatus{t.in.Pod.Status.InitContainerStatuses, t.in.Pod.Status.ContainerStatuses} {
		for i := range statuses {
			status := &statuses[i]
			if running := status.State.Running; running != nil && !started {
				t.add(running.StartedAt.Time, "", eventStarted, "container "+status.Name+again(status), false)
			}
			for _, ended := range []*corev1.ContainerStateTerminated{status.LastTerminationState.Terminated, status.State.Terminated} {
				if ended != nil {
					t.add(ended.FinishedAt.Time, "", eventTerminated, termination(status.Name, ended), ended.ExitCode != 0)
				}
			}
		}
	}
}

func again(status *corev1.ContainerStatus) string {
	if status.RestartCount == 0 {
		return ""
	}
	return ", after " + phrase.Counted(int(status.RestartCount), "restart")
}

func termination(name string, ended *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("container %s: %s, exit code %d", name, cmp.Or(ended.Reason, "ended"), ended.ExitCode)
	if !ended.StartedAt.IsZero() {
		text += fmt.Sprintf(", after %s", ended.FinishedAt.Sub(ended.StartedAt.Time).Round(time.Second))
	}
	if ended.Message != "" {
		text += ": " + strings.TrimSpace(ended.Message)
	}
	return text
}

// deletion adds when it was asked for; the object has when it has to be over.
func (t *timeline) deletion() {
	pod := t.in.Pod
	if pod.DeletionTimestamp == nil {
		return
	}
	grace := time.Duration(0)
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	t.add(pod.DeletionTimestamp.Add(-grace), "", eventDeletionRequested, fmt.Sprintf("with a grace period of %s", grace), false)
}
