package release

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
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

func TestOnlyServersReadSecretsAndOnlyTheirOwn(t *testing.T) {
	want := map[string][]any{
		"Role koord-manager":     {"koord-serving-ca", "koord-manager-serving", "koord-scheduler-serving", "koord-descheduler-serving", "koord-bridge-serving"},
		"Role koord-scheduler":   {"koord-scheduler-serving"},
		"Role koord-descheduler": {"koord-descheduler-serving"},
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

// TestAManagerThatKeepsNoCertificatesMayWriteNone has somebody else keep them.
func TestAManagerThatKeepsNoCertificatesMayWriteNone(t *testing.T) {
	objects := objectsOf(t, renderForTest(t, map[string]any{"certificates": map[string]any{"manage": false}}))
	verbs, told := []any(nil), false
	for _, object := range objects {
		if object.GetKind() == "Role" && object.GetName() == "koord-manager" {
			rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
			for _, rule := range rules {
				if rule := rule.(map[string]any); cmp.Equal(rule["resources"], any([]any{"secrets"})) {
					verbs = append(verbs, rule["verbs"].([]any)...)
				}
			}
		}
		if object.GetKind() == "Deployment" && object.GetName() == "koord-manager" {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			told = slices.Contains(containers[0].(map[string]any)["args"].([]any), any("--manage-certificates=false"))
		}
	}
	if diff := cmp.Diff([]any{"get", "list", "watch"}, verbs); diff != "" || !told {
		t.Errorf("told to keep none: %t; rights on secrets (-want +got):\n%s", told, diff)
	}
}

func TestEveryPodOfTheControlPlaneMeetsTheRestrictedStandard(t *testing.T) {
	pods := 0
	for _, object := range objectsOf(t, renderForTest(t, nil)) {
		spec, found, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		if !found || object.GetKind() == "DaemonSet" {
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

// TestTheAgentMayDoNoMoreThanItMust holds it to what it cannot do without: root, because cgroups belong to root, and the node's
// own cgroups, processes and network.
func TestTheAgentMayDoNoMoreThanItMust(t *testing.T) {
	tests := map[string]struct {
		values           map[string]any
		wantCapabilities map[string]any
	}{
		"by default": {wantCapabilities: map[string]any{"drop": []any{"ALL"}}},
		"with out-of-memory scores": {
			values:           map[string]any{"koordlet": map[string]any{"capabilities": []any{"SYS_RESOURCE"}}},
			wantCapabilities: map[string]any{"drop": []any{"ALL"}, "add": []any{"SYS_RESOURCE"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec, container := agentOf(t, tc.values)
			want := map[string]any{
				"runAsUser": float64(0), "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
				"capabilities": tc.wantCapabilities,
			}
			if diff := cmp.Diff(want, container["securityContext"]); diff != "" {
				t.Errorf("security context (-want +got):\n%s", diff)
			}
			directories := map[string]string{}
			for _, volume := range spec["volumes"].([]any) {
				if path, found, _ := unstructured.NestedString(volume.(map[string]any), "hostPath", "path"); found {
					directories[volume.(map[string]any)["name"].(string)] = path
				}
			}
			// Kubelet's directory, with every pod's secrets and its own key, is mounted in the container alone that copies two files of it.
			var paths []string
			for _, mount := range container["volumeMounts"].([]any) {
				if path := directories[mount.(map[string]any)["name"].(string)]; path != "" {
					paths = append(paths, path)
				}
			}
			wantPaths := []string{"/sys/fs/cgroup", "/proc", "/sys", "/var/run/nri", "/var/lib/koordlet"}
			if diff := cmp.Diff(wantPaths, paths); diff != "" {
				t.Errorf("directories of the node (-want +got):\n%s", diff)
			}
		})
	}
}

func agentOf(t *testing.T, values map[string]any) (spec, container map[string]any) {
	t.Helper()
	for _, object := range objectsOf(t, renderForTest(t, values)) {
		if object.GetKind() == "DaemonSet" {
			spec, _, _ = unstructured.NestedMap(object.Object, "spec", "template", "spec")
			return spec, spec["containers"].([]any)[0].(map[string]any)
		}
	}
	t.Fatal("no DaemonSet was rendered")
	return nil, nil
}

// TestFeatureGatesAreOneFlag in an order that stays, so that nothing is rolled out when nothing changed.
func TestFeatureGatesAreOneFlag(t *testing.T) {
	_, container := agentOf(t, map[string]any{"koordlet": map[string]any{
		"featureGates": map[string]any{"MemoryEvict": true, "CPUBurst": false, "BECPUEvict": true},
	}})
	if want := "--feature-gates=BECPUEvict=true,CPUBurst=false,MemoryEvict=true"; !slices.Contains(container["args"].([]any), any(want)) {
		t.Errorf("arguments = %v; want %s among them", container["args"], want)
	}
}

// TestPodsOnTheNodesNetwork listen on the configured addresses, and are contacted there.
func TestPodsOnTheNodesNetwork(t *testing.T) {
	manifest := renderForTest(t, map[string]any{
		"kubernetes": map[string]any{"host": "127.0.0.1", "port": 16443},
		"manager": map[string]any{
			"hostNetwork": true, "bindAddress": "127.0.0.1", "ports": map[string]any{"health": 18000},
		},
		"scheduler": map[string]any{
			"hostNetwork": true, "bindAddress": "127.0.0.1", "service": map[string]any{"externalName": "localhost", "port": 18444},
		},
		"descheduler": map[string]any{"hostNetwork": true, "bindAddress": "127.0.0.1", "ports": map[string]any{"https": 18445}},
	})
	for _, want := range []string{
		"hostNetwork: true", "--health-probe-bind-address=127.0.0.1:18000", "--webhook-bind-address=127.0.0.1", "--bind-address=127.0.0.1",
		`port: health, host: "127.0.0.1"`, "--scheduler-endpoint=https://localhost:18444", "maxSurge: 0",
		"--secure-port=18445",
	} {
		if !strings.Contains(manifest, want) {
			t.Errorf("manifest has no %q", want)
		}
	}
	if got := strings.Count(manifest, `{name: KUBERNETES_SERVICE_PORT, value: "16443"}`); got != 4 {
		t.Errorf("%d components are told where the API server is; want 4", got)
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
	definitions, err := Definitions()
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
