package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
)

// TestATimelineIsToldFromWhatMayBeRead: events, jobs and the agent's log may each be missing.
func TestATimelineIsToldFromWhatMayBeRead(t *testing.T) {
	const event = "0/2 nodes are available: 2 Insufficient cpu."
	happened := func() *clusterBuilder {
		b := migrating()
		b.server.Events = []corev1.Event{
			{
				ObjectMeta:     metav1.ObjectMeta{Namespace: "shop", Name: "web-0.1"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web-0", UID: b.server.Pods[0].UID},
				Reason:         "FailedScheduling", Message: event, FirstTimestamp: metav1.NewTime(builtAt), Type: corev1.EventTypeWarning,
			},
			{
				ObjectMeta:     metav1.ObjectMeta{Namespace: "shop", Name: "web-1.1"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web-1", UID: "another"}, Reason: "OfAnotherPod",
			},
		}
		return b
	}
	tests := map[string]struct {
		denied         []string
		want           []string
		wantIncomplete []string
	}{
		"everything": {nil, []string{"FailedScheduling", "MigrationCreated"}, nil},
		"not the events": {
			[]string{"list events"}, []string{"MigrationCreated"}, []string{"list events*the events of the pod are unknown (KOORD0002)"},
		},
		"not the jobs": {
			[]string{"list podmigrationjobs"}, []string{"FailedScheduling"}, []string{"list podmigrationjobs*whether the pod was moved is unknown (KOORD0002)"},
		},
		"not the node": {
			[]string{"get nodes"}, []string{"FailedScheduling", "MigrationCreated"}, []string{"get nodes*what koordlet did with the pod is unknown (KOORD0002)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := happened()
			cluster.denied(test.denied...)
			answer, err := cluster.source(t).PodTimeline(t.Context(), "shop", "web-0")
			if err != nil {
				t.Fatal(err)
			}
			if answer.Kind != "PodTimeline" || answer.Name != "web-0" || answer.Namespace != "shop" {
				t.Errorf("%s %s/%s", answer.Kind, answer.Namespace, answer.Name)
			}
			var told []string
			for _, entry := range answer.Entries {
				told = append(told, entry.Event)
			}
			for _, want := range test.want {
				if !strings.Contains(strings.Join(told, " "), want) {
					t.Errorf("told are %v, want %s", told, want)
				}
			}
			if strings.Contains(strings.Join(told, " "), "OfAnotherPod") {
				t.Errorf("told are %v", told)
			}
			checkIncomplete(t, answer.Incomplete, test.wantIncomplete)
		})
	}
}

func TestATimelineOfNoPod(t *testing.T) {
	_, err := migrating().source(t).PodTimeline(t.Context(), "shop", "web-00")
	coded, ok := finding.From(err)
	if !ok || coded.Code != finding.NotFound || !strings.Contains(err.Error(), `did you mean "web-0"?`) {
		t.Errorf("error %v", err)
	}
}

// TestATimelineOfAPodThatIsGone: its events and jobs still name it, until nothing does.
func TestATimelineOfAPodThatIsGone(t *testing.T) {
	about := corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "gone-0", UID: "gone"}
	gone := func() *clusterBuilder {
		b := migrating()
		b.server.Events = []corev1.Event{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "gone-0.1"}, InvolvedObject: about,
			Reason: "Scheduled", Message: "Successfully assigned shop/gone-0 to node-1", FirstTimestamp: metav1.NewTime(builtAt),
		}}
		return b
	}
	answer, err := gone().source(t).PodTimeline(t.Context(), "shop", "gone-0")
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Entries) != 1 || answer.UID != "gone" || !strings.Contains(answer.Notes[0], "does not exist anymore") {
		t.Errorf("told is %+v with notes %v", answer.Entries, answer.Notes)
	}
	cluster := gone()
	cluster.denied("list events", "list podmigrationjobs")
	if _, err := cluster.source(t).PodTimeline(t.Context(), "shop", "gone-0"); !hasCode(err, finding.NotFound) {
		t.Errorf("of a pod that nothing may be read of: %v", err)
	}
}

