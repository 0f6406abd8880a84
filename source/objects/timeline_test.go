package objects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var timelineStart = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

func second(n int) metav1.Time {
	return metav1.NewTime(timelineStart.Add(time.Duration(n) * time.Second))
}

// timelinePod was created at second 0.
func timelinePod(edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-0", UID: "11-22", CreationTimestamp: second(0),
		OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", Controller: new(true)}},
	}}
	pod.Spec.SchedulerName = "koord-scheduler"
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func podCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string, at int) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: second(at)})
	}
}

func boundTo(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = name }
}

// podEvent is one of a component, at some seconds: the first and the last.
func podEvent(by, reason, message string, count int32, at ...int) corev1.Event {
	return corev1.Event{
		ReportingController: by, Reason: reason, Message: message, Type: corev1.EventTypeNormal,
		FirstTimestamp: second(at[0]), LastTimestamp: second(at[len(at)-1]), Count: count,
	}
}

func warned(event corev1.Event) corev1.Event {
	event.Type = corev1.EventTypeWarning
	return event
}

// told are entries as text: the second, what, who and why.
func told(entries []diagnosticsv1alpha1.TimelineEntry) []string {
	var out []string
	for _, entry := range entries {
		line := fmt.Sprintf("%d %s", int(entry.Time.Sub(timelineStart)/time.Second), entry.Event)
		if entry.Object != nil {
			line = fmt.Sprintf("%d %s/%s %s", int(entry.Time.Sub(timelineStart)/time.Second), entry.Object.Kind, entry.Object.Name, entry.Event)
		}
		if entry.By != "" {
			line += " by " + entry.By
		}
		if entry.Message != "" {
			line += ": " + entry.Message
		}
		if entry.Count > 1 {
			line += fmt.Sprintf(" (%d until %d)", entry.Count, int(entry.LastTime.Sub(timelineStart)/time.Second))
		}
		if len(entry.Changed) > 0 {
			line += " [" + strings.Join(entry.Changed, ", ") + "]"
		}
		if entry.Warning {
			line = "! " + line
		}
		out = append(out, line)
	}
	return out
}

