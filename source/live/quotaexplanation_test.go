package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// quotaAPI is a diagnostics API that explains quotas.
type quotaAPI struct {
	code   int
	answer diagnosticsv1alpha1.QuotaExplanation
	asked  int
}

func (q *quotaAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/namespaces/ml/quotaexplanations/team") {
		q.asked++
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(q.code)
	_ = json.NewEncoder(w).Encode(&q.answer)
}

// TestAQuotaIsExplainedByTheSchedulerWhereItAnswers, and from the objects where it does not, or names too few pods.
func TestAQuotaIsExplainedByTheSchedulerWhereItAnswers(t *testing.T) {
	answer := diagnosticsv1alpha1.QuotaExplanation{
		TypeMeta: kind("QuotaExplanation"), ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "team"},
		QuotaFacts: diagnosticsv1alpha1.QuotaFacts{State: "Normal", Reason: "the scheduler says so"}, PodsOmitted: 3, RefusedOmitted: 4,
	}
	for i := range 5 {
		answer.Pods = append(answer.Pods, diagnosticsv1alpha1.QuotaPod{Name: fmt.Sprintf("used-%d", i)})
		answer.Refused = append(answer.Refused, diagnosticsv1alpha1.QuotaRefusal{QuotaPod: diagnosticsv1alpha1.QuotaPod{Name: fmt.Sprintf("refused-%d", i)}})
	}
	tests := map[string]struct {
		code  int
		edit  func(*diagnosticsv1alpha1.QuotaExplanation)
		limit int
		// wantPods that are named, with wantOmitted more, where the scheduler answers.
		wantPods, wantOmitted int
		wantObjects           bool
		wantAsked             int
	}{
		"all of its pods":          {limit: 10, wantPods: 5, wantOmitted: 3, wantAsked: 1},
		"some of its pods":         {limit: 2, wantPods: 2, wantOmitted: 6, wantAsked: 1},
		"none of its pods":         {limit: 0, wantPods: 0, wantOmitted: 8, wantAsked: 1},
		"more pods than it names":  {limit: diagnosticsv1alpha1.MaxQuotaPods + 1, wantObjects: true},
		"it is of another version": {code: http.StatusNotFound, limit: 10, wantObjects: true, wantAsked: 1},
		"the user may not ask":     {code: http.StatusForbidden, limit: 10, wantObjects: true, wantAsked: 1},
		"it does not run":          {code: http.StatusServiceUnavailable, limit: 10, wantObjects: true, wantAsked: 1},
		"it says something else":   {edit: func(q *diagnosticsv1alpha1.QuotaExplanation) { q.Name = "other" }, limit: 10, wantObjects: true, wantAsked: 1},
		"it says nothing":          {edit: func(q *diagnosticsv1alpha1.QuotaExplanation) { q.State = "" }, limit: 10, wantObjects: true, wantAsked: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			api := &quotaAPI{code: max(tc.code, http.StatusOK), answer: *answer.DeepCopy()}
			if tc.edit != nil {
				tc.edit(&api.answer)
			}
			cluster := shared()
			cluster.server.Diagnostics = api
			got, err := cluster.source(t).ExplainQuota(t.Context(), "ml", "team", tc.limit)
			if err != nil {
				t.Fatal(err)
			}
			if objects := got.Reason != answer.Reason; objects != tc.wantObjects || api.asked != tc.wantAsked || got.Kind != "QuotaExplanation" {
				t.Errorf("from the objects: %t, asked %d times; want %t, %d", objects, api.asked, tc.wantObjects, tc.wantAsked)
			}
			if !tc.wantObjects && (len(got.Pods) != tc.wantPods || len(got.Refused) != tc.wantPods || int(got.PodsOmitted) != tc.wantOmitted || int(got.RefusedOmitted) != tc.wantOmitted+1) {
				t.Errorf("%d pods and %d more, %d refused and %d more", len(got.Pods), got.PodsOmitted, len(got.Refused), got.RefusedOmitted)
			}
		})
	}
}
