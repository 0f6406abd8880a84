package koordlet

import (
	"slices"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// features in the order in which their values rank. Suppression has the CPUs of best-effort pods; CPUs that the scheduler gave
// to a pod go before what its limits say, and a burst goes before the quota of a limit.
func features(suppression *qos.Suppression, reconcilers *reconcilers) []qos.Feature {
	return []qos.Feature{
		suppression, qos.CPUSetAllocator{}, reconcilers.coresched, qos.GroupIdentity{}, qos.BatchResource{}, qos.NewCPUBurst(),
		qos.CPUNormalization{}, qos.MemoryQoS{Reclaim: qos.NewReclaimer()}, &qos.BlkIOReconcile{}, qos.SystemConfig{}, reconcilers.network, &qos.OOMScoreAdj{},
	}
}

// owners of values, the one that ranks highest first.
func owners() []string {
	return qos.Owners(features(nil, &reconcilers{}))
}

// gates are all that can be switched on or off. Those that evict are off by default.
func gates() []string {
	names := owners()
	for _, feature := range eviction.Features() {
		names = append(names, string(feature))
	}
	return append(names, otherGates()...)
}

// otherGates are those of features that neither set cgroup values nor evict.
func otherGates() []string { return slices.Concat(reconcilerGates(), hooks.Gates(), reportGates()) }

// keeps reports whether such a feature is on. Shares of the cache for classes are, unless they are switched off.
func (o *Options) keeps(gate string) bool {
	enabled, named := o.FeatureGates[gate]
	return enabled || !named && gate == gateResctrl
}

// enabled lists the features that are on.
func (o *Options) enabled(suppression *qos.Suppression, reconcilers *reconcilers) []qos.Feature {
	var on []qos.Feature
	defaults := qos.Owners(qos.Defaults(nil, nil))
	for _, f := range features(suppression, reconcilers) {
		enabled, named := o.FeatureGates[f.Name()]
		if enabled || !named && slices.Contains(defaults, f.Name()) {
			on = append(on, f)
		}
	}
	return on
}

// evicting says which features that evict are on.
func (o *Options) evicting() map[eviction.Feature]bool {
	on := map[eviction.Feature]bool{}
	for _, feature := range eviction.Features() {
		on[feature] = o.FeatureGates[string(feature)]
	}
	return on
}