func TestPodTimeline(t *testing.T) {
	const first, then = "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu."
	tests := map[string]struct {
		in        TimelineSnapshot
		want      []string
		wantNotes []string
	}{
		"a pod that waits, without events": {
			in:        TimelineSnapshot{EventsSeen: true, Pod: timelinePod(podCondition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, then, 1))},
			want:      []string{"0 PodCreated by StatefulSet/web", "! 1 FailedScheduling by koord-scheduler: " + then},
			wantNotes: []string{"there are no events: API servers keep them for an hour unless they are configured otherwise"},
		},
		"events that could not be read are not said to be none": {
			in:   TimelineSnapshot{Pod: timelinePod()},
			want: []string{"0 PodCreated by StatefulSet/web"},
		},
		"attempts, each with what differs": {
			in: TimelineSnapshot{
				Pod: timelinePod(podCondition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, then, 1)),
				Events: []corev1.Event{
					warned(podEvent("koord-scheduler", "FailedScheduling", then, 3, 30, 90)), warned(podEvent("koord-scheduler", "FailedScheduling", first, 1, 1)),
				},
			},
			want: []string{
				"0 PodCreated by StatefulSet/web", "! 1 FailedScheduling by koord-scheduler: " + first,
				"! 30 FailedScheduling by koord-scheduler: " + then + " (3 until 90) [Insufficient cpu: 2 -> 3, node(s) were unschedulable: 1 -> 0]",
			},
		},
		"within a second, what causes the next comes first": {
			in: TimelineSnapshot{
				Pod: timelinePod(boundTo("n1"), podCondition(corev1.PodReady, corev1.ConditionTrue, "", "", 1), podCondition(corev1.PodScheduled, corev1.ConditionTrue, "", "", 1)),
				Events: []corev1.Event{
					podEvent("kubelet", "Started", "Started container main", 1, 1), podEvent("kubelet", "Pulled", "Pulled", 1, 1),
					podEvent("koord-scheduler", "Scheduled", "Successfully assigned shop/web-0 to n1", 1, 1), warned(podEvent("kubelet", "FailedMount", "no volume", 1, 1)),
				},
			},
			want: []string{
				"0 PodCreated by StatefulSet/web", "1 Scheduled by koord-scheduler: Successfully assigned shop/web-0 to n1", "1 Pulled by kubelet: Pulled",
				"1 Started by kubelet: Started container main", "! 1 FailedMount by kubelet: no volume", "1 Ready",
			},
		},
		"a pod whose events are forgotten": {
			in: TimelineSnapshot{EventsSeen: true, Pod: timelinePod(boundTo("n1"), podCondition(corev1.PodScheduled, corev1.ConditionTrue, "", "", 1), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "main", RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: second(60)}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, StartedAt: second(20), FinishedAt: second(50)}},
				}}
			})},
			want: []string{
				"0 PodCreated by StatefulSet/web", "1 Scheduled by koord-scheduler: bound to node n1",
				"! 50 Terminated: container main: OOMKilled, exit code 137, after 30s", "60 Started: container main, after 2 restarts",
			},
			wantNotes: []string{"there are no events: API servers keep them for an hour unless they are configured otherwise"},
		},
		"a pod that is gated, with a nominated node": {
			in: TimelineSnapshot{Pod: timelinePod(func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "b"}}
				pod.Status.NominatedNodeName = "n1"
			}), Events: []corev1.Event{podEvent("x", "Y", "", 1, 5)}, Notes: []string{"the node is simulated"}},
			want:      []string{"0 PodCreated by StatefulSet/web", "0 SchedulingGated: by a, b, until now", "5 Y by x"},
			wantNotes: []string{"node n1 is nominated for the pod, since when is not recorded", "the node is simulated"},
		},
		"a pod that leaves": {
			in: TimelineSnapshot{
				Pod: timelinePod(podCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "evicting", 9), func(pod *corev1.Pod) {
					pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(second(40)), new(int64(30))
				}),
				Events: []corev1.Event{podEvent("kubelet", "Killing", "Stopping container main", 1, 10)},
			},
			want: []string{
				"0 PodCreated by StatefulSet/web", "! 9 DisruptionTarget: EvictionByEvictionAPI: evicting",
				"10 DeletionRequested: with a grace period of 30s", "10 Killing by kubelet: Stopping container main",
			},
		},
		"a pod that is moved, and one that replaces another": {
			in: TimelineSnapshot{
				Pod: timelinePod(), Events: []corev1.Event{podEvent("x", "Y", "", 1, 5)},
				Jobs: []schedulingv1alpha1.PodMigrationJob{
					timelineJob("out", "11-22", "", 6), timelineJob("in", "99", "11-22", 0), timelineJob("of-another-pod-of-the-name", "33", "44", 3),
				},
			},
			want: []string{
				"0 PodCreated by StatefulSet/web", "0 ReplacesPod by koord-descheduler: shop/web-0, moved by PodMigrationJob in", "5 Y by x",
				"6 MigrationCreated by koord-descheduler: PodMigrationJob out",
			},
		},
		"what the agent did": {
			in: TimelineSnapshot{Pod: timelinePod(boundTo("n1")), Events: []corev1.Event{podEvent("x", "Y", "", 1, 1)}, Audit: []diagnosticsv1alpha1.AuditEntry{
				timelineAudit("CPUBurst", "cpu/kubepods/burstable/pod11-22/cpu.cfs_quota_us", "100000", "120000", 2),
				timelineAudit("CPUBurst", "cpu/kubepods/burstable/pod11-22/cpu.cfs_quota_us", "120000", "140000", 3),
				timelineAudit("CPUBurst", "kubepods-pod11_22.slice/cri-1.scope/cpu.max", "1", "2", 4),
				timelineAudit("CPUBurst", "cpu/kubepods/burstable/pod33/cpu.cfs_quota_us", "1", "2", 5),
				timelineAudit("BEMemoryEvict", "pod shop/web-0", "running", "evicted", 6),
				timelineAudit("BEMemoryEvict", "pod shop/web-01", "running", "evicted", 7),
			}},
			want: []string{
				"0 PodCreated by StatefulSet/web", "1 Y by x", "2 Written by koordlet/CPUBurst: cpu.cfs_quota_us: 120000 -> 140000: because (2 until 3)",
				"4 Written by koordlet/CPUBurst: cri-1.scope/cpu.max: 1 -> 2: because", "! 6 Evicted by koordlet/BEMemoryEvict: running -> evicted: because",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := PodTimeline(test.in)
			if diff := cmp.Diff(test.want, told(got.Entries)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantNotes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// timelineJob moves the pod of one UID, and has replaced it by that of another.
func timelineJob(name string, of, by types.UID, at int) schedulingv1alpha1.PodMigrationJob {
	job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: second(at)}}
	job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-0", UID: of}
	if by != "" {
		job.Status.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-0", UID: by}
	}
	return job
}

func timelineAudit(owner, object, before, after string, at int) diagnosticsv1alpha1.AuditEntry {
	return diagnosticsv1alpha1.AuditEntry{Time: metav1.NewMicroTime(second(at).Time), Owner: owner, Object: object, Old: before, New: after, Why: "because"}
}

func TestOccurrences(t *testing.T) {
	micro := func(n int) metav1.MicroTime { return metav1.NewMicroTime(second(n).Time) }
	tests := map[string]struct {
		event               corev1.Event
		wantFirst, wantLast int
		wantCount           int32
	}{
		"of the old API": {corev1.Event{FirstTimestamp: second(1), LastTimestamp: second(9), Count: 4}, 1, 9, 4},
		"of the new API": {corev1.Event{EventTime: micro(2), Series: &corev1.EventSeries{Count: 3, LastObservedTime: micro(8)}}, 2, 8, 3},
		"without a time": {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: second(5)}, LastTimestamp: second(5)}, 5, 5, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			first, last, count := occurrences(&test.event)
			if !first.Equal(second(test.wantFirst).Time) || !last.Equal(second(test.wantLast).Time) || count != test.wantCount {
				t.Errorf("first %v, last %v, %d times", first, last, count)
			}
		})
	}
}
