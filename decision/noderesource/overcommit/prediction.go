package overcommit

import (
	"fmt"
	"math"
	"strings"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Predictions are forecasts of what the pods of one node will use. A tier without one is computed without prediction by
// koord-manager: batch from the present use, mid from the prediction of the node agent.
type Predictions struct {
	// Batch is of the pods above batch, Mid of prod pods.
	Batch, Mid *predict.Forecast
}

// predictorSetting is the path of the choice of predictors, up to the tier.
const predictorSetting = "extensions." + configuration.PredictorExtension + "."

func (k kind) resource() predict.Resource {
	if k.cpu {
		return predict.CPU
	}
	return predict.Memory
}

// takeRise takes away what pods above batch are predicted to use beyond what was taken for them already. The use of pods
// matters under every policy but request.
func (c *calculation) takeRise(k kind, policy string, taken int64, w *waterfall.Waterfall) int64 {
	forecast := c.in.Predictions.Batch
	if forecast == nil || policy == string(configuration.CalculateByPodRequest) {
		return 0
	}
	peak := k.ofPredicted(forecast.Of(k.resource()).Peak.Value)
	rise := max(waterfall.Add(peak, -waterfall.Add(taken, -k.of(c.load.unmeasured))), 0)
	t := w.Step(diagnosticsv1alpha1.Minus, "predictedRise", rise, "")
	if t != nil {
		t.Source = c.settingSource(predictorSetting + "batch")
		if forecast.Profile == AgentPredictor {
			t.Source = c.metricSource("status.prodPeakMetric.resource.resources." + string(k.plain()))
			t.ObservedAt = c.metric.facts.UpdateTime
		}
		t.Note = fmt.Sprintf("predicted rise of pods above batch: %s", describeForecast(k, forecast))
	}
	return rise
}

// reclaimable is what prod pods requested and will not use, by the chosen predictor or else as the node agent says. Pods that
// were not measured keep all they requested. As long as the predictor has seen less than it reads, it is no more than the
// agent says, if that says anything: the agent keeps what it learned when it is restarted.
func (c *calculation) reclaimable(k kind) int64 {
	forecast := c.in.Predictions.Mid
	if forecast == nil {
		return k.of(c.metric.reclaimable)
	}
	foreseen := forecast.Of(k.resource())
	requested := min(k.ofPredicted(foreseen.Requested), k.of(c.load.prodRequested))
	own := max(waterfall.Add(requested, -k.ofPredicted(foreseen.Peak.Value)), 0)
	if c.boundedByAgent() {
		return min(own, k.of(c.metric.reclaimable))
	}
	return own
}

// boundedByAgent says that the prediction for mid is made from too little to exceed the node agent's.
func (c *calculation) boundedByAgent() bool {
	return c.in.Predictions.Mid.Partial() && c.in.Metric.Status.ProdReclaimableMetric != nil
}

// ofPredicted is an amount of a prediction, in cores or bytes, in the unit of the kind: rounded up, and kept within the range
// of int64.
func (k kind) ofPredicted(value float64) int64 {
	if k.cpu {
		// Sums of fractions are not exact, which must not turn 0.1 cores into 101 milli-cores.
		value *= 1000 * (1 - 1e-6)
	}
	if value >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Ceil(max(value, 0)))
}

// describeForecast says in words what was predicted, by what, from what.
func describeForecast(k kind, f *predict.Forecast) string {
	if f.Profile == AgentPredictor {
		return describeAgentForecast(k, f)
	}
	foreseen := f.Of(k.resource())
	text := fmt.Sprintf("%s at most in the next %s by profile %s (%s), from %s of history of %d pods", k.format(k.ofPredicted(foreseen.Peak.Value)),
		short(f.Horizon), f.Profile, foreseen.Peak.Estimator, short(f.Span), f.Pods)
	terms := make([]string, 0, len(foreseen.Peak.Terms))
	for _, t := range foreseen.Peak.Terms {
		value := fmt.Sprintf("%.3g", t.Value)
		if amount(t.Name) {
			value = k.format(k.ofPredicted(t.Value))
		}
		terms = append(terms, t.Name+" "+value)
	}
	if len(terms) > 0 {
		text += ": " + strings.Join(terms, ", ")
	}
	return text
}

// amount says whether a term of a prediction is in the unit of the resource.
func amount(term string) bool {
	return !strings.HasPrefix(term, "correlation") && !strings.HasSuffix(term, "percent")
}

// short writes a duration of whole minutes without its seconds.
func short(d time.Duration) string {
	text := d.String()
	for _, tail := range []string{"0s", "0m"} {
		if trimmed, ok := strings.CutSuffix(text, tail); ok && strings.ContainsAny(trimmed[max(len(trimmed)-1, 0):], "mh") {
			text = trimmed
		}
	}
	return text
}

// MeasuredPods are the pods above batch of which there is a measurement that may be used, and when it was made; none at
// all when it may not be used.
func MeasuredPods(in NodeInput) ([]predict.Sample, time.Time) {
	if in.Node == nil {
		return nil, time.Time{}
	}
	m := measure(&in, totalOf(in.Node))
	if !m.trusted() {
		return nil, time.Time{}
	}
	load := gather(&in, &m, true)
	out := make([]predict.Sample, 0, len(load.parts))
	for i := range load.parts {
		if load.parts[i].reading >= 0 {
			out = append(out, sampleOf(&load.parts[i], &m))
		}
	}
	return out, m.facts.UpdateTime.Time
}

// sampleOf is one pod as a predictor knows it, by its UID, which takes no further memory. A pod that is gone but measured has
// no request, and goes by its name.
func sampleOf(part *podPart, m *measurement) predict.Sample {
	out := predict.Sample{Prod: part.pod == nil || part.prod}
	var requested, limits podrequest.Amount
	if part.pod == nil || part.pod.UID == "" {
		info := m.pods[part.reading].info
		out.Pod = info.Namespace + "/" + info.Name
	} else {
		out.Pod = string(part.pod.UID)
	}
	if part.pod != nil {
		requests, bounds := podrequest.Of(part.pod).Requests, podrequest.LimitsOf(part.pod)
		requested = requests.Plain.Add(requests.Mid)
		limits = bounds.Plain.Add(bounds.Mid)
	}
	out.CPU = predict.Held{Used: float64(part.used.MilliCPU) / 1000, Requested: float64(requested.MilliCPU) / 1000, Limit: float64(limits.MilliCPU) / 1000}
	out.Memory = predict.Held{Used: float64(part.used.Memory), Requested: float64(requested.Memory), Limit: float64(limits.Memory)}
	return out
}
