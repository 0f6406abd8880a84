package cluster

import (
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/deploy"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/sandbox/realnode"
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
		real  bool
		want  [2]float64 // interval and duration in seconds
	}{
		"a small sandbox reports often":         {nodes: 100, want: [2]float64{15, 60}},
		"a real koordlet has a minimum":         {nodes: 1, real: true, want: [2]float64{30, 60}},
		"a large one reports as the chart says": {nodes: 101, want: reporting(t, defaults)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := reporting(t, values(state.Spec{Nodes: tc.nodes}, state.Ports{}, tc.real))
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

// TestWhatIsAddedRunsOnTheRealNode: `koordctl install` keeps the values that the sandbox gave, also of what it did not install.
func TestWhatIsAddedRunsOnTheRealNode(t *testing.T) {
	ports := state.Ports{
		APIServer: 1, Scheduler: 2, SchedulerDiagnostics: 3, ManagerDiagnostics: 4, ManagerWebhooks: 5, ManagerMetrics: 6, ManagerHealth: 7, Descheduler: 8,
	}
	all := values(state.Spec{}, ports, true)
	runInPods(all, ports, realnode.Node{Name: "vm", Dir: "/var/lib/sandbox", Subnet: netip.MustParsePrefix("10.1.0.0/24")})
	maps.Copy(all["bridge"].(map[string]any), map[string]any{"enabled": true, "yarn": map[string]any{"config": map[string]any{"yarn-site.xml": "<configuration/>"}}})
	maps.Copy(all["yarnAgent"].(map[string]any), map[string]any{"enabled": true})
	rendered, err := release.Render(t.Context(), release.Options{Values: all})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := release.Objects(rendered)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, object := range objects {
		if name := object.GetName(); (name == "koord-bridge" || name == "koord-yarn-agent") && (object.GetKind() == "Deployment" || object.GetKind() == "DaemonSet") {
			spec, _, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
			container := spec["containers"].([]any)[0].(map[string]any)
			got[name] = fmt.Sprintf("%v %v %v", spec["nodeSelector"], spec["hostNetwork"], container["image"])
		}
	}
	want := map[string]string{
		"koord-bridge":     "map[sandbox.koordinator.sh/real-node:true] true koordinator.sh/sandbox/koord-bridge:current",
		"koord-yarn-agent": "map[sandbox.koordinator.sh/real-node:true] true koordinator.sh/sandbox/koord-yarn-agent:current",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}
