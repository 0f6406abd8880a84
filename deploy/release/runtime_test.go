package release

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/deploy"
)

// environments are the variables of every container by its name, those that are given as a value.
func environments(t *testing.T, values map[string]any) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, object := range objectsOf(t, renderForTest(t, values)) {
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		for _, entry := range containers {
			container := entry.(map[string]any)
			if container["name"] == "kubelet-files" {
				continue // it copies two files, and uses no API
			}
			variables := map[string]string{}
			env, _, _ := unstructured.NestedSlice(container, "env")
			for _, variable := range env {
				if value, ok := variable.(map[string]any)["value"].(string); ok {
					variables[variable.(map[string]any)["name"].(string)] = value
				}
			}
			out[container["name"].(string)] = variables
		}
	}
	return out
}

// TestTheRuntimeKeepsBelowTheMemoryLimit: nine tenths of what the container may have, whatever the notation of the limit.
func TestTheRuntimeKeepsBelowTheMemoryLimit(t *testing.T) {
	tests := map[string]struct {
		limit any
		want  string
	}{
		"mebibytes":            {"256Mi", "241591910"},
		"a part of a gibibyte": {"1.5Gi", "1449551462"},
		"megabytes":            {"500M", "450000000"},
		"bytes":                {"1000000000", "900000000"},
		"bytes as a number":    {268435456, "241591910"},
		"a large number":       {8589934592, "7730941132"},
		"thousandths":          {"268435456000m", ""},
		"an exponent":          {"1e9", ""},
		"no limit":             {nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{}
			want := map[string]map[string]string{}
			for component, container := range map[string]string{"koordlet": "koordlet", "manager": "koord-manager", "scheduler": "koord-scheduler", "descheduler": "koord-descheduler"} {
				values[component] = map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": tc.limit}}}
				want[container] = map[string]string{}
				if tc.want != "" {
					want[container]["GOMEMLIMIT"] = tc.want
				}
			}
			if diff := cmp.Diff(want, environments(t, values)); diff != "" {
				t.Errorf("environments (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("beside the address of the API server", func(t *testing.T) {
		for container, got := range environments(t, map[string]any{"kubernetes": map[string]any{"host": "10.0.0.1"}}) {
			if got["GOMEMLIMIT"] == "" || got["KUBERNETES_SERVICE_HOST"] != "10.0.0.1" || got["KUBERNETES_SERVICE_PORT"] != "6443" {
				t.Errorf("%s: %v", container, got)
			}
		}
	})
	t.Run("no resources at all", func(t *testing.T) {
		if got := environments(t, map[string]any{"koordlet": map[string]any{"resources": map[string]any{"limits": nil}}})["koordlet"]; len(got) > 0 {
			t.Errorf("koordlet: %v", got)
		}
	})
}

// TestTheChartKnowsEveryPredictor: a name that the agent refuses is refused before anything is installed.
func TestTheChartKnowsEveryPredictor(t *testing.T) {
	chart, err := deploy.Chart()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(chart, "values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := yaml.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedStringSlice(schema, "properties", "koordlet", "properties", "predictor", "enum")
	var want []string
	for _, profile := range predict.Profiles() {
		want = append(want, profile.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("predictors of values.schema.json (-want +got):\n%s", diff)
	}
}
