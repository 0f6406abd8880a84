package diagnostics

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const overviewsPath = "/apis/diagnostics.koordinator.sh/v1alpha1/nodeoverviews"

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

func TestNodesAreListedAndGot(t *testing.T) {
	tests := map[string]struct {
		path      string
		wantNames []string
		// wantAsked is the name and the selector that are asked for.
		wantAsked string
	}{
		"all":                               {overviewsPath, []string{"n1", "n2"}, " "},
		"by label":                          {overviewsPath + "?labelSelector=pool%3Dgold", []string{"n1", "n2"}, " pool=gold"},
		"by name":                           {overviewsPath + "?fieldSelector=metadata.name%3Dn2", []string{"n2"}, "n2 "},
		"by name, and a label that it has":  {overviewsPath + "?fieldSelector=metadata.name%3Dn2&labelSelector=pool%3Dgold", []string{"n2"}, "n2 pool=gold"},
		"by name, and one that it has not":  {overviewsPath + "?fieldSelector=metadata.name%3Dn2&labelSelector=pool%3Dlead", []string{}, "n2 pool=lead"},
		"by the name of none":               {overviewsPath + "?fieldSelector=metadata.name%3Dghost", []string{}, "ghost "},
		"in pieces, which it does not know": {overviewsPath + "?limit=1", []string{"n1", "n2"}, " "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			overviewer := &recorder{gone: "ghost"}
			code, data := send(t, newTestServer(t, overviewer, everything), http.MethodGet, test.path, "application/json", "")
			if code != http.StatusOK {
				t.Fatalf("status %d: %s", code, data)
			}
			list := decode[diagnosticsv1alpha1.NodeOverviewList](t, data)
			got := []string{}
			for _, item := range list.Items {
				got = append(got, item.Name)
				if item.Kind != "" {
					t.Errorf("item %s has kind %q, want none: that of the list is enough", item.Name, item.Kind)
				}
			}
			if diff := cmp.Diff(test.wantNames, got); diff != "" || list.Kind != "NodeOverviewList" {
				t.Errorf("%s (-want +got):\n%s", list.Kind, diff)
			}
			if diff := cmp.Diff([]string{test.wantAsked}, overviewer.overviews); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOneNodeIsGot(t *testing.T) {
	server := newTestServer(t, &recorder{gone: "ghost"}, everything)
	code, data := send(t, server, http.MethodGet, overviewsPath+"/n2", "application/json", "")
	if got := decode[diagnosticsv1alpha1.NodeOverview](t, data); code != http.StatusOK || got.Name != "n2" || got.Kind != "NodeOverview" {
		t.Errorf("status %d, %s %q", code, got.Kind, got.Name)
	}
	code, data = send(t, server, http.MethodGet, overviewsPath+"/ghost", "application/json", "")
	if status := decode[metav1.Status](t, data); code != http.StatusNotFound || status.Message != `nodes "ghost" not found` {
		t.Errorf("status %d: %s", code, status.Message)
	}
}

// TestOverviewsTakeTheRightToListWhatTheyAddUp: the sums of pods that one may not list are not shown either.
func TestOverviewsTakeTheRightToListWhatTheyAddUp(t *testing.T) {
	for _, path := range []string{overviewsPath, overviewsPath + "/n1"} {
		for _, denied := range []string{"nodes", "pods", "nodemetrics"} {
			t.Run(strings.TrimPrefix(path, "/apis/")+" without "+denied, func(t *testing.T) {
				overviewer := &recorder{}
				server := newTestServer(t, overviewer, func(a authorizer.Attributes) bool { return a.GetResource() != denied })
				code, data := send(t, server, http.MethodGet, path, "application/json", "")
				want := fmt.Sprintf(`User "alice" cannot list resource %q`, denied)
				if code != http.StatusForbidden || !strings.Contains(decode[metav1.Status](t, data).Message, want) {
					t.Errorf("status %d: %s, want %s", code, data, want)
				}
				if len(overviewer.overviews) > 0 {
					t.Error("it was read all the same")
				}
			})
		}
	}
}

func TestNodesAreListedAsATable(t *testing.T) {
	_, data := send(t, newTestServer(t, &recorder{}, everything), http.MethodGet, overviewsPath, asTable, "")
	table := decode[metav1.Table](t, data)
	var got []string
	for _, row := range table.Rows {
		got = append(got, strings.TrimSpace(fmt.Sprintln(row.Cells...)))
	}
	want := []string{
		"n1 Hot 7500m/10000m 1000m/2000m ?/32768Mi ?/? Fresh cpu usage 75% > threshold 65%",
		"n2 Unknown ?/0m ?/? ?/0Mi ?/?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got := len(table.ColumnDefinitions); got != 8 {
		t.Errorf("%d columns, want 8", got)
	}
}

// TestClientsThatPreferProtobufGetJSON as client-go's do that speak it with the API server.
func TestClientsThatPreferProtobufGetJSON(t *testing.T) {
	server := newTestServer(t, &recorder{}, everything)
	code, data := send(t, server, http.MethodGet, overviewsPath, "application/vnd.kubernetes.protobuf,application/json", "")
	if list := decode[diagnosticsv1alpha1.NodeOverviewList](t, data); code != http.StatusOK || len(list.Items) != 2 {
		t.Errorf("status %d: %s", code, data)
	}
	if code, data := send(t, server, http.MethodGet, overviewsPath, "application/vnd.kubernetes.protobuf", ""); code != http.StatusNotAcceptable {
		t.Errorf("status %d: %s", code, data)
	}
}

func TestReadsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	server := newTestServer(t, &recorder{metrics: registry, gone: "ghost"}, everything)
	for _, path := range []string{overviewsPath, overviewsPath + "/n1", overviewsPath + "/ghost"} {
		send(t, server, http.MethodGet, path, "application/json", "")
	}
	want := map[string]float64{"NodeOverview answered": 2, "NodeOverview not_found": 1}
	if diff := cmp.Diff(want, counted(t, registry)); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}
