package loadaware

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/reservation"
)

func TestSinceText(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		at   *metav1.Time
		want string
	}{
		"never":         {want: "was never reported"},
		"old":           {at: &metav1.Time{Time: now.Add(-time.Hour)}, want: "is 1h0m0s old"},
		"ahead":         {at: &metav1.Time{Time: now.Add(time.Hour)}, want: "is 1h0m0s ahead of the clock"},
		"the year 9999": {at: &metav1.Time{Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, want: "is 7979y ahead of the clock"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := sinceText(tc.at, now); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestReservedResourcesAreNotUsed: what a node would report is taken from its pods, and a reserve pod runs nothing.
func TestReservedResourcesAreNotUsed(t *testing.T) {
	held := newPod("reserved", "10")
	held.UID = types.UID(held.Name)
	held.Annotations = map[string]string{reservation.AnnotationReservePod: "true"}
	info := framework.NewNodeInfo(newPod("web", "2"), newPod("batch", "500m"), held)
	requested := requestedOn(info)
	if got := requested.Cpu().String(); got != "2500m" {
		t.Errorf("got %s cpu, want 2500m", got)
	}
}
