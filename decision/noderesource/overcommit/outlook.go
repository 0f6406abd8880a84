package overcommit

import (
	"fmt"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/predict"
)

// AgentPredictor names the node agent, whose report predicts where no predictor is chosen.
const AgentPredictor = "koordlet"

// outlook is what the node offers of each wanted resource now, and at least in the time that the predictors reach. It computes the
// offer again and again with what they predict further ahead.
func outlook(in NodeInput, wanted [len(kinds)]bool) []diagnosticsv1alpha1.OfferOutlook {
	c := newCalculation(&in, nil)
	var out []diagnosticsv1alpha1.OfferOutlook
	for i, k := range kinds {
		if wanted[i] {
			out = append(out, c.outlook(k))
		}
	}
	return out
}

func (c *calculation) outlook(k kind) diagnosticsv1alpha1.OfferOutlook {
	now := c.value(k)
	out := diagnosticsv1alpha1.OfferOutlook{Resource: string(k.name), Unit: k.unit(), Offered: now.Value, Requested: c.requestedOf(k)}
	switch {
	case now.Unknown != "":
		out.Note = now.Unknown
	case now.Withdrawn:
		out.Note = c.withdrawnBecause(now.Reason)
	case k.mid:
		c.midOutlook(k, &out)
	default:
		c.batchOutlook(k, &out)
	}
	return out
}

// requestedOf is what pods of the node request of the resource.
func (c *calculation) requestedOf(k kind) int64 {
	var sum podrequest.Amount
	for _, pod := range c.in.Pods {
		if pod == nil || !podrequest.Consumes(pod) {
			continue
		}
		if requests := podrequest.Of(pod).Requests; k.mid {
			sum = sum.Add(requests.Mid)
		} else {
			sum = sum.Add(requests.Batch)
		}
	}
	return k.of(sum)
}

// midOutlook says for how long the offer of mid is made: it is computed from a peak that is far ahead already.
func (c *calculation) midOutlook(k kind, out *diagnosticsv1alpha1.OfferOutlook) {
	step := diagnosticsv1alpha1.OfferStep{Offered: out.Offered}
	switch forecast := c.in.Predictions.Mid; {
	case c.policy(k) == policyStatic:
		out.Note = "a fixed share of the capacity, which usage does not change"
	case forecast != nil:
		step.WithinSeconds = int64(predict.Credible(forecast.Horizon, forecast.Span) / time.Second)
		out.Partial = forecast.Partial()
		out.Predictor, out.Note = forecast.Profile, "computed for that time already: prod pods use "+describeForecast(k, forecast)
	case c.in.Metric.Status.ProdReclaimableMetric != nil:
		out.Predictor, out.Note = AgentPredictor, "computed from the peak of prod pods that koordlet learned; when it comes is not predicted"
	default:
		out.Note = noPrediction
		return
	}
	out.Steps = []diagnosticsv1alpha1.OfferStep{step}
	out.Lowest = c.traced(k)
}

const noPrediction = "no predictor is chosen for the node, and koordlet reports no peak"

// batchOutlook computes the offer of batch with the peaks of the pods above it, and keeps the least so far. Steps of the same offer are
// one.
func (c *calculation) batchOutlook(k kind, out *diagnosticsv1alpha1.OfferOutlook) {
	if c.policy(k) == string(configuration.CalculateByPodRequest) {
		out.Steps = []diagnosticsv1alpha1.OfferStep{{Offered: out.Offered}}
		out.Lowest, out.Note = c.traced(k), "computed from requests, which usage does not change"
		return
	}
	forecasts := c.in.Ahead
	if len(forecasts) == 0 {
		forecasts = c.agentForecast()
	}
	if len(forecasts) == 0 {
		out.Note = noPrediction
		return
	}
	present := c.in.Predictions.Batch
	defer func() { c.in.Predictions.Batch = present }()
	least, lowest := out.Offered, present
	for _, forecast := range forecasts {
		c.in.Predictions.Batch = forecast
		if value := c.value(k).Value; value < least || lowest == nil {
			least, lowest = value, forecast
		}
		step := diagnosticsv1alpha1.OfferStep{WithinSeconds: int64(forecast.Horizon / time.Second), Offered: least}
		if last := len(out.Steps) - 1; last >= 0 && out.Steps[last].Offered == least {
			out.Steps[last] = step
		} else {
			out.Steps = append(out.Steps, step)
		}
	}
	c.in.Predictions.Batch = lowest
	out.Lowest = c.traced(k)
	last := forecasts[len(forecasts)-1]
	out.Partial = last.Partial()
	out.Predictor, out.Note = last.Profile, "pods above batch use "+describeForecast(k, last)
}

// traced is how a resource is computed, without the parts of its terms.
func (c *calculation) traced(k kind) *diagnosticsv1alpha1.Waterfall {
	c.trace = &Trace{}
	defer func() { c.trace = nil }()
	c.value(k)
	return c.trace.of(k)
}

// agentForecast is the peak that the node agent reports of prod pods, with what other pods above batch use now and what is kept for
// pods with exclusive CPUs. It has no horizon: the agent does not know when the peak comes.
func (c *calculation) agentForecast() []*predict.Forecast {
	if c.in.Metric.Status.ProdPeakMetric == nil {
		return nil
	}
	sum, negative := amountIn(c.in.Metric.Status.ProdPeakMetric.Resource.ResourceList)
	if negative {
		return nil
	}
	load, pods := gather(c.in, &c.metric, true), 0
	for i := range load.parts {
		part := &load.parts[i]
		if part.reading < 0 {
			continue
		}
		pods++
		switch measured := c.metric.pods[part.reading].used; {
		case part.pod == nil || podrequest.Of(part.pod).Band != extension.PriorityProd:
			sum = sum.Add(part.used)
		case part.held:
			sum.MilliCPU += max(part.used.MilliCPU-measured.MilliCPU, 0)
		}
	}
	estimated := func(value float64) predict.Foreseen {
		return predict.Foreseen{Peak: predict.Peak{Value: value, Estimator: "histograms of koordlet"}}
	}
	return []*predict.Forecast{{
		Profile: AgentPredictor, Pods: pods, CPU: estimated(float64(sum.MilliCPU) / 1000), Memory: estimated(float64(sum.Memory)),
	}}
}

// describeAgentForecast says in words what the agent predicts.
func describeAgentForecast(k kind, f *predict.Forecast) string {
	return fmt.Sprintf("%s at the peak of prod pods that koordlet learned; when it comes is not predicted", k.format(k.ofPredicted(f.Of(k.resource()).Peak.Value)))
}
