package live

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
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
