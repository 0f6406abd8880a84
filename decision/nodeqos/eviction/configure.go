package eviction

import (
	"fmt"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// MostSatisfactionLower and MostSatisfactionUpper are the highest percentages of satisfaction that BECPUEvict goes by, the lowest are 1.
const (
	MostSatisfactionLower = 60
	MostSatisfactionUpper = 99
)

// lowerBy is how far below its threshold an eviction for use goes on where no lower percentage is set.
const lowerBy = 2

// Configuration is what a strategy sets for a feature.
type Configuration struct {
	// State is Off or Unset where the feature never evicts under the strategy, and empty where it may.
	State State
	// Reason names the setting that State follows from, or those that the feature goes by.
	Reason string
}

// ConfigurationOf says whether a strategy sets everything that a feature needs to evict. Demands go by the same checks.
func ConfigurationOf(feature Feature, strategy *slov1alpha1.ResourceThresholdStrategy) Configuration {
	d := Demand{Feature: feature}
	if state, reason := d.configure(strategy); state != "" {
		return Configuration{State: state, Reason: reason}
	}
	reason := fmt.Sprintf("%s is %d", settingsOf(feature, strategy).threshold, d.ThresholdPercent)
	if name, most := reachOf(feature, strategy); name != "" {
		reason += fmt.Sprintf(", %s is %d", name, *most)
	}
	return Configuration{Reason: reason}
}

// configure takes the percentages of a strategy. It returns Off or Unset and the reason where the feature never evicts under it.
func (d *Demand) configure(strategy *slov1alpha1.ResourceThresholdStrategy) (State, string) {
	if strategy == nil || strategy.Enable == nil || !*strategy.Enable {
		return Off, "resourceUsedThresholdWithBE.enable is not true"
	}
	problem := d.set(settingsOf(d.Feature, strategy))
	if problem == "" {
		problem = tooFar(d.Feature, strategy)
	}
	if problem != "" {
		return Unset, problem
	}
	return "", ""
}

// settings of a feature: its two percentages, and what they are called.
type settings struct {
	threshold, lower           string
	thresholdValue, lowerValue *int64
	// lowerByDefault is true where the lower percentage may be left out.
	lowerByDefault bool
}

func settingsOf(feature Feature, strategy *slov1alpha1.ResourceThresholdStrategy) settings {
	switch feature {
	case BECPUEvict:
		return settings{
			threshold: "cpuEvictBESatisfactionLowerPercent", thresholdValue: strategy.CPUEvictBESatisfactionLowerPercent,
			lower: "cpuEvictBESatisfactionUpperPercent", lowerValue: strategy.CPUEvictBESatisfactionUpperPercent,
		}
	case CPUAllocatableEvict:
		return settings{
			threshold: "cpuAllocatableEvictThresholdPercent", thresholdValue: strategy.CPUAllocatableEvictThresholdPercent,
			lower: "cpuAllocatableEvictLowerPercent", lowerValue: strategy.CPUAllocatableEvictLowerPercent,
		}
	case MemoryAllocatableEvict:
		return settings{
			threshold: "memoryAllocatableEvictThresholdPercent", thresholdValue: strategy.MemoryAllocatableEvictThresholdPercent,
			lower: "memoryAllocatableEvictLowerPercent", lowerValue: strategy.MemoryAllocatableEvictLowerPercent,
		}
	case CPUEvict:
		return settings{
			threshold: "cpuEvictThresholdPercent", thresholdValue: strategy.CPUEvictThresholdPercent,
			lower: "cpuEvictLowerPercent", lowerValue: strategy.CPUEvictLowerPercent, lowerByDefault: true,
		}
	}
	return settings{
		threshold: "memoryEvictThresholdPercent", thresholdValue: strategy.MemoryEvictThresholdPercent,
		lower: "memoryEvictLowerPercent", lowerValue: strategy.MemoryEvictLowerPercent, lowerByDefault: true,
	}
}

// reachOf is the highest priority that a feature evicts, and the setting that says so; features on best effort have none.
func reachOf(feature Feature, strategy *slov1alpha1.ResourceThresholdStrategy) (name string, most *int32) {
	switch {
	case feature.BestEffort():
		return "", nil
	case feature.ofRequests():
		return "allocatableEvictPriorityThreshold", strategy.AllocatableEvictPriorityThreshold
	}
	return "evictEnabledPriorityThreshold", strategy.EvictEnabledPriorityThreshold
}

// tooFar says what is wrong with the highest priority that a feature evicts; empty when nothing is.
func tooFar(feature Feature, strategy *slov1alpha1.ResourceThresholdStrategy) string {
	name, most := reachOf(feature, strategy)
	highest, _ := extension.PriorityMid.Band()
	switch {
	case name == "":
		return ""
	case most == nil:
		return name + " is not set"
	case feature.ofRequests() && *most > highest.Max:
		return fmt.Sprintf("%s %d is above %d, and would evict prod pods", name, *most, highest.Max)
	}
	return ""
}

// set takes the two percentages. It returns what is wrong with them. The eviction for low satisfaction goes from the lower one up
// to the upper one, the others from the threshold down.
func (d *Demand) set(s settings) string {
	switch {
	case s.thresholdValue == nil:
		return s.threshold + " is not set"
	case *s.thresholdValue < 0:
		return fmt.Sprintf("%s %d is below zero", s.threshold, *s.thresholdValue)
	case s.lowerValue == nil && !s.lowerByDefault:
		return s.lower + " is not set"
	}
	d.ThresholdPercent, d.TargetPercent = *s.thresholdValue, *s.thresholdValue-lowerBy
	if s.lowerValue != nil {
		d.TargetPercent = *s.lowerValue
	}
	switch {
	case d.Feature == BECPUEvict:
		return d.satisfiable(s)
	case d.TargetPercent > d.ThresholdPercent:
		return fmt.Sprintf("%s %d is above %s %d", s.lower, d.TargetPercent, s.threshold, d.ThresholdPercent)
	}
	return ""
}

// satisfiable says what is wrong with the two percentages of satisfaction.
func (d *Demand) satisfiable(s settings) string {
	switch lower, upper := d.ThresholdPercent, d.TargetPercent; {
	case lower == 0 || lower > MostSatisfactionLower:
		return fmt.Sprintf("%s %d is not between 1 and %d", s.threshold, lower, MostSatisfactionLower)
	case upper <= 0 || upper > MostSatisfactionUpper:
		return fmt.Sprintf("%s %d is not between 1 and %d", s.lower, upper, MostSatisfactionUpper)
	case upper < lower:
		return fmt.Sprintf("%s %d is below %s %d", s.lower, upper, s.threshold, lower)
	}
	return ""
}
