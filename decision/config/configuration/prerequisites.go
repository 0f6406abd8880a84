package configuration

import (
	"fmt"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const (
	colocationKey    = configuration.ColocationConfigKey
	thresholdKey     = configuration.ResourceThresholdConfigKey
	qosKey           = configuration.ResourceQOSConfigKey
	burstKey         = configuration.CPUBurstConfigKey
	systemKey        = configuration.SystemConfigKey
	hostKey          = configuration.HostApplicationConfigKey
	normalizationKey = configuration.CPUNormalizationConfigKey
	amplificationKey = configuration.ResourceAmplificationConfigKey
)

// prerequisites lists what settings depend on, key by key.
func prerequisites(features map[string]bool) []prerequisite {
	rules := append(colocationPrerequisites(), thresholdPrerequisites()...)
	rules = append(rules, qosPrerequisites()...)
	rules = append(rules, burstPrerequisites()...)
	rules = append(rules, nodePrerequisites()...)
	return append(rules, featurePrerequisites(features)...)
}

func colocationPrerequisites() []prerequisite {
	const static = "static"
	notStatic := func(s *scope) bool { return s.text(colocationKey, "midReclaimMode") != static }
	offersMid := func(s *scope) bool {
		cpu, _ := s.number(colocationKey, "midStaticCPUReservedPercent")
		memory, _ := s.number(colocationKey, "midStaticMemoryReservedPercent")
		return notStatic(s) || cpu > 0 || memory > 0
	}
	return []prerequisite{
		{
			key: colocationKey, met: enabled(colocationKey, "enable"), missing: refsOf(colocationKey, "enable"),
			settings: others(colocationKey, "", "enable", "extensions", "metricAggregateDurationSeconds", "metricReportIntervalSeconds", "metricAggregatePolicy", "metricMemoryCollectPolicy"),
			because:  "enable is not true, so the nodes offer no batch or mid resources", fix: "Set colocation-config.enable=true, or remove the settings.",
		},
		{
			key: colocationKey, met: enabled(colocationKey, "enable"), missing: refsOf(colocationKey, "enable"),
			settings: chosen(colocationKey, "extensions.predictor.batch", "extensions.predictor.mid"),
			because:  "enable is not true, so nothing is predicted", fix: "Set colocation-config.enable=true, or remove them.",
		},
		{
			key: colocationKey, met: is(colocationKey, "midReclaimMode", static), missing: refsOf(colocationKey, "midReclaimMode"),
			settings: chosen(colocationKey, "midStaticCPUReservedPercent", "midStaticMemoryReservedPercent"),
			because:  "midReclaimMode is not static, so mid resources come from the prediction", fix: "Set colocation-config.midReclaimMode=static, or remove the percentages.",
		},
		{
			key: colocationKey, met: notStatic, missing: refsOf(colocationKey, "midReclaimMode"), settings: chosen(colocationKey, "midUnallocatedPercent"),
			because: "midReclaimMode is static, so mid resources are a fixed share of the node", fix: "Remove midUnallocatedPercent, or midReclaimMode.",
		},
		{
			key: colocationKey, met: notStatic, missing: refsOf(colocationKey, "midReclaimMode"), settings: chosen(colocationKey, "extensions.predictor.mid"),
			because: "midReclaimMode is static, so nothing is predicted for mid resources", fix: "Remove extensions.predictor.mid, or midReclaimMode.",
		},
		{
			key: colocationKey, missing: refsOf(colocationKey, "extensions.predictor.batch", "extensions.predictor.mid"),
			met: func(s *scope) bool {
				return predicts(s, "extensions.predictor.batch") || predicts(s, "extensions.predictor.mid")
			},
			settings: chosen(colocationKey, "extensions.predictor.coldStartMinutes"), because: "no predictor is chosen for batch or mid",
			fix: "Set extensions.predictor.batch or extensions.predictor.mid, or remove it.",
		},
		{
			key: colocationKey, met: offersMid, missing: refsOf(colocationKey, "midStaticCPUReservedPercent", "midStaticMemoryReservedPercent"),
			settings: chosen(colocationKey, "midReclaimMode"), because: "both static percentages are 0, so no mid resources are offered",
			fix: "Set midStaticCPUReservedPercent or midStaticMemoryReservedPercent.",
		},
	}
}

// predicts says whether a predictor is chosen.
func predicts(s *scope, path string) bool {
	profile := s.text(colocationKey, path)
	return profile != "" && profile != configuration.PredictorNone
}

func thresholdPrerequisites() []prerequisite {
	need := func(because, fix string, settings, missing []string) prerequisite {
		return prerequisite{key: thresholdKey, settings: chosen(thresholdKey, settings...), met: present(thresholdKey, missing...),
			missing: refsOf(thresholdKey, missing...), because: because, fix: fix}
	}
	lower, upper := "cpuEvictBESatisfactionLowerPercent", "cpuEvictBESatisfactionUpperPercent"
	within := func(path string, most int) prerequisite {
		return prerequisite{
			key: thresholdKey, settings: chosen(thresholdKey, path), missing: refsOf(thresholdKey, path),
			met: func(s *scope) bool {
				percent, set := s.number(thresholdKey, path)
				return !set || percent >= 1 && percent <= float64(most)
			},
			because: fmt.Sprintf("koordlet evicts for low satisfaction only with a percentage of 1 to %d", most),
			fix:     fmt.Sprintf("Set %s to 1 to %d.", path, most),
		}
	}
	return []prerequisite{
		within(lower, eviction.MostSatisfactionLower),
		within(upper, eviction.MostSatisfactionUpper),
		{
			key: thresholdKey, met: enabled(thresholdKey, "enable"), missing: refsOf(thresholdKey, "enable"), settings: others(thresholdKey, "", "enable"),
			because: "enable is not true, so nothing is suppressed or evicted", fix: "Set resource-threshold-config.enable=true, or remove the settings.",
		},
		need("cpuEvictThresholdPercent is not set", "Set cpuEvictThresholdPercent.", []string{"cpuEvictLowerPercent"}, []string{"cpuEvictThresholdPercent"}),
		need("pods are evicted up to a priority, and evictEnabledPriorityThreshold is not set", "Set evictEnabledPriorityThreshold.",
			[]string{"cpuEvictThresholdPercent"}, []string{"evictEnabledPriorityThreshold"}),
		need("cpuAllocatableEvictThresholdPercent and allocatableEvictPriorityThreshold are not both set", "Set both.",
			[]string{"cpuAllocatableEvictLowerPercent", "cpuAllocatableEvictThresholdPercent"}, []string{"cpuAllocatableEvictThresholdPercent", "allocatableEvictPriorityThreshold"}),
		need("memoryAllocatableEvictThresholdPercent and allocatableEvictPriorityThreshold are not both set", "Set both.",
			[]string{"memoryAllocatableEvictLowerPercent", "memoryAllocatableEvictThresholdPercent"}, []string{"memoryAllocatableEvictThresholdPercent", "allocatableEvictPriorityThreshold"}),
		need("eviction for low satisfaction needs both percentages of satisfaction", "Set "+lower+" and "+upper+".",
			[]string{lower, upper, "cpuEvictBEUsageThresholdPercent", "cpuEvictTimeWindowSeconds", "cpuEvictPolicy"}, []string{lower, upper}),
		{
			key: thresholdKey, settings: chosen(thresholdKey, "allocatableEvictPriorityThreshold"),
			met: func(s *scope) bool {
				return present(thresholdKey, "cpuAllocatableEvictThresholdPercent")(s) || present(thresholdKey, "memoryAllocatableEvictThresholdPercent")(s)
			},
			missing: refsOf(thresholdKey, "cpuAllocatableEvictThresholdPercent", "memoryAllocatableEvictThresholdPercent"),
			because: "neither threshold it belongs to is set", fix: "Set cpuAllocatableEvictThresholdPercent or memoryAllocatableEvictThresholdPercent.",
		},
	}
}

func burstPrerequisites() []prerequisite {
	rule := func(because, fix string, policies []string, settings ...string) prerequisite {
		return prerequisite{key: burstKey, settings: chosen(burstKey, settings...), met: is(burstKey, "policy", policies...),
			missing: refsOf(burstKey, "policy"), because: because, fix: fix}
	}
	return []prerequisite{
		rule("policy does not include cpuBurstOnly", "Set cpu-burst-config.policy to auto or cpuBurstOnly, or remove it.",
			[]string{"auto", "cpuBurstOnly"}, "cpuBurstPercent"),
		rule("policy does not include cfsQuotaBurstOnly", "Set cpu-burst-config.policy to auto or cfsQuotaBurstOnly, or remove them.",
			[]string{"auto", "cfsQuotaBurstOnly"}, "cfsQuotaBurstPercent", "cfsQuotaBurstPeriodSeconds", "sharePoolThresholdPercent"),
	}
}
