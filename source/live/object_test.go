package live

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
)

// everyKind is a cluster with an object of each kind, two of some.
func everyKind() *clusterBuilder {
	return makeCluster().node("worker-2").node("worker-1").pod("shop", "web-1", "worker-1", "1").pod("shop", "web-0", "worker-1", "1").pod("spark", "driver", "", "1").
		namespace("shop").namespace("spark").reservation("nightly").recommendation("shop", "web", nil).recommendation("spark", "etl", nil)
}

// kindDevice is a kind that nothing but a test declares.
var kindDevice = source.Kind{Name: "device", Plural: "devices", Short: "dev", API: schedulingv1alpha1.GroupVersion.WithKind("Device")}

func TestObjectsAreReadWhole(t *testing.T) {
	cluster := everyKind()
	cluster.server.Devices = []schedulingv1alpha1.Device{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}}
	src := cluster.source(t)
	tests := map[string]struct {
		kind            source.Kind
		namespace, name string
		wantAPI         schema.GroupVersionKind
		wantErr         string
		wantCode        finding.Code
	}{
		"a node, whatever the namespace": {kind: source.KindNode, namespace: "ignored", name: "worker-1", wantAPI: schema.GroupVersionKind{Version: "v1", Kind: "Node"}},
		"a pod":                          {kind: source.KindPod, namespace: "shop", name: "web-0", wantAPI: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}},
		"a namespace":                    {kind: source.KindNamespace, name: "shop", wantAPI: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}},
		"a reservation":                  {kind: source.KindReservation, name: "nightly", wantAPI: schema.GroupVersionKind{Group: "scheduling.koordinator.sh", Version: "v1alpha1", Kind: "Reservation"}},
		"a recommendation":               {kind: source.KindRecommendation, namespace: "spark", name: "etl", wantAPI: schema.GroupVersionKind{Group: "analysis.koordinator.sh", Version: "v1alpha1", Kind: "Recommendation"}},
		"a kind that was just declared":  {kind: kindDevice, name: "worker-1", wantAPI: kindDevice.API},
		"a pod that does not exist":      {kind: source.KindPod, namespace: "shop", name: "gone", wantErr: `get pods "gone" in namespace "shop": not found`, wantCode: finding.NotFound},
		"a pod of another namespace":     {kind: source.KindPod, namespace: "spark", name: "web-0", wantErr: `get pods "web-0" in namespace "spark": not found`, wantCode: finding.NotFound},
		"a node that does not exist":     {kind: source.KindNode, namespace: "shop", name: "gone", wantErr: `get nodes "gone": not found`, wantCode: finding.NotFound},
		"a kind that nobody declared":    {kind: source.Kind{Name: "thing"}, name: "default", wantErr: `read object: unknown kind "thing"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := src.Object(t.Context(), tc.kind, tc.namespace, tc.name)
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr || tc.wantCode != "" && !hasCode(err, tc.wantCode) {
					t.Errorf("error %v, want %q with code %q", err, tc.wantErr, tc.wantCode)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.GroupVersionKind() != tc.wantAPI || got.GetName() != tc.name || got.GetManagedFields() != nil {
				t.Errorf("object %+v, want %s %q", got.Object, tc.wantAPI, tc.name)
			}
			if tc.kind.Namespaced != (got.GetNamespace() != "") {
				t.Errorf("namespace %q", got.GetNamespace())
			}
		})
	}
}

func TestNumbersOfObjectsStayWhole(t *testing.T) {
	src := sourceOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"metadata":{"name":"n","generation":9007199254740993},"spec":{"new":{"field":1.5}}}`))
	})
	got, err := src.Object(t.Context(), source.KindNode, "", "n")
	if err != nil {
		t.Fatal(err)
	}
	if got.GetGeneration() != 9007199254740993 {
		t.Errorf("generation %d", got.GetGeneration())
	}
	if diff := cmp.Diff(map[string]any{"new": map[string]any{"field": 1.5}}, got.Object["spec"]); diff != "" {
		t.Errorf("a field that this program does not know (-want +got):\n%s", diff)
	}
}

