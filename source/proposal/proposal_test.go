package proposal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/source"
)

// TestWhatIsWrongAlreadyDoesNotRejectAChange: only errors of the keys that it changes do.
func TestWhatIsWrongAlreadyDoesNotRejectAChange(t *testing.T) {
	current := &source.Configuration{Exists: true, Data: map[string]string{"colocation-config": `{"enable": true}`, "system-config": "{"}}
	for name, tc := range map[string]struct {
		data map[string]string
		want []string
	}{
		"a good change beside a bad key": {map[string]string{"colocation-config": `{"enable": false}`, "system-config": "{"}, nil},
		"a bad change":                   {map[string]string{"colocation-config": `{"enable": 3}`, "system-config": "{"}, []string{"colocation-config"}},
		"a bad key made worse":           {map[string]string{"colocation-config": `{"enable": true}`, "system-config": "{{"}, []string{"system-config"}},
	} {
		t.Run(name, func(t *testing.T) {
			change := Change{Current: current, Data: tc.data}
			var got []string
			for _, f := range change.Rejected(current.Judge(tc.data, nil)) {
				got = append(got, f.Key)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rejected keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAForecastSaysWhatItsPlanCouldNotRead(t *testing.T) {
	plan := &Plan{Plan: &configplan.Plan{Summary: configplan.Summary{PodsEvicted: new(2)}}, Found: []configuration.Finding{}, Missing: []string{"pods are unknown", "quotas are unknown"}}
	got := plan.Forecast(&diagnosticsv1alpha1.PlacementForecast{Notes: []string{"quotas keep their runtime"}, Incomplete: []string{"pods are unknown"}})
	wantNotes := []string{"no node would offer anything else with this configuration; see koordctl config plan", "2 pods would be evicted at once; see koordctl config plan", "quotas keep their runtime"}
	if diff := cmp.Diff(wantNotes, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pods are unknown", "quotas are unknown"}, got.Incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
}
