package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// BECPUEvict evicts best-effort pods that get too little of the CPU they request.
var BECPUEvict = Spec{
	Name:       string(eviction.BECPUEvict),
	Kind:       Eviction,
	Summary:    "evicts best-effort pods that get too little of the CPU they request",
	Decision:   "decision/nodeqos/eviction",
	Docs:       "node-agent.md#evictions",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: evicts(eviction.BECPUEvict),
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"cpuEvictBESatisfactionLowerPercent", "cpuEvictBESatisfactionUpperPercent", "cpuEvictBEUsageThresholdPercent", "cpuEvictTimeWindowSeconds", "cpuEvictPolicy"}},
}