func TestAnObjectThatIsNoJSONIsAnError(t *testing.T) {
	src := sourceOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"metadata":`))
	})
	if _, err := src.Object(t.Context(), source.KindPod, "shop", "web"); err == nil || !strings.HasPrefix(err.Error(), `read pod "web": `) {
		t.Errorf("error %v", err)
	}
}

func TestNamesOfEveryKindAreListed(t *testing.T) {
	tests := map[string]struct {
		kind        source.Kind
		namespace   string
		limit       int
		want        []string
		wantRequest string
	}{
		"nodes":                    {source.KindNode, "", 0, []string{"worker-1", "worker-2"}, "GET /api/v1/nodes?limit=0"},
		"nodes, in no namespace":   {source.KindNode, "shop", 0, []string{"worker-1", "worker-2"}, "GET /api/v1/nodes?limit=0"},
		"pods of a namespace":      {source.KindPod, "shop", 100, []string{"web-0", "web-1"}, "GET /api/v1/namespaces/shop/pods?limit=100"},
		"pods of all":              {source.KindPod, "", 100, []string{"driver", "web-0", "web-1"}, "GET /api/v1/pods?limit=100"},
		"pods of an empty one":     {source.KindPod, "none", 100, []string{}, "GET /api/v1/namespaces/none/pods?limit=100"},
		"namespaces":               {source.KindNamespace, "shop", 5, []string{"shop", "spark"}, "GET /api/v1/namespaces?limit=5"},
		"reservations":             {source.KindReservation, "shop", 5, []string{"nightly"}, "GET /apis/scheduling.koordinator.sh/v1alpha1/reservations?limit=5"},
		"recommendations":          {source.KindRecommendation, "spark", 5, []string{"etl"}, "GET /apis/analysis.koordinator.sh/v1alpha1/namespaces/spark/recommendations?limit=5"},
		"a kind of which are none": {kindDevice, "", 5, []string{}, "GET /apis/scheduling.koordinator.sh/v1alpha1/devices?limit=5"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := everyKind()
			got, err := cluster.source(t).Names(t.Context(), tc.kind, tc.namespace, tc.limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tc.wantRequest + "&timeout=1m0s"}, cluster.server.Requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatCannotBeListed(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		edit     func(*clusterBuilder)
		ctx      context.Context
		kind     source.Kind
		wantErr  string
		wantCode finding.Code
	}{
		"not permitted":  {func(b *clusterBuilder) { b.denied("list pods") }, t.Context(), source.KindPod, `list pods in namespace "shop": not permitted for user "eve"`, finding.Forbidden},
		"not installed":  {func(b *clusterBuilder) { b.server.NoCRDs = true }, t.Context(), source.KindReservation, "list reservations.scheduling.koordinator.sh: the server doesn't have this resource type", finding.NotInstalled},
		"unknown":        {func(*clusterBuilder) {}, t.Context(), source.Kind{}, `list names: unknown kind ""`, ""},
		"interrupted":    {func(*clusterBuilder) {}, canceled, source.KindNode, "list nodes: context canceled", ""},
		"a server error": {func(b *clusterBuilder) { b.server.Broken = 500 }, t.Context(), source.KindNode, "list nodes: the server is broken", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := everyKind()
			tc.edit(cluster)
			_, err := cluster.source(t).Names(tc.ctx, tc.kind, "shop", 10)
			if err == nil || err.Error() != tc.wantErr || tc.wantCode != "" && !hasCode(err, tc.wantCode) {
				t.Errorf("error %v, want %q with code %q", err, tc.wantErr, tc.wantCode)
			}
			if name == "interrupted" && !errors.Is(err, context.Canceled) {
				t.Errorf("%v is no interruption", err)
			}
		})
	}
}
