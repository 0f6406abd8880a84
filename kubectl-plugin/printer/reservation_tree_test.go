package printer

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestTheTimeThatIsLeftOfAReservation(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		expires *metav1.Time
		want    string
	}{
		"it has no end":                    {want: "<none>"},
		"some minutes":                     {expires: new(metav1.NewTime(now.Add(45 * time.Minute))), want: "45m"},
		"none, and it is not marked yet":   {expires: new(metav1.NewTime(now.Add(-time.Minute))), want: "0s"},
		"more than a Duration of Go holds": {expires: new(metav1.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), want: "7979y"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list := &diagnosticsv1alpha1.ReservationOverviewList{Items: []diagnosticsv1alpha1.ReservationOverview{{
				ObjectMeta: metav1.ObjectMeta{Name: "night"}, State: diagnosticsv1alpha1.ReservationIdle, NodeName: "worker-1", Expires: test.expires,
			}}}
			var b strings.Builder
			if err := ReservationTree(&b, list, Options{Now: now}); err != nil {
				t.Fatal(err)
			}
			row := strings.Fields(strings.Split(b.String(), "\n")[1])
			if len(row) != 4 || row[3] != test.want {
				t.Errorf("the row is %q, want %s at its end", row, test.want)
			}
		})
	}
}
