package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// CPUEvict evicts pods when the node uses too much CPU.
var CPUEvict = Spec{
	Name:       string(eviction.CPUEvict),
	Kind:       Eviction,
	Summary:    "evicts pods when the node uses too much CPU",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.CPUEvict),
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"cpuEvictThresholdPercent", "cpuEvictLowerPercent"}},
}
