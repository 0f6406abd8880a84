package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// of makes an event one about the pod of some UID.
func of(uid types.UID, event corev1.Event) corev1.Event {
	event.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web-0", UID: uid}
	return event
}

func onHost(event corev1.Event, host string) corev1.Event {
	event.ReportingController, event.Source = "", corev1.EventSource{Component: event.ReportingController, Host: host}
	return event
}

func TestTheTimelineOfAPodThatIsGone(t *testing.T) {
	const gone = "the pod does not exist anymore: what its object told is lost, and the rest is told by what still names it"
	scheduled := podEvent("koord-scheduler", "Scheduled", "Successfully assigned shop/web-0 to n1", 1, 1)
	tests := map[string]struct {
		in                TimelineSnapshot
		want, wantNotes   []string
		wantUID, wantNode string
		wantNobody        bool
	}{
		"its events are still there": {
			in: TimelineSnapshot{EventsSeen: true, Events: []corev1.Event{
				of("11-22", podEvent("kubelet", "Killing", "Stopping container main", 1, 9)), of("11-22", scheduled),
			}, Audit: []diagnosticsv1alpha1.AuditEntry{timelineAudit("BEMemoryEvict", "pod shop/web-0", "running", "evicted", 8)}},
			want: []string{
				"1 Scheduled by koord-scheduler: Successfully assigned shop/web-0 to n1",
				"! 8 Evicted by koordlet/BEMemoryEvict: running -> evicted: because", "9 Killing by kubelet: Stopping container main",
			},
			wantNotes: []string{gone}, wantUID: "11-22", wantNode: "n1",
		},
		"of two pods of the name the last one is told": {
			in: TimelineSnapshot{EventsSeen: true, Events: []corev1.Event{
				of("33", podEvent("x", "Later", "", 1, 20)), of("11-22", podEvent("x", "Before", "", 1, 1, 5)),
			}},
			want: []string{"20 Later by x"}, wantNotes: []string{gone}, wantUID: "33",
		},
		"the kubelet says where it was": {
			in:   TimelineSnapshot{EventsSeen: true, Events: []corev1.Event{of("33", onHost(podEvent("kubelet", "Started", "", 1, 2), "n2"))}},
			want: []string{"2 Started by kubelet"}, wantNotes: []string{gone}, wantUID: "33", wantNode: "n2",
		},
		"only the job that moved it is left": {
			in:   TimelineSnapshot{EventsSeen: true, Jobs: []schedulingv1alpha1.PodMigrationJob{timelineJob("out", "11-22", "", 6)}},
			want: []string{"6 MigrationCreated by koord-descheduler: PodMigrationJob out"},
			wantNotes: []string{
				gone, "there are no events: API servers keep them for an hour unless they are configured otherwise",
			}, wantUID: "11-22",
		},
		"nothing names it": {
			in: TimelineSnapshot{EventsSeen: true, Jobs: []schedulingv1alpha1.PodMigrationJob{{}}}, wantNobody: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := test.in
			in.Gone = true
			if known := RememberPod(&in, "shop", "web-0"); known == test.wantNobody {
				t.Fatalf("the pod is known: %t", known)
			}
			if test.wantNobody {
				return
			}
			if string(in.Pod.UID) != test.wantUID || in.Pod.Spec.NodeName != test.wantNode {
				t.Errorf("it is pod %q on node %q", in.Pod.UID, in.Pod.Spec.NodeName)
			}
			got := PodTimeline(in)
			if diff := cmp.Diff(test.want, told(got.Entries)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantNotes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThePodsThatAPodPreempted(t *testing.T) {
	victim := func(name, message string, related *corev1.ObjectReference) corev1.Event {
		event := podEvent("koord-scheduler", ReasonPreempted, message, 1, 3)
		event.InvolvedObject, event.Related = corev1.ObjectReference{Kind: "Pod", Namespace: "spark", Name: name}, related
		return event
	}
	in := TimelineSnapshot{
		Pod: timelinePod(boundTo("n1")), EventsSeen: true,
		Events: []corev1.Event{
			podEvent("koord-scheduler", "Scheduled", "Successfully assigned shop/web-0 to n1", 1, 3),
			warned(podEvent("koord-scheduler", "FailedScheduling", "0/2 nodes are available.", 1, 3)),
		},
		Preemptions: []corev1.Event{
			victim("a", "Preempted by pod 11-22 on node n1", nil),
			victim("b", "Preempted by gangGroup shop/web on node n1", &corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web-0", UID: "11-22"}),
			victim("of-another-pod", "Preempted by pod 33 on node n1", nil),
			victim("of-an-earlier-one-of-the-name", "Preempted by pod 33", &corev1.ObjectReference{Namespace: "shop", Name: "web-0", UID: "33"}),
			victim("of-one-whose-uid-begins-the-same", "Preempted by pod 11-223 on node n1", nil),
		},
	}
	want := []string{
		"0 PodCreated by StatefulSet/web", "! 3 FailedScheduling by koord-scheduler: 0/2 nodes are available.",
		"3 PreemptsPod by koord-scheduler: spark/a: Preempted by pod 11-22 on node n1",
		"3 PreemptsPod by koord-scheduler: spark/b: Preempted by gangGroup shop/web on node n1",
		"3 Scheduled by koord-scheduler: Successfully assigned shop/web-0 to n1",
	}
	if diff := cmp.Diff(want, told(PodTimeline(in).Entries)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestMayHavePreempted(t *testing.T) {
	refused := []corev1.Event{podEvent("koord-scheduler", "FailedScheduling", "", 1, 1)}
	tests := map[string]struct {
		in   TimelineSnapshot
		want bool
	}{
		"a pod that was refused":           {TimelineSnapshot{Pod: timelinePod(), Events: refused}, true},
		"one with a nominated node":        {TimelineSnapshot{Pod: timelinePod(func(pod *corev1.Pod) { pod.Status.NominatedNodeName = "n1" })}, true},
		"one that got a node at once":      {TimelineSnapshot{Pod: timelinePod(boundTo("n1"))}, false},
		"one that never preempts":          {TimelineSnapshot{Pod: timelinePod(never), Events: refused}, false},
		"one that is gone and was refused": {TimelineSnapshot{Pod: &corev1.Pod{}, Gone: true, Events: refused}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := MayHavePreempted(&test.in); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func never(pod *corev1.Pod) { pod.Spec.PreemptionPolicy = new(corev1.PreemptNever) }
