package fleet

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host/simulated"
)

// values returns the samples of a registry by name and label value.
func values(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("names of metrics: %v %v", problems, err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			name := family.GetName()
			for _, label := range metric.Label {
				name += " " + label.GetValue()
			}
			out[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return out
}

func TestMetricsTellOfReportsAndTheirAge(t *testing.T) {
	const (
		succeeded = "koordlet_simulated_reports_total succeeded"
		failed    = "koordlet_simulated_reports_total failed"
		refused   = "koordlet_simulated_reports_total refused"
		nodes     = "koordlet_simulated_nodes"
		age       = "koordlet_simulated_oldest_report_age_seconds"
	)
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	// A node that is silent on purpose is not late.
	api.put("nodes", testNode("sim-2", map[string]string{simulated.AnnotationFreezeMetrics: "1h"}))
	api.put("nodemetrics", testMetric("sim-2"))
	clock, registry := testclock.NewFakeClock(noon), prometheus.NewRegistry()
	running(t, Options{RESTConfig: api.config(), Clock: clock, Registerer: registry})
	eventually(t, "a report of each", clock, 0, func() bool { return values(t, registry)[succeeded] == 2 })
	if got := values(t, registry); got[nodes] != 2 || got[age] != 0 || got[failed] != 0 || got[refused] != 0 {
		t.Errorf("after the first reports: %v", got)
	}

	api.refusing(http.StatusInternalServerError)
	eventually(t, "a failure and a late report", clock, 10*time.Second, func() bool {
		got := values(t, registry)
		return got[failed] > 0 && got[age] >= 120
	})
	api.refusing(0)
	eventually(t, "a young report", clock, 100*time.Millisecond, func() bool {
		got := values(t, registry)
		return got[succeeded] >= 3 && got[age] < 60
	})

	api.refusing(http.StatusUnprocessableEntity)
	eventually(t, "a refusal", clock, time.Second, func() bool { return values(t, registry)[refused] > 0 })
}

func TestMetricsEndWithTheFleet(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := &fleet{agents: map[string]*agent{}, opts: Options{Clock: testclock.NewFakeClock(noon)}}
	first, err := newInstruments(registry, f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newInstruments(registry, f); err == nil {
		t.Error("two fleets share a registry")
	}
	if got := values(t, registry); len(got) == 0 {
		t.Error("the refused second fleet took the metrics of the first away")
	}
	first.unregister(registry)
	if got := values(t, registry); len(got) > 0 {
		t.Errorf("metrics of a fleet that has ended: %v", got)
	}
}
