package koordlet

import (
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/eviction"
)

// feature is one that sets cgroups, and whether it is on by default.
type feature struct {
	qos.Feature
	byDefault bool
}

// features in the order in which their wishes rank. Suppression has the CPUs of best-effort pods; CPUs that the scheduler gave
// to a pod go before what its limits say.
func features(suppression *qos.Suppression) []feature {
	return []feature{
		{suppression, true},
		{qos.CPUSetAllocator{}, true},
		{qos.GroupIdentity{}, true},
		{qos.BatchResource{}, true},
		{qos.MemoryQoS{}, false},
	}
}

// owners of wishes, the one that ranks highest first.
func owners() []string {
	var names []string
	for _, f := range features(nil) {
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
	return names
}

// enabled lists the features that are on.
func (o *Options) enabled(suppression *qos.Suppression) []qos.Feature {
	var on []qos.Feature
	for _, f := range features(suppression) {
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
