package objects

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// object was created by kubectl at second 0, and written by a controller and by a user since.
func object(edits ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetName("web")
	u.SetUID("of-web")
	u.SetCreationTimestamp(second(0))
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Time: new(second(0))}, {Manager: "kubectl-edit", Time: new(second(40))}, {Manager: "controller", Subresource: "status", Time: new(second(41))},
	})
	for _, edit := range edits {
		edit(u)
	}
	return u
}

func standing(conditions ...map[string]any) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		all := make([]any, len(conditions))
		for i, condition := range conditions {
			all[i] = condition
		}
		_ = unstructured.SetNestedSlice(u.Object, all, "status", "conditions")
	}
}

func since(kind, status, reason, message string, at int) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": second(at).UTC().Format("2006-01-02T15:04:05Z")}
}

// regarding makes an event one about an object.
func regarding(kind, name string, uid types.UID, event corev1.Event) corev1.Event {
	event.InvolvedObject = corev1.ObjectReference{Kind: kind, Namespace: "shop", Name: name, UID: uid}
	return event
}

func TestObjectTimeline(t *testing.T) {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: second(0)}}
	tests := map[string]struct {
		in              ObjectSnapshot
		want, wantNotes []string
	}{
		"a deployment whose pod is refused twice, and another one once": {
			in: ObjectSnapshot{Kind: "Deployment", Object: object(), EventsSeen: true,
				Events: []corev1.Event{
					regarding("Deployment", "web", "of-web", podEvent("deployment-controller", "ScalingReplicaSet", "Scaled up replica set web-5d8f to 1", 1, 1)),
					regarding("Deployment", "web", "earlier", podEvent("deployment-controller", "OfAnEarlierOne", "", 1, 1)),
				},
				Below: []corev1.Event{
					regarding("Pod", "web-5d8f-b", "", podEvent("koord-scheduler", "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu.", 1, 3)),
					regarding("Pod", "web-5d8f-a", "", podEvent("koord-scheduler", "FailedScheduling", "0/2 nodes are available: 1 Insufficient cpu.", 1, 4)),
					regarding("Pod", "web-5d8f-a", "", podEvent("koord-scheduler", "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu.", 1, 2)),
					regarding("ReplicaSet", "web-5d8f", "", podEvent("replicaset-controller", "SuccessfulCreate", "Created pod: web-5d8f-a", 1, 1)),
				},
			},
			want: []string{
				"0 ObjectCreated by kubectl", "1 ScalingReplicaSet by deployment-controller: Scaled up replica set web-5d8f to 1",
				"1 ReplicaSet/web-5d8f SuccessfulCreate by replicaset-controller: Created pod: web-5d8f-a",
				"2 Pod/web-5d8f-a FailedScheduling by koord-scheduler: 0/2 nodes are available: 2 Insufficient cpu.",
				"3 Pod/web-5d8f-b FailedScheduling by koord-scheduler: 0/2 nodes are available: 2 Insufficient cpu.",
				"4 Pod/web-5d8f-a FailedScheduling by koord-scheduler: 0/2 nodes are available: 1 Insufficient cpu. [Insufficient cpu: 2 -> 1]",
				"40 ObjectUpdated by kubectl-edit: last time",
			},
		},
		"a node that is not ready, from which koordlet evicted": {
			in: ObjectSnapshot{Kind: "Node", Name: "n1", EventsSeen: true,
				Object: object(standing(since("MemoryPressure", "False", "Sufficient", "", 5), since("Ready", "False", "KubeletStopped", "it went", 9), since("Odd", "Unknown", "", "", 7), map[string]any{"type": "WithoutATime"})),
				Events: []corev1.Event{regarding("Node", "n1", "n1", podEvent("kubelet", "Rebooted", "", 1, 6))},
				Audit: []diagnosticsv1alpha1.AuditEntry{
					timelineAudit("BEMemoryEvict", "pod spark/job-1", "running", "evicted", 8), timelineAudit("CPUBurst", "cpu.max", "1", "2", 8),
				},
			},
			want: []string{
				"0 ObjectCreated by kubectl", "5 NotMemoryPressure: Sufficient", "6 Rebooted by kubelet", "7 Odd: is Unknown",
				"! 8 Pod/job-1 Evicted by koordlet/BEMemoryEvict: running -> evicted: because", "! 9 NotReady: KubeletStopped: it went", "40 ObjectUpdated by kubectl-edit: last time",
			},
		},
		"a migration": {
			in: ObjectSnapshot{Kind: "PodMigrationJob", Object: object(), Job: job},
			want: []string{
				"0 ObjectCreated by kubectl", "0 MigrationCreated by koord-descheduler", "40 ObjectUpdated by kubectl-edit: last time",
			},
		},
		"an object that is gone": {
			in:        ObjectSnapshot{Kind: "Deployment", EventsSeen: true, Below: []corev1.Event{regarding("Pod", "web-5d8f-a", "", podEvent("kubelet", "Killing", "", 1, 1))}},
			want:      []string{"1 Pod/web-5d8f-a Killing by kubelet"},
			wantNotes: []string{"the object does not exist: what it told is lost, and the rest is told by what still names it"},
		},
		"one that nobody tells of": {
			in: ObjectSnapshot{Kind: "ElasticQuota", Object: object(), EventsSeen: true}, want: []string{"0 ObjectCreated by kubectl", "40 ObjectUpdated by kubectl-edit: last time"},
			wantNotes: []string{"there are no events: API servers keep them for an hour unless they are configured otherwise"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ObjectTimeline(&test.in)
			if diff := cmp.Diff(test.want, told(got.Entries)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantNotes, slices.Clip(got.Notes)); diff != "" && len(got.Notes)+len(test.wantNotes) > 0 {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsBelow(t *testing.T) {
	all := []corev1.Event{
		regarding("Pod", "web-5d8f-x2zbc", "", podEvent("a", "", "", 1, 1)), regarding("Pod", "web-api-x2zbc", "", podEvent("b", "", "", 1, 1)),
		regarding("Pod", "web-0", "", podEvent("c", "", "", 1, 1)), regarding("Pod", "web-x2zbc", "", podEvent("d", "", "", 1, 1)),
		regarding("ReplicaSet", "web-5d8f", "", podEvent("e", "", "", 1, 1)), regarding("Pod", "a-member", "", podEvent("f", "", "", 1, 1)),
		regarding("Pod", "webs-5d8f-x2zbc", "", podEvent("g", "", "", 1, 1)), regarding("Pod", "web-3-x2zbc", "", podEvent("h", "", "", 1, 1)),
	}
	tests := map[string]struct {
		pods []corev1.Pod
		want []string
	}{
		"Deployment":  {nil, []string{"a", "e"}},
		"ReplicaSet":  {nil, []string{"d"}},
		"DaemonSet":   {nil, []string{"d"}},
		"Job":         {nil, []string{"d", "h"}},
		"StatefulSet": {[]corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}}}, []string{"c"}},
		"PodGroup":    {[]corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a-member"}}}, []string{"f"}},
	}
	for kind, test := range tests {
		t.Run(kind, func(t *testing.T) {
			var got []string
			for _, event := range EventsBelow(kind, "web", test.pods, all) {
				got = append(got, event.ReportingController)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
	if len(all) != 8 || all[1].ReportingController != "b" {
		t.Errorf("the events were changed: %v", all)
	}
}

func TestEventsOfQuota(t *testing.T) {
	left := func(quota string) corev1.Event {
		return podEvent("koord-scheduler", ReasonQuotaOverused(), "KOORD1211: quota "+quota+" uses more than its runtime: 2 cores too much", 1, 1)
	}
	if got := EventsOfQuota("team-a", []corev1.Event{left("team-a"), left("team-ab"), left("a-team-a")}); len(got) != 1 || got[0].Message != left("team-a").Message {
		t.Errorf("got %v", got)
	}
}
