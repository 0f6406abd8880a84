package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
)

// cluster lets templates look up the objects in it.
type cluster struct{ dynamic.Interface }

func (c cluster) GetClientFor(string, string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}), true, nil
}

// renderConfig renders slo-controller-config for a cluster that holds live, which may be nil.
func renderConfig(t *testing.T, live *unstructured.Unstructured, values map[string]any) *unstructured.Unstructured {
	t.Helper()
	var objects []runtime.Object
	if live != nil {
		objects = append(objects, live)
	}
	loaded, err := loadChart()
	if err != nil {
		t.Fatal(err)
	}
	input, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{Name: DefaultName, Namespace: DefaultNamespace}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.RenderWithClientProvider(loaded, input, cluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)})
	if err != nil {
		t.Fatal(err)
	}
	return objectsOf(t, rendered[chartName+"/templates/slo-controller-config.yaml"])[0]
}

func configData(t *testing.T, object *unstructured.Unstructured) map[string]string {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestUpgradeKeepsWhatWasEditedInTheCluster(t *testing.T) {
	const key, edited = "colocation-config", `{"enable":true,"cpuReclaimThresholdPercent":42}`
	off := map[string]any{"colocation": map[string]any{"enable": false}}
	tests := map[string]struct {
		edit   func(data map[string]string)
		values map[string]any
		// wantText must be in the key's text; empty means the key must be absent.
		wantText string
	}{
		"an untouched key follows the values": {
			edit: func(map[string]string) {}, values: off, wantText: `"enable": false`,
		},
		"an edited key stays": {
			edit: func(data map[string]string) { data[key] = edited }, values: off, wantText: edited,
		},
		"a deleted key stays deleted": {
			edit: func(data map[string]string) { delete(data, key) }, values: off,
		},
		"an edit of another key does not hold this one back": {
			edit: func(data map[string]string) { data["cpu-burst-config"] = `{}` }, values: off, wantText: `"enable": false`,
		},
		"overwrite puts the values over the edit": {
			edit: func(data map[string]string) { data[key] = edited },
			values: map[string]any{
				"colocation":          map[string]any{"enable": false},
				"sloControllerConfig": map[string]any{"overwrite": true},
			},
			wantText: `"enable": false`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := renderConfig(t, nil, nil)
			data := configData(t, live)
			tc.edit(data)
			if err := unstructured.SetNestedStringMap(live.Object, data, "data"); err != nil {
				t.Fatal(err)
			}
			upgraded := renderConfig(t, live, tc.values)
			got, found := configData(t, upgraded)[key]
			if found != (tc.wantText != "") || !strings.Contains(got, tc.wantText) {
				t.Errorf("after the upgrade %s is %q, want it to contain %q", key, got, tc.wantText)
			}

			// A second upgrade must not take a kept edit for the chart's own text.
			again := renderConfig(t, upgraded, tc.values)
			if diff := cmp.Diff(configData(t, upgraded), configData(t, again)); diff != "" {
				t.Errorf("a second upgrade changes the data again (-first +second):\n%s", diff)
			}
			later := renderConfig(t, upgraded, map[string]any{"sloControllerConfig": map[string]any{
				"data": map[string]any{key: map[string]any{"degradeTimeMinutes": 3}},
			}})
			if kept, _ := configData(t, later)[key]; tc.wantText == edited && kept != edited {
				t.Errorf("an upgrade with new defaults lost the edit: %q", kept)
			}
		})
	}
}

func TestAForeignConfigMapIsKept(t *testing.T) {
	live := renderConfig(t, nil, nil)
	live.SetAnnotations(nil)
	want := map[string]string{"colocation-config": `{"enable":false}`}
	if err := unstructured.SetNestedStringMap(live.Object, want, "data"); err != nil {
		t.Fatal(err)
	}
	got := configData(t, renderConfig(t, live, nil))
	if got["colocation-config"] != want["colocation-config"] {
		t.Errorf("colocation-config is %q, want %q", got["colocation-config"], want["colocation-config"])
	}
}
