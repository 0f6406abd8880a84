package kubectlplugin

import (
	"net/http"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// forgetful is a scheduler from before there were offers, which does as if nobody had asked for them.
type forgetful struct{ roomy }

func (f forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serveReview(w, r, func(spec *diagnosticsv1alpha1.PlacementReviewSpec) diagnosticsv1alpha1.PlacementReviewStatus {
		spec.Offers = nil
		return f.answer(spec)
	})
}

func TestWhatIfTheConfigurationChanges(t *testing.T) {
	const raise = "whatif config colocation-config.cpuReclaimThresholdPercent=90"
	same := func(*livetest.Server) {}
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"more":           {raise, same},
		"more-wide":      {raise + " -o wide", same},
		"more-json":      {raise + " -o json", same},
		"more-names":     {raise + " -o name", same},
		"more-nodes":     {raise + " --new-nodes worker-2", same},
		"less":           {"whatif config colocation-config.enable=false --fail-on=error", same},
		"no-offer":       {"whatif config resource-threshold-config.cpuSuppressThresholdPercent=30", same},
		"error":          {"whatif config colocation-config.cpuReclaimThresholdPercent=-1", same},
		"nothing":        {"whatif config", same},
		"two-ways":       {raise + " --revision 1", same},
		"unknown":        {"whatif config colocation-config.cpuReclaim=90", same},
		"no-scheduler":   {raise + " --strict", func(s *livetest.Server) { s.Diagnostics = nil }},
		"old-scheduler":  {raise + " --strict", func(s *livetest.Server) { s.Diagnostics = forgetful{roomy{"worker-2": 1}} }},
		"denied":         {raise, func(s *livetest.Server) { s.Denied = []string{"create placementreviews"} }},
		"no-metrics":     {raise, func(s *livetest.Server) { s.Denied = []string{"list nodemetrics"} }},
		"no-config":      {raise, func(s *livetest.Server) { s.Denied = []string{"get configmaps"} }},
		"no-co-location": {raise, func(s *livetest.Server) { s.ConfigMaps = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			waiting := scaledCluster()
			server.Pods, server.Diagnostics = append(server.Pods, waiting.Pods...), roomy{"worker-2": 1}
			tc.server(server)
			golden(t, "whatif-config/"+name, tc.line, run(t, server, tc.line))
		})
	}
}
