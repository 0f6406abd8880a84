package loadaware

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
