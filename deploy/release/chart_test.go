package release

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// sandboxValues are those of a cluster whose components run as processes beside it.
func sandboxValues(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "outside-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func renderForTest(t *testing.T, values map[string]any) string {
	t.Helper()
	options, err := Options{Values: values}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := renderRelease(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

func objectsOf(t *testing.T, manifest string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := decodeManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestChartRendersTheGoldenManifests(t *testing.T) {
	tests := map[string]map[string]any{
		"default": nil,
		"outside": sandboxValues(t),
	}
	for name, values := range tests {
		t.Run(name, func(t *testing.T) {
			got := renderForTest(t, values)
			golden := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("manifest differs from %s; run with -update if that is intended (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestNoRoleGrantsAWildcard(t *testing.T) {
	for name, values := range map[string]map[string]any{"default": nil, "outside": sandboxValues(t)} {
		roles := 0
		for _, object := range objectsOf(t, renderForTest(t, values)) {
			if !strings.HasSuffix(object.GetKind(), "Role") {
				continue
			}
			roles++
			rules, _, err := unstructured.NestedSlice(object.Object, "rules")
			if err != nil || len(rules) == 0 {
				t.Errorf("%s: %s %s has no rules (%v)", name, object.GetKind(), object.GetName(), err)
			}
			for _, rule := range rules {
				for field, entries := range rule.(map[string]any) {
					for _, entry := range entries.([]any) {
						if strings.Contains(entry.(string), "*") {
							t.Errorf("%s: %s %s grants %q in %s", name, object.GetKind(), object.GetName(), entry, field)
						}
					}
				}
			}
		}
		if roles == 0 {
			t.Errorf("%s: no roles were rendered, so nothing was checked", name)
		}
	}
}

func TestOnlyTheManagerAndTheSchedulerReadSecretsAndOnlyTheirOwn(t *testing.T) {
	want := map[string][]any{
		"Role koord-manager":   {"koord-serving-ca", "koord-manager-serving", "koord-scheduler-serving"},
		"Role koord-scheduler": {"koord-scheduler-serving"},
	}
	got := map[string][]any{}
	for _, object := range objectsOf(t, renderForTest(t, map[string]any{"koordlet": map[string]any{"enabled": true}})) {
		rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
		for _, entry := range rules {
			rule := entry.(map[string]any)
			resources, _ := rule["resources"].([]any)
			verbs, _ := rule["verbs"].([]any)
			for _, resource := range resources {
				if resource == "secrets" && !cmp.Equal(verbs, []any{"create"}) {
					names, _ := rule["resourceNames"].([]any)
					got[object.GetKind()+" "+object.GetName()] = names
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights to read secrets differ (-want +got):\n%s", diff)
	}
}

func TestEveryPodMeetsTheRestrictedStandard(t *testing.T) {
	pods := 0
	for _, object := range objectsOf(t, renderForTest(t, nil)) {
		spec, found, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		if !found {
			continue
		}
		pods++
		expect := func(want any, fields ...string) {
			t.Helper()
			if got, _, _ := unstructured.NestedFieldNoCopy(spec, fields...); !cmp.Equal(want, got) {
				t.Errorf("%s: %s is %v, want %v", object.GetName(), strings.Join(fields, "."), got, want)
			}
		}
		expect(true, "securityContext", "runAsNonRoot")
		expect("RuntimeDefault", "securityContext", "seccompProfile", "type")
		for _, field := range []string{"hostNetwork", "hostPID", "hostIPC"} {
			expect(nil, field)
		}
		containers, _, _ := unstructured.NestedSlice(spec, "containers")
		for _, entry := range containers {
			container := entry.(map[string]any)
			want := map[string]any{
				"allowPrivilegeEscalation": false,
				"readOnlyRootFilesystem":   true,
				"capabilities":             map[string]any{"drop": []any{"ALL"}},
			}
			if diff := cmp.Diff(want, container["securityContext"]); diff != "" {
				t.Errorf("%s: container %v (-want +got):\n%s", object.GetName(), container["name"], diff)
			}
		}
	}
	if pods == 0 {
		t.Error("no workload was rendered")
	}
}

func TestWorkloadsOffRendersNone(t *testing.T) {
	for _, object := range objectsOf(t, renderForTest(t, sandboxValues(t))) {
		switch object.GetKind() {
		case "Deployment", "DaemonSet", "PodDisruptionBudget":
			t.Errorf("%s %q was rendered", object.GetKind(), object.GetName())
		}
	}
}

func TestSchemaRefusesWrongValues(t *testing.T) {
	tests := map[string]struct {
		values   map[string]any
		wantText string
	}{
		"an unknown key": {
			values:   map[string]any{"manger": map[string]any{"replicas": 3}},
			wantText: "manger",
		},
		"a port out of range": {
			values:   map[string]any{"manager": map[string]any{"service": map[string]any{"port": 70000}}},
			wantText: "/manager/service/port",
		},
		"text in place of a switch": {
			values:   map[string]any{"colocation": map[string]any{"enable": "yes"}},
			wantText: "/colocation/enable",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Render(t.Context(), Options{Values: tc.values})
			if err == nil || !strings.Contains(err.Error(), tc.wantText) {
				t.Fatalf("error %v does not mention %q", err, tc.wantText)
			}
			if coded, ok := finding.From(err); !ok || coded.Code != finding.InvalidArgument {
				t.Errorf("error %v does not carry %s", err, finding.InvalidArgument)
			}
		})
	}
}

func TestRenderBeginsWithWhatTheRestDependsOn(t *testing.T) {
	rendered, err := Render(t.Context(), Options{Namespace: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := loadDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	objects := objectsOf(t, rendered)
	for i, definition := range definitions {
		if objects[i].GetKind() != "CustomResourceDefinition" || objects[i].GetName() != definition.GetName() {
			t.Errorf("object %d is %s %q, want the definition %q", i, objects[i].GetKind(), objects[i].GetName(), definition.GetName())
		}
	}
	if namespace := objects[len(definitions)]; namespace.GetKind() != "Namespace" || namespace.GetName() != "elsewhere" {
		t.Errorf("after the definitions comes %s %q, want namespace %q", namespace.GetKind(), namespace.GetName(), "elsewhere")
	}
	for _, object := range objects[len(definitions)+1:] {
		if object.GetNamespace() == DefaultNamespace {
			t.Errorf("%s %q is in namespace %q", object.GetKind(), object.GetName(), DefaultNamespace)
		}
	}
}