// TestPreemptedPodsAreToldAsFarAsTheUserMaySee: of other namespaces only to who may list events of all.
func TestPreemptedPodsAreToldAsFarAsTheUserMaySee(t *testing.T) {
	victim := func(b *clusterBuilder, namespace string) corev1.Event {
		return corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "victim.1"},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "victim", UID: "v"},
			Reason:         "Preempted", Message: "Preempted by pod " + string(b.server.Pods[0].UID) + " on node node-1", FirstTimestamp: metav1.NewTime(builtAt),
		}
	}
	tests := map[string]struct {
		denied         []string
		want           []string
		wantIncomplete []string
	}{
		"all namespaces": {nil, []string{"shop/victim", "spark/victim"}, nil},
		"its own": {
			[]string{"list events -A"}, []string{"shop/victim"}, []string{"list events*whether the pod preempted pods in other namespaces is unknown (KOORD0002)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			pod := &cluster.server.Pods[0]
			pod.UID = "preemptor"
			cluster.server.Events = []corev1.Event{victim(cluster, "shop"), victim(cluster, "spark"), {
				ObjectMeta:     metav1.ObjectMeta{Namespace: "shop", Name: "web-0.1"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
				Reason:         "FailedScheduling", FirstTimestamp: metav1.NewTime(builtAt),
			}}
			cluster.denied(test.denied...)
			answer, err := cluster.source(t).PodTimeline(t.Context(), pod.Namespace, pod.Name)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, entry := range answer.Entries {
				if victim, _, _ := strings.Cut(entry.Message, ":"); entry.Event == "PreemptsPod" {
					told = append(told, victim)
				}
			}
			if diff := cmp.Diff(test.want, told); diff != "" {
				t.Errorf("preempted (-want +got):\n%s", diff)
			}
			checkIncomplete(t, answer.Incomplete, test.wantIncomplete)
		})
	}
}

// TestTheTimelineOfAnObjectIsToldFromWhatMayBeRead: a quota, which pods of two namespaces left.
func TestTheTimelineOfAnObjectIsToldFromWhatMayBeRead(t *testing.T) {
	left := func(namespace string) corev1.Event {
		return corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "job.1"},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "job"},
			Reason:         "QuotaOverused", Message: "KOORD1211: quota team-a uses more than its runtime: 2 cores too much", FirstTimestamp: metav1.NewTime(builtAt),
		}
	}
	tests := map[string]struct {
		denied         []string
		want           []string
		wantIncomplete []string
	}{
		"all namespaces": {nil, []string{"", "spark", "teams"}, nil},
		"one namespace": {
			[]string{"list events -A"}, []string{"", "teams"}, []string{"list events*which pods of other namespaces left for the quota is unknown (KOORD0002)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			cluster.server.Lists = map[string]runtime.Object{"elasticquotas": &schedulingsigsv1alpha1.ElasticQuotaList{
				Items: []schedulingsigsv1alpha1.ElasticQuota{{ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: "team-a", CreationTimestamp: metav1.NewTime(builtAt)}}},
			}}
			cluster.server.Events = []corev1.Event{left("spark"), left("teams")}
			cluster.denied(test.denied...)
			answer, err := cluster.source(t).ObjectTimeline(t.Context(), source.KindQuota, "teams", "team-a")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, entry := range answer.Entries {
				namespace := ""
				if entry.Object != nil {
					namespace = entry.Object.Namespace
				}
				got = append(got, namespace)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("entries of namespaces (-want +got):\n%s", diff)
			}
			checkIncomplete(t, answer.Incomplete, test.wantIncomplete)
		})
	}
	if _, err := migrating().source(t).ObjectTimeline(t.Context(), source.KindNode, "", "node-x"); !hasCode(err, finding.NotFound) {
		t.Errorf("of a node that there is none of: %v", err)
	}
}
