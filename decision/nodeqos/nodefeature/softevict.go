package nodefeature

import "koordinator.sh/koord/decision/nodeqos/eviction"

// SoftEvict evicts pods that an annotation requests to be evicted. It is off by default, as in upstream Koordinator, whose agent leaves
// these requests to others.
var SoftEvict = Spec{
	Name:       string(eviction.SoftEvict),
	Kind:       Other,
	Summary:    "evicts pods with a request for a soft eviction, which koord-descheduler writes with the eviction policy SoftEviction",
	Decision:   "decision/nodeqos/softeviction",
	Docs:       "node-agent.md#soft-evictions",
	Configured: followsPods,
}
