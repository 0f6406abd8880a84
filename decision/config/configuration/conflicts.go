package configuration

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// schedulerKey names the scheduler's configuration in evidence.
const schedulerKey = configuration.SchedulerConfigMapName

// conflict is two settings that work against each other.
type conflict struct {
	// code of the finding; ConfigConflict when it is empty.
	code finding.Code
	// about is the setting the finding stands at.
	about ref
	// with are the settings it was compared with.
	with []ref
	// scheduler is the scheduler's argument it was compared with, by path; empty for none.
	scheduler, schedulerValue string
	message, cause, fix       string
	severity                  diagnosticsv1alpha1.Severity
}

// conflicts reports settings of different keys and components that work against each other, once for all the groups of
// nodes on which they do.
func (v *validation) conflicts() {
	seen := map[string]int{}
	for _, s := range v.scopes {
		for _, c := range conflictsIn(s) {
			v.addConflict(s, c, seen)
		}
	}
}

func (v *validation) addConflict(s *scope, c conflict, seen map[string]int) {
	refs := append([]ref{c.about}, c.with...)
	layer := s.layer(refs...)
	id := c.message + "\x00" + c.about.key + "\x00" + s.place(c.about)
	f := Finding{
		Code: cmp.Or(c.code, finding.ConfigConflict), Severity: c.severity, Key: c.about.key, Path: s.place(c.about), Layers: []string{layer}, Nodes: s.nodes,
		Message: c.message, Cause: c.cause, Fix: c.fix, Evidence: s.evidence(refs...),
	}
	if f.Path == "" {
		// A default stands nowhere; what was chosen is what can be changed.
		for _, r := range c.with {
			if at := s.place(r); at != "" {
				f.Key, f.Path = r.key, at
				break
			}
		}
	}
	if c.scheduler != "" {
		f.Evidence = append(f.Evidence, Evidence{Key: schedulerKey, Path: c.scheduler, Value: c.schedulerValue})
	}
	v.merge(f, id, seen)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func conflictsIn(s *scope) []conflict {
	var out []conflict
	colocated, guarded := s.on(colocationKey, "enable"), s.on(thresholdKey, "enable")
	if colocated && !guarded {
		out = append(out, conflict{
			about: ref{colocationKey, "enable"}, with: refsOf(thresholdKey, "enable"),
			message: "batch resources are offered but best-effort pods are not suppressed: resource-threshold-config.enable is not true",
			cause:   "Without suppression and eviction, best-effort pods compete with services under load.",
			fix:     "Set resource-threshold-config.enable=true.",
		})
	}
	if guarded {
		out = append(out, thresholdConflicts(s)...)
	}
	if colocated && guarded {
		out = append(out, offerConflicts(s)...)
	}
	if colocated {
		out = append(out, reportConflicts(s)...)
	}
	return append(append(out, memoryQOSConflicts(s)...), networkConflicts(s)...)
}

// compare makes a conflict of two numbers when the first is not below the second.
func compare(s *scope, a, b ref, orEqual bool, text, cause, fix string) []conflict {
	x, hasX := s.number(a.key, a.path)
	y, hasY := s.number(b.key, b.path)
	if !hasX || !hasY || x < y || x == y && !orEqual {
		return nil
	}
	return []conflict{{about: a, with: []ref{b}, cause: cause, fix: fix,
		message: fmt.Sprintf("%s (%s) %s %s (%s)", a.path, number(x), text, b.path, number(y))}}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// offerConflicts compares what is offered with what the agent leaves to it.
func offerConflicts(s *scope) []conflict {
	out := compare(s, ref{colocationKey, "cpuReclaimThresholdPercent"}, ref{thresholdKey, "cpuSuppressThresholdPercent"}, false,
		"is above", "Batch CPU is offered up to the first value and suppressed above the second, so pods get CPU that is then taken from them.",
		"Lower colocation-config.cpuReclaimThresholdPercent, or raise resource-threshold-config.cpuSuppressThresholdPercent.")
	return append(out, compare(s, ref{colocationKey, "memoryReclaimThresholdPercent"}, ref{thresholdKey, "memoryEvictThresholdPercent"}, true,
		"is not below", "Batch memory is offered up to the first value and pods are evicted above the second, so pods that use what they requested are evicted.",
		"Lower colocation-config.memoryReclaimThresholdPercent, or raise resource-threshold-config.memoryEvictThresholdPercent.")...)
}

// thresholdConflicts compares the thresholds of the agent with each other.
func thresholdConflicts(s *scope) []conflict {
	out := compare(s, ref{thresholdKey, "cpuSuppressMinPercent"}, ref{thresholdKey, "cpuSuppressThresholdPercent"}, true,
		"is not below", "The minimum kept for best-effort pods is not below the threshold of suppression, so they are never suppressed.",
		"Lower cpuSuppressMinPercent.")
	return append(out, compare(s, ref{thresholdKey, "cpuSuppressThresholdPercent"}, ref{thresholdKey, "cpuEvictThresholdPercent"}, true,
		"is not below", "Pods are evicted before they are suppressed.",
		"Raise cpuEvictThresholdPercent, or lower cpuSuppressThresholdPercent.")...)
}

// reportConflicts compares how often nodes report with how long a report is believed.
func reportConflicts(s *scope) []conflict {
	var out []conflict
	interval, _ := s.number(colocationKey, "metricReportIntervalSeconds")
	degrade, _ := s.number(colocationKey, "degradeTimeMinutes")
	window, _ := s.number(colocationKey, "metricAggregateDurationSeconds")
	about := ref{colocationKey, "metricReportIntervalSeconds"}
	if degrade*60 < 2*interval {
		out = append(out, conflict{about: about, with: refsOf(colocationKey, "degradeTimeMinutes"),
			message: fmt.Sprintf("metricReportIntervalSeconds (%s) is more than half of degradeTimeMinutes (%s)", number(interval), number(degrade)),
			cause:   "A single late report withdraws all batch and mid resources of the node.",
			fix:     "Lower metricReportIntervalSeconds, or raise degradeTimeMinutes."})
	}
	if window < interval {
		out = append(out, conflict{about: ref{colocationKey, "metricAggregateDurationSeconds"}, with: []ref{about},
			message: fmt.Sprintf("metricAggregateDurationSeconds (%s) is less than metricReportIntervalSeconds (%s)", number(window), number(interval)),
			cause:   "Usage between two windows is not reported.", fix: "Raise metricAggregateDurationSeconds to at least the interval."})
	}
	if load := s.v.load; load.NodeMetricExpirationSeconds != nil && float64(*load.NodeMetricExpirationSeconds) <= interval {
		out = append(out, conflict{about: about, scheduler: "LoadAwareScheduling.nodeMetricExpirationSeconds",
			schedulerValue: strconv.FormatInt(*load.NodeMetricExpirationSeconds, 10),
			message: fmt.Sprintf("metricReportIntervalSeconds (%s) is not below the scheduler's nodeMetricExpirationSeconds (%d)",
				number(interval), *load.NodeMetricExpirationSeconds),
			cause: "The scheduler treats every NodeMetric as expired before the next report arrives.",
			fix:   "Lower metricReportIntervalSeconds, or raise nodeMetricExpirationSeconds of LoadAwareScheduling."})
	}
	return append(out, windowConflicts(s)...)
}

// windowConflicts are windows of percentiles that the scheduler asks for and no node reports.
func windowConflicts(s *scope) []conflict {
	aggregated := s.v.load.Aggregated
	text, ok := s.get(colocationKey, "metricAggregatePolicy.durations")
	if aggregated == nil || !ok {
		return nil
	}
	var out []conflict
	for _, wanted := range []struct {
		name     string
		duration time.Duration
	}{{"usageAggregatedDuration", aggregated.UsageAggregatedDuration.Duration}, {"scoreAggregatedDuration", aggregated.ScoreAggregatedDuration.Duration}} {
		if wanted.duration == 0 || strings.Contains(text.Value, strconv.Quote(wanted.duration.String())) {
			continue
		}
		out = append(out, conflict{about: ref{colocationKey, "metricAggregatePolicy.durations"},
			scheduler: "LoadAwareScheduling.aggregated." + wanted.name, schedulerValue: wanted.duration.String(),
			message: fmt.Sprintf("metricAggregatePolicy.durations (%s) does not include the window of %s that the scheduler uses", text.Value, wanted.duration),
			cause:   "The scheduler finds no percentile of that window and falls back.",
			fix:     "Add the window to metricAggregatePolicy.durations, or change " + wanted.name + " of LoadAwareScheduling."})
	}
	return out
}

// memoryQOSConflicts compares the kernel's protections of one class.
func memoryQOSConflicts(s *scope) []conflict {
	var out []conflict
	for _, class := range qosClasses {
		at := class + ".memoryQOS"
		low, _ := s.number(qosKey, at+".lowLimitPercent")
		least, _ := s.number(qosKey, at+".minLimitPercent")
		if s.on(qosKey, at+".enable") && low > 0 && least > low {
			out = append(out, conflict{about: ref{qosKey, at + ".minLimitPercent"}, with: refsOf(qosKey, at+".lowLimitPercent"),
				message: fmt.Sprintf("%s.minLimitPercent (%s) is above lowLimitPercent (%s)", at, number(least), number(low)),
				cause:   "memory.min already covers what memory.low protects.",
				fix:     "Raise lowLimitPercent, or remove it."})
		}
	}
	return out
}
