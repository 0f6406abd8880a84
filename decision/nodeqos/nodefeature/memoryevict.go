package nodefeature

import (
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// MemoryEvict evicts pods up to a priority when the node uses too much memory.
var MemoryEvict = Spec{
	Name:       string(eviction.MemoryEvict),
	Kind:       Eviction,
	Summary:    "evicts pods up to a priority when the node uses too much memory",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.MemoryEvict),
}
