package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// MemoryAllocatableEvict evicts pods when their requests exceed the batch or mid memory that the node offers.
var MemoryAllocatableEvict = Spec{
	Name:       string(eviction.MemoryAllocatableEvict),
	Kind:       Eviction,
	Summary:    "evicts pods when their requests exceed the batch or mid memory that the node offers",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.MemoryAllocatableEvict),
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"}},
}
