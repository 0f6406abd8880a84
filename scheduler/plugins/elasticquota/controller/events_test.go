package controller

import (
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/test/eventually"
)

// TestEventsReachTheAPI sends an event through the recorder that schedulers have, which knows the kinds of Kubernetes only.
func TestEventsReachTheAPI(t *testing.T) {
	r := newRig(t, "", newNode("20"), childOf("gone", newQuota("team", "5", "8")))
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: r.client.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer broadcaster.Shutdown()
	r.Recorder = broadcaster.NewRecorder(scheme.Scheme, "koord-scheduler")
	if err := r.announceAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var written []eventsv1.Event
	eventually.True(r.t, "the event", func() bool {
		list, err := r.client.EventsV1().Events("q").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		written = list.Items
		return len(written) > 0
	})
	if event := written[0]; event.Regarding.Name != "team" || event.Regarding.Kind != "ElasticQuota" || event.Reason != "QuotaParentMissing" || event.Type != "Warning" {
		t.Errorf("event %+v", event)
	}
}
