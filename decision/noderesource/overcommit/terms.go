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
	t.Note = c.withdrawnBecause(reason)
	switch {
	case c.disabled:
		t.Source = c.settingSource("enable")
	case !c.metric.trusted():
		t.Source = c.metricSource("status.updateTime")
		t.ObservedAt = c.metric.facts.UpdateTime
	case c.unenforced != "":
		t.Source = c.metricSource("status.conditions")
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
	t.Note = fmt.Sprintf("%d%% of the capacity may be used", c.reclaimPercent(k))
	if c.reclaimPercent(k) > whole {
		t.Note += fmt.Sprintf("; more than 100%% (%s)", finding.OfferBeyondNode)
	}
}

func (c *calculation) explainFloor(t *term) {
	if t != nil {
		t.Note = "not below 0"
	}
}

func (c *calculation) explainThreshold(t *term, k kind, key string, percent int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource(key)
	t.Note = fmt.Sprintf("at most %d%% of the capacity", percent)
}

func (c *calculation) explainShare(t *term, k kind, key string, percent int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource(key)
	t.Note = fmt.Sprintf("%d%% of the capacity", percent)
}

func (c *calculation) explainNormalization(t *term) {
	if t == nil {
		return
	}
	t.Source = c.nodeSource(annotationField(extension.AnnotationCPUNormalizationRatio))
	t.Note = "cpu normalization ratio of this node"
}

func (c *calculation) explainOverCapacity(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.nodeSource("status.capacity." + string(k.plain()))
	t.Note = fmt.Sprintf("above the node's capacity of %s", k.format(k.of(c.capacity.Total)))
}

func (c *calculation) explainReclaimable(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.metricSource("status.prodReclaimableMetric.resource.resources." + string(k.plain()))
	t.ObservedAt = c.metric.facts.UpdateTime
	t.Note = "requests of prod pods that are predicted to stay unused"
	if forecast := c.in.Predictions.Mid; forecast != nil {
		t.Source = c.settingSource(predictorSetting + "mid")
		t.Note += ": " + describeForecast(k, forecast)
		if c.boundedByAgent() {
			t.Note += fmt.Sprintf("; at most the %s of the node agent until %s are known", k.format(k.of(c.metric.reclaimable)), short(forecast.Window))
		}
		return
	}
	if c.in.Metric.Status.ProdReclaimableMetric == nil {
		t.Note = "no prediction yet, so nothing counts as reclaimable"
	}
}

func (c *calculation) explainUnused(t *term, k kind) {
	if t == nil {
		return
	}
	t.Source = c.metricSource("status.nodeMetric.nodeUsage.resources." + string(k.plain()))
	t.ObservedAt = c.metric.facts.UpdateTime
	t.Note = "capacity - current usage of the node"
}

func (c *calculation) explainUnallocated(t *term, k kind, share, unallocated int64) {
	if t == nil {
		return
	}
	t.Source = c.settingSource("midUnallocatedPercent")
	t.Note = fmt.Sprintf("%d%% of the %s that neither the system nor prod pods request", share, k.format(unallocated))
}

// metricSentence says what is wrong with the measurements.
func (c *calculation) metricSentence() string {
	switch c.metric.facts.State {
	case diagnosticsv1alpha1.MetricExpired:
		return fmt.Sprintf("the NodeMetric is %s old and expires after %s",
			short(round(c.metric.age)), short(degradeAfter(&c.in.Strategy.Strategy)))
	case diagnosticsv1alpha1.MetricInvalid:
		return "the NodeMetric is invalid: " + c.metric.facts.Problem
	case diagnosticsv1alpha1.MetricAbsent:
		return "the node has no measurements"
	case diagnosticsv1alpha1.MetricStale:
		return fmt.Sprintf("the NodeMetric is %s old, more than two report intervals", short(round(c.metric.age)))
	}
	return ""
}
