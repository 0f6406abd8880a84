package configuration

import (
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// qosClasses are the classes of resource-qos-config.
var qosClasses = []string{"lsrClass", "lsClass", "beClass", "systemClass", "cgroupRoot"}

// qosFeatures are the parts of a class that are switched on by themselves.
var qosFeatures = []string{"cpuQOS", "memoryQOS", "blkioQOS", "resctrlQOS", "networkQOS"}

func qosPrerequisites() []prerequisite {
	var rules []prerequisite
	coreSched, groupIdentity := is(qosKey, "policies.cpuPolicy", "coreSched"), is(qosKey, "policies.cpuPolicy", "groupIdentity")
	for _, class := range qosClasses {
		for _, feature := range qosFeatures {
			at := class + "." + feature
			rules = append(rules, prerequisite{
				key: qosKey, settings: others(qosKey, at, at+".enable"), met: enabled(qosKey, at+".enable"), missing: refsOf(qosKey, at+".enable"),
				because: at + ".enable is not true, which resets the kernel's values", fix: "Set resource-qos-config." + at + ".enable=true, or remove the settings.",
			})
		}
		cpu, memory, block := class+".cpuQOS", class+".memoryQOS", class+".blkioQOS"
		rules = append(rules,
			prerequisite{key: qosKey, settings: chosen(qosKey, cpu+".schedIdle", cpu+".coreExpeller"), met: coreSched, missing: refsOf(qosKey, "policies.cpuPolicy"),
				because: "policies.cpuPolicy is not coreSched", fix: "Set resource-qos-config.policies.cpuPolicy=coreSched, or remove them."},
			prerequisite{key: qosKey, settings: chosen(qosKey, cpu+".groupIdentity"), met: groupIdentity, missing: refsOf(qosKey, "policies.cpuPolicy"),
				because: "policies.cpuPolicy is not groupIdentity", fix: "Remove it, or set resource-qos-config.policies.cpuPolicy=groupIdentity."},
			prerequisite{key: qosKey, settings: chosen(qosKey, memory+".priority"), met: is(qosKey, memory+".priorityEnable", "1"), missing: refsOf(qosKey, memory+".priorityEnable"),
				because: "priorityEnable is not 1", fix: "Set " + memory + ".priorityEnable=1, or remove it."},
			prerequisite{key: qosKey, settings: chosen(qosKey, memory+".pageCacheLimitPercent", memory+".pageCacheLimitSize", memory+".pageCacheReclaimSync"),
				met: is(qosKey, memory+".pageCacheEnable", "1"), missing: refsOf(qosKey, memory+".pageCacheEnable"),
				because: "pageCacheEnable is not 1", fix: "Set " + memory + ".pageCacheEnable=1, or remove them."},
			prerequisite{key: qosKey, settings: onlyOn(qosKey, memory+".pageCacheEnable", "1"), met: is(systemKey, "pageCacheLimitEnabled", "1"),
				missing: []ref{{systemKey, "pageCacheLimitEnabled"}}, because: "system-config.pageCacheLimitEnabled, the switch for the whole node, is not 1",
				fix: "Set system-config.pageCacheLimitEnabled=1."},
			prerequisite{key: qosKey, settings: onlyOn(qosKey, block+".enable", "true"), met: present(qosKey, block+".blocks"), missing: refsOf(qosKey, block+".blocks"),
				because: "blocks lists no device", fix: "Add the devices to " + block + ".blocks."},
			prerequisite{key: qosKey, settings: onlyOn(qosKey, class+".networkQOS.enable", "true"),
				met: func(s *scope) bool {
					return len(others(qosKey, class+".networkQOS", class+".networkQOS.enable")(s)) > 0
				},
				missing: refsOf(qosKey, class+".networkQOS.ingressLimit", class+".networkQOS.egressLimit"),
				because: "it has neither request nor limit", fix: "Set the requests or limits of " + class + ".networkQOS."},
		)
	}
	return rules
}

// onlyOn is a setting where somebody gave it one value.
func onlyOn(key, path, value string) func(*scope) []string {
	return func(s *scope) []string {
		if s.chosen(key, path) && s.text(key, path) == value {
			return []string{path}
		}
		return nil
	}
}

func nodePrerequisites() []prerequisite {
	hasRatio := func(s *scope) bool {
		for _, path := range s.under(normalizationKey, "") {
			if strings.HasPrefix(path, "ratioModel") || path == "defaultRatio" {
				return true
			}
		}
		return false
	}
	return []prerequisite{
		{key: normalizationKey, settings: others(normalizationKey, "", "enable"), met: enabled(normalizationKey, "enable"), missing: refsOf(normalizationKey, "enable"),
			because: "enable is not true, so every ratio is 1", fix: "Set cpu-normalization-config.enable=true, or remove the ratios."},
		{key: normalizationKey, settings: onlyOn(normalizationKey, "enable", "true"), met: hasRatio, missing: refsOf(normalizationKey, "defaultRatio", "ratioModel"),
			because: "there is neither a ratio of any CPU model nor a default", fix: "Set cpu-normalization-config.defaultRatio, or the ratios of the CPU models in ratioModel."},
		{key: amplificationKey, settings: others(amplificationKey, "", "enable"), met: enabled(amplificationKey, "enable"), missing: refsOf(amplificationKey, "enable"),
			because: "enable is not true", fix: "Set resource-amplification-config.enable=true, or remove the ratios."},
		{key: amplificationKey, settings: onlyOn(amplificationKey, "enable", "true"), met: amplifies, missing: refsOf(amplificationKey, "resourceAmplificationRatio"),
			because: "no ratio is above 1", fix: "Set a ratio above 1 in resource-amplification-config.resourceAmplificationRatio."},
	}
}

func amplifies(s *scope) bool {
	for _, path := range s.under(amplificationKey, "resourceAmplificationRatio") {
		if ratio, err := strconv.ParseFloat(s.text(amplificationKey, path), 64); err == nil && ratio > 1 {
			return true
		}
	}
	return false
}

// featurePrerequisites are the features of the node agent, where it is known which of them are on.
func featurePrerequisites(features map[string]bool) []prerequisite {
	if features == nil {
		return nil
	}
	on := func(name string) bool {
		feature, known := nodefeature.Named(name)
		return known && feature.On(features)
	}
	var rules []prerequisite
	for _, feature := range slices.SortedFunc(slices.Values(nodefeature.All()), func(a, b nodefeature.Spec) int { return strings.Compare(a.Name, b.Name) }) {
		settings := feature.Settings
		if len(settings.Paths) == 0 || feature.On(features) || on(settings.Or) {
			continue
		}
		names := feature.Name
		if settings.Or != "" {
			names += " or " + settings.Or
		}
		rules = append(rules, prerequisite{
			key: settings.Key, settings: chosen(settings.Key, settings.Paths...), met: func(*scope) bool { return false },
			because: "the node agent does not run feature " + names,
			fix:     "Start koordlet with --feature-gates=" + feature.Name + "=true, or remove the settings.",
		})
	}
	return rules
}
