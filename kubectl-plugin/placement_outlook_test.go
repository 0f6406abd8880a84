package kubectlplugin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// predicting answers reviews of placements, and questions about nodes by what each of them will offer; nil for a koord-manager of an
// earlier version, which ignores that it is asked.
type predicting struct {
	roomy
	ahead map[string][]diagnosticsv1alpha1.OfferOutlook
}

func (p *predicting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/nodeexplanationbatches") {
		p.roomy.ServeHTTP(w, r)
		return
	}
	batch := &diagnosticsv1alpha1.NodeExplanationBatch{}
	if err := json.NewDecoder(r.Body).Decode(batch); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, name := range batch.Spec.NodeNames {
		status := diagnosticsv1alpha1.NodeExplanationStatus{Node: diagnosticsv1alpha1.NodeFacts{Name: name}}
		if batch.Spec.Outlook && len(batch.Spec.Resources) == 2 {
			status.Outlook = p.ahead[name]
		}
		batch.Status.Nodes = append(batch.Status.Nodes, status)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(batch)
}

// explainless answers reviews of placements alone: questions about nodes are answered from objects.
type explainless struct{ roomy }

func (e explainless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/nodeexplanation") {
		livetest.Fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		return
	}
	e.roomy.ServeHTTP(w, r)
}

// evening is what a node with a seasonal load offers: 9.5 CPUs of batch now, and 3 in the evening.
func evening() []diagnosticsv1alpha1.OfferOutlook {
	const note = "pods above batch use 24 cores at most in the next 24h by profile seasonal (same hours of 7 days), from 168h of history of 9 pods"
	return []diagnosticsv1alpha1.OfferOutlook{
		{
			Resource: "kubernetes.io/batch-cpu", Unit: diagnosticsv1alpha1.MilliCPU, Offered: 9500, Requested: 2000, Predictor: "seasonal", Note: note,
			Steps: []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 6 * 3600, Offered: 9500}, {WithinSeconds: 24 * 3600, Offered: 5000}},
		},
		{
			Resource: "kubernetes.io/batch-memory", Unit: diagnosticsv1alpha1.Bytes, Offered: 30 << 30, Requested: 4 << 30, Predictor: "seasonal", Note: note,
			Steps: []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 24 * 3600, Offered: 30 << 30}},
		},
	}
}

func TestForecastCapacitySaysForHowLong(t *testing.T) {
	room := roomy{"worker-1": 3, "worker-2": 1}
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"capacity-seasonal": {"forecast capacity pod/executor-1 -n spark", func(s *livetest.Server) {
			s.Diagnostics = &predicting{room, map[string][]diagnosticsv1alpha1.OfferOutlook{"worker-1": evening(), "worker-2": evening()}}
		}},
		"capacity-seasonal-wide": {"forecast capacity pod/executor-1 -n spark --new-nodes worker-1 -o wide", func(s *livetest.Server) {
			s.Diagnostics = &predicting{room, map[string][]diagnosticsv1alpha1.OfferOutlook{"worker-1": evening(), "worker-2": evening()}}
		}},
		"capacity-seasonal-json": {"forecast capacity pod/executor-1 -n spark -o jsonpath={.outlook}", func(s *livetest.Server) {
			s.Diagnostics = &predicting{room, map[string][]diagnosticsv1alpha1.OfferOutlook{"worker-1": evening()}}
		}},
		"capacity-observed-shortly": {"forecast capacity pod/executor-1 -n spark", func(s *livetest.Server) {
			ahead := evening()
			ahead[0].Partial, ahead[0].Steps, ahead[1].Steps = true, []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 3600, Offered: 9500}}, []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 3600, Offered: 30 << 30}}
			s.Diagnostics = &predicting{room, map[string][]diagnosticsv1alpha1.OfferOutlook{"worker-1": ahead, "worker-2": ahead}}
		}},
		"capacity-manager-too-old": {"forecast capacity pod/executor-1 -n spark", func(s *livetest.Server) { s.Diagnostics = &predicting{room, nil} }},
		"capacity-by-the-agent": {"forecast capacity pod/executor-1 -n spark -o wide", func(s *livetest.Server) {
			s.Diagnostics = explainless{room}
			s.Metrics[0].Status.ProdPeakMetric = &slov1alpha1.ReclaimableMetric{Resource: slov1alpha1.ResourceMap{ResourceList: list("cpu", "16", "memory", "40Gi")}}
		}},
		"capacity-metrics-denied": {"forecast capacity pod/executor-1 -n spark --strict", func(s *livetest.Server) {
			s.Diagnostics = explainless{room}
			s.Denied = []string{"get nodemetrics", "list nodemetrics"}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			test.edit(server)
			golden(t, "placement/"+name, test.line, run(t, server, test.line))
		})
	}
}
