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
	{prometheus.CounterValue, predictionDesc("points_total", "Number of predictions whose horizon has passed."), func(s predict.Score) float64 { return float64(s.Points) }},
	{prometheus.CounterValue, predictionDesc("violations_total", "Number of predictions that the usage of the pods exceeded within the horizon."), func(s predict.Score) float64 { return float64(s.Violations) }},
	{prometheus.GaugeValue, predictionDesc("violation_ratio", "Ratio of predictions that were exceeded, since the start of koord-manager."), func(s predict.Score) float64 { return s.ViolationRate }},
	{prometheus.GaugeValue, predictionDesc("severity_ratio", "Average ratio by which predictions were exceeded, over all predictions since the start of koord-manager."), func(s predict.Score) float64 { return s.Severity }},
	{prometheus.GaugeValue, predictionDesc("savings_ratio", "Average ratio of the pods' limits that was predicted to be unused, since the start of koord-manager."), func(s predict.Score) float64 { return s.Savings }},
	{prometheus.GaugeValue, predictionDesc("oracle_savings_ratio", "Average ratio of the pods' limits that was actually unused, since the start of koord-manager; the upper bound of the predicted savings."), func(s predict.Score) float64 { return s.OracleSavings }},
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
