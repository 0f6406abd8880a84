package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// BEMemoryEvict evicts best-effort pods when the node uses too much memory.
var BEMemoryEvict = Spec{
	Name:       string(eviction.BEMemoryEvict),
	Kind:       Eviction,
	Summary:    "evicts best-effort pods when the node uses too much memory",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.BEMemoryEvict),
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"memoryEvictThresholdPercent", "memoryEvictLowerPercent"}, Or: string(eviction.MemoryEvict)},
}
