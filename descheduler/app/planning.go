package app

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// The values of the label result of descheduler_placement_reviews_total.
const (
	resultAnswered = "answered"
	resultStandby  = "standby"
	resultFailed   = "failed"
)

// planning are the metrics of LoadAwareRebalancing.
type planning struct {
	reviews   *prometheus.CounterVec
	steps     *prometheus.CounterVec
	stays     *prometheus.GaugeVec
	potential *prometheus.GaugeVec
}

func newPlanning(registerer prometheus.Registerer) (*planning, error) {
	const subsystem = "descheduler"
	m := &planning{
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "placement_reviews_total",
			Help: "Questions to koord-scheduler about planned moves: answered, standby when its leader did not answer, or failed.",
		}, []string{"result"}),
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "planned_steps_total", Help: "Steps that LoadAwareRebalancing planned, by the remedy.",
		}, []string{"remedy"}),
		stays: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Subsystem: subsystem, Name: "planned_stays", Help: "Pods that the last plan of LoadAwareRebalancing considered and left where they are, by the reason.",
		}, []string{"reason"}),
		potential: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Subsystem: subsystem, Name: "planned_potential", Help: "How overloaded and unevenly loaded nodes are, before and after the last plan of LoadAwareRebalancing; 0 is not at all.",
		}, []string{"when"}),
	}
	for _, collector := range []prometheus.Collector{m.reviews, m.steps, m.stays, m.potential} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics of plans: %w", err)
		}
	}
	return m, nil
}

// report takes what a pass planned.
func (m *planning) report(plan rebalance.Plan, trace *rebalance.Trace, unreviewed error) {
	for _, step := range plan.Steps {
		m.steps.WithLabelValues(string(step.Remedy)).Inc()
	}
	m.stays.Reset()
	for _, skip := range trace.Skipped {
		m.stays.WithLabelValues(string(skip.Reason)).Inc()
	}
	m.potential.WithLabelValues("before").Set(plan.Before)
	m.potential.WithLabelValues("after").Set(plan.After)
	logger := klog.Background().WithValues("plugin", rebalance.PluginName)
	logger.V(1).Info("Planned", "summary", trace.Message(plan), "reviewed", unreviewed == nil)
	for _, skip := range trace.Skipped {
		logger.V(4).Info("Pod stays", "pod", skip.Pod, "node", skip.Node, "reason", skip.Reason, "detail", skip.Detail)
	}
}
