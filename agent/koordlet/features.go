package koordlet

import (
	"slices"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/eviction"
)

// feature is one that sets cgroups, and whether it is on by default.
type feature struct {
	qos.Feature
	byDefault bool
}

// features in the order in which their wishes rank. Suppression has the CPUs of best-effort pods; CPUs that the scheduler gave
// to a pod go before what its limits say, and a burst goes before the quota of a limit.
func features(suppression *qos.Suppression, kept *keepers) []feature {
	return []feature{
		{suppression, true},
		{qos.CPUSetAllocator{}, true},
		{kept.coresched, false},
		{qos.GroupIdentity{}, true},
		{qos.BatchResource{}, true},
		{qos.NewCPUBurst(), true},
		{qos.CPUNormalization{}, false},
		{qos.MemoryQoS{Reclaim: qos.NewReclaimer()}, false},
		{&qos.BlkIOReconcile{}, false},
		{qos.SystemConfig{}, false},
		{kept.network, false},
		{&qos.OOMScoreAdj{}, false},
	}
}

// owners of wishes, the one that ranks highest first.
func owners() []string {
	var names []string
	for _, f := range features(nil, &keepers{}) {
		names = append(names, f.Name())
	}
	return names
}

// gates are all that can be switched on or off. Those that evict are off by default.
func gates() []string {
	names := owners()
	for _, feature := range eviction.Features() {
		names = append(names, string(feature))
	}
	return append(names, otherGates()...)
}

// otherGates are those of features that neither have wishes nor evict.
func otherGates() []string { return slices.Concat(keeperGates(), hooks.Gates(), reportGates()) }

// keeps says whether such a feature is on. Shares of the cache for classes are, unless they are switched off.
func (o *Options) keeps(gate string) bool {
	enabled, named := o.FeatureGates[gate]
	return enabled || !named && gate == gateResctrl
}

// enabled lists the features that are on.
func (o *Options) enabled(suppression *qos.Suppression, kept *keepers) []qos.Feature {
	var on []qos.Feature
	for _, f := range features(suppression, kept) {
		enabled, named := o.FeatureGates[f.Name()]
		if enabled || !named && f.byDefault {
			on = append(on, f.Feature)
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
