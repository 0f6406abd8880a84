package noderesource

import (
	"github.com/prometheus/client_golang/prometheus"

	"koordinator.sh/koord/decision/core/predict"
)

// predictionFigures are the live metrics of the predictors, by pool, profile, tier and resource.
var predictionFigures = []struct {
	kind  prometheus.ValueType
	desc  *prometheus.Desc
	value func(predict.Score) float64
}{
	{prometheus.CounterValue, predictionDesc("points_total", "Predictions whose horizon is over."), func(s predict.Score) float64 { return float64(s.Points) }},
	{prometheus.CounterValue, predictionDesc("violations_total", "Predictions that the pods exceeded within the horizon."), func(s predict.Score) float64 { return float64(s.Violations) }},
	{prometheus.GaugeValue, predictionDesc("violation_ratio", "Share of the predictions that the pods exceeded, since the start."), func(s predict.Score) float64 { return s.ViolationRate }},
	{prometheus.GaugeValue, predictionDesc("severity_ratio", "By how much of the prediction it was exceeded, on average over all predictions since the start."), func(s predict.Score) float64 { return s.Severity }},
	{prometheus.GaugeValue, predictionDesc("savings_ratio", "Share of the pods' limits that was predicted not to be used, on average since the start."), func(s predict.Score) float64 { return s.Savings }},
	{prometheus.GaugeValue, predictionDesc("oracle_savings_ratio", "Share of the pods' limits that was not used in the end, on average since the start: the most that savings can be."), func(s predict.Score) float64 { return s.OracleSavings }},
}

func predictionDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("slo_controller_node_prediction_"+name, help, []string{"pool", "profile", "tier", "resource"}, nil)
}

// Describe names the metrics.
func (p *Predictions) Describe(into chan<- *prometheus.Desc) {
	for _, figure := range predictionFigures {
		into <- figure.desc
	}
}

// Collect reports how the predictors do.
func (p *Predictions) Collect(into chan<- prometheus.Metric) {
	for key, score := range p.scores() {
		for _, figure := range predictionFigures {
			into <- prometheus.MustNewConstMetric(figure.desc, figure.kind, figure.value(score), key.pool, key.profile, string(key.tier), string(key.resource))
		}
	}
}
