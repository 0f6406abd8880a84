package cluster

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/deploy"
	"koordinator.sh/koord/sandbox/state"
)

// TestHowOftenNodesReport: a large sandbox reports as the chart says, and says so itself, because a release keeps the
// values it had while the sandbox was small.
func TestHowOftenNodesReport(t *testing.T) {
	chart, err := deploy.Chart()
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(chart, "values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	if err := yaml.Unmarshal(data, &defaults); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		nodes int
		want  [2]float64 // interval and duration in seconds
	}{
		"a small sandbox reports often":         {nodes: 100, want: [2]float64{15, 60}},
		"a large one reports as the chart says": {nodes: 101, want: reporting(t, defaults)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := reporting(t, values(state.Spec{Nodes: tc.nodes}, state.Ports{}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("report interval and aggregate duration (-want +got):\n%s", diff)
			}
		})
	}
}

func reporting(t *testing.T, values map[string]any) (seconds [2]float64) {
	t.Helper()
	data, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	var normal map[string]any
	if err := yaml.Unmarshal(data, &normal); err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"metricReportIntervalSeconds", "metricAggregateDurationSeconds"} {
		value, found, err := unstructured.NestedFloat64(normal, "sloControllerConfig", "data", "colocation-config", key)
		if !found || err != nil {
			t.Fatalf("%s: %v; want a number", key, err)
		}
		seconds[i] = value
	}
	return seconds
}
