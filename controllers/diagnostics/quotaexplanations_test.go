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

const quotasPath = "/apis/diagnostics.koordinator.sh/v1alpha1/namespaces/team/quotaexplanations"

func TestAQuotaIsExplained(t *testing.T) {
	registry := prometheus.NewRegistry()
	explainer := &recorder{gone: "ghost", metrics: registry}
	server := newTestServer(t, explainer, everything)
	code, data := send(t, server, http.MethodGet, quotasPath+"/batch", "application/json", "")
	got := decode[diagnosticsv1alpha1.QuotaExplanation](t, data)
	if code != http.StatusOK || got.Kind != "QuotaExplanation" || got.Name != "batch" || got.Namespace != "team" || len(got.Divisions) != 3 {
		t.Errorf("status %d: %s", code, data)
	}
	code, data = send(t, server, http.MethodGet, quotasPath+"/ghost", "application/json", "")
	if status := decode[metav1.Status](t, data); code != http.StatusNotFound || !strings.Contains(status.Message, `"ghost" not found`) {
		t.Errorf("status %d: %s", code, data)
	}
	if code, data = send(t, server, http.MethodGet, quotasPath, "application/json", ""); code != http.StatusNotFound {
		t.Errorf("listing answers %d: %s", code, data)
	}
	if diff := cmp.Diff([]string{"team/batch", "team/ghost"}, explainer.quotas); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"QuotaExplanation answered": 1, "QuotaExplanation not_found": 1}, counted(t, registry)); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestQuotasTakeTheRightToListWhatTheyDivide: an explanation names other quotas, pods of all namespaces, and what all nodes have.
func TestQuotasTakeTheRightToListWhatTheyDivide(t *testing.T) {
	for _, denied := range []string{"elasticquotas", "pods", "nodes"} {
		t.Run("without "+denied, func(t *testing.T) {
			explainer := &recorder{}
			server := newTestServer(t, explainer, func(a authorizer.Attributes) bool {
				return a.GetResource() != denied || a.GetNamespace() != "" // those of the namespace are not enough
			})
			code, data := send(t, server, http.MethodGet, quotasPath+"/batch", "application/json", "")
			want := fmt.Sprintf(`User "alice" cannot list resource %q`, denied)
			if message := decode[metav1.Status](t, data).Message; code != http.StatusForbidden || !strings.Contains(message, want) || !strings.Contains(message, "at the cluster scope") {
				t.Errorf("status %d: %s, want %s", code, data, want)
			}
			if len(explainer.quotas) > 0 {
				t.Error("the scheduler was asked all the same")
			}
		})
	}
}

func TestAQuotaIsATableOfItsResources(t *testing.T) {
	_, data := send(t, newTestServer(t, &recorder{}, everything), http.MethodGet, quotasPath+"/batch", asTable, "")
	table := decode[metav1.Table](t, data)
	var got []string
	for _, row := range table.Rows {
		got = append(got, strings.TrimSpace(fmt.Sprintln(row.Cells...)))
	}
	want := []string{
		"batch Borrowing cpu 3000m 4000m 8000m 1000m uses more than its min",
		"batch Borrowing memory 2048Mi 2048Mi <none> 0Mi uses more than its min",
		"batch Borrowing nvidia.com/gpu 1 2 <none> 1 uses more than its min",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
