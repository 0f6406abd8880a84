package overcommit

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// The functions below say where a recorded term comes from. Each takes the term a step returned and does nothing when the
// step was not recorded.

type term = diagnosticsv1alpha1.Term

func (c *calculation) explainWithdrawn(t *term, k kind, reason string) {
	if t == nil {
		return
	}
	t.Note = reason
	switch {
	case c.disabled:
		t.Source = c.settingSource("enable")
	case !c.metric.trusted():
		t.Source = c.metricSource("status.updateTime")
		t.ObservedAt = c.metric.facts.UpdateTime
		t.Note = c.metricSentence()
	case !c.held.IsZero():
		t.Source = c.metricSource("status.updateTime")
		t.ObservedAt = c.metric.facts.UpdateTime
	default:
		t.Source = c.nodeSource("metadata.annotations")
	}
}

func (c *calculation) explainCapacity(t *term, k kind) {
	if t != nil {
		t.Source = c.nodeSource("status.capacity." + string(k.plain()))
	}
}

func (c *calculation) explainMargin(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.settingSource(k.pick("cpuReclaimThresholdPercent", "memoryReclaimThresholdPercent"))
	t.Note = fmt.Sprintf("%d %% of the capacity may be used", c.reclaimPercent(k))
	if c.reclaimPercent(k) > whole {
		t.Note += ", more than there is (" + string(finding.OfferBeyondNode) + ")"
	}
}

func (c *calculation) explainFloor(t *term) {
	if t != nil {
		t.Note = "never less than nothing"
	}
}

func (c *calculation) explainThreshold(t *term, k kind, key string, percent int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource(key)
	t.Note = fmt.Sprintf("at most %d %% of the capacity", percent)
}

func (c *calculation) explainShare(t *term, k kind, key string, percent int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource(key)
	t.Note = fmt.Sprintf("%d %% of the capacity", percent)
}

func (c *calculation) explainNormalization(t *term) {
	if t == nil {
		return
	}
	t.Source = c.nodeSource(annotationField(extension.AnnotationCPUNormalizationRatio))
	t.Note = "what one cpu of this node is worth in cpus of the reference model"
}

func (c *calculation) explainOverCapacity(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.nodeSource("status.capacity." + string(k.plain()))
	t.Note = fmt.Sprintf("offered beyond the node's capacity of %s", k.format(k.of(c.capacity.Total)))
}

func (c *calculation) explainReclaimable(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.metricSource("status.prodReclaimableMetric.resource.resources." + string(k.plain()))
	t.ObservedAt = c.metric.facts.UpdateTime
	t.Note = "what prod pods requested and are predicted not to use"
	if forecast := c.in.Predictions.Mid; forecast != nil {
		t.Source = c.settingSource(predictorSetting + "mid")
		t.Note += ": " + describeForecast(k, forecast)
		if c.boundedByAgent() {
			t.Note += fmt.Sprintf("; at most the %s of the node agent until %s are known", k.format(k.of(c.metric.reclaimable)), short(forecast.Window))
		}
		return
	}
	if c.in.Metric.Status.ProdReclaimableMetric == nil {
		t.Note = "no prediction yet, so nothing is taken to be reclaimable"
	}
}

func (c *calculation) explainUnused(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.metricSource("status.nodeMetric.nodeUsage.resources." + string(k.plain()))
	t.ObservedAt = c.metric.facts.UpdateTime
	t.Note = "capacity less what the whole node uses now"
}

func (c *calculation) explainUnallocated(t *term, w *waterfall, k kind, share, unallocated int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource("midUnallocatedPercent")
	t.Note = fmt.Sprintf("%d %% of the %s that neither system nor prod requests hold", share, k.format(unallocated))
}

// metricSentence says what is wrong with the measurements.
func (c *calculation) metricSentence() string {
	switch c.metric.facts.State {
	case diagnosticsv1alpha1.MetricExpired:
		return fmt.Sprintf("the NodeMetric is %s old, more than the %s after which it is not believed",
			round(c.metric.age), degradeAfter(&c.in.Strategy.Strategy))
	case diagnosticsv1alpha1.MetricInvalid:
		return "the NodeMetric cannot be: " + c.metric.facts.Problem
	case diagnosticsv1alpha1.MetricAbsent:
		return "the node has no measurements"
	case diagnosticsv1alpha1.MetricStale:
		return fmt.Sprintf("the NodeMetric is %s old, more than two report intervals", round(c.metric.age))
	}
	return ""
}
