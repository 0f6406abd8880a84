package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// CPUAllocatableEvict evicts pods when their requests exceed the batch or mid CPU that the node offers.
var CPUAllocatableEvict = Spec{
	Name:       string(eviction.CPUAllocatableEvict),
	Kind:       Eviction,
	Summary:    "evicts pods when their requests exceed the batch or mid CPU that the node offers",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.CPUAllocatableEvict),
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent"}},
}
