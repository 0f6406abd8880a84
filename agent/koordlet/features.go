package koordlet

import (
	"slices"
	"sync"

	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// featureSpecs lists the features of the agent, in the order of nodefeature.All. The result must not be changed.
var featureSpecs = sync.OnceValue(func() []FeatureSpec {
	return slices.Concat([]FeatureSpec{
		suppressionFeature(),
		cpuSetAllocatorFeature(),
		coreSchedFeature(),
		groupIdentityFeature(),
		batchResourceFeature(),
		cpuBurstFeature(),
		cpuNormalizationFeature(),
		memoryQoSFeature(),
		blkIOFeature(),
		systemConfigFeature(),
		tcNetworkFeature(),
		oomScoreFeature(),
	}, evictionFeatures(), []FeatureSpec{
		terwayFeature(),
		rdtResctrlFeature(),
		podResctrlFeature(),
		resctrlCollectorFeature(),
		cpiFeature(),
		psiFeature(),
		gpuInjectFeature(),
		rdmaInjectFeature(),
		hugePageFeature(),
		oomKillFeature(),
		softEvictFeature(),
		acceleratorsFeature(),
		rdmaDevicesFeature(),
	})
})

// evictionFeatures are declared by their decision; the evictor carries all of them out.
func evictionFeatures() []FeatureSpec {
	var out []FeatureSpec
	for _, spec := range nodefeature.OfKind(nodefeature.Eviction) {
		out = append(out, FeatureSpec{Spec: spec})
	}
	return out
}

// gates are the names of all features.
func gates() []string {
	var names []string
	for _, spec := range nodefeature.All() {
		names = append(names, spec.Name)
	}
	return names
}

// owners of values, the one that ranks highest first.
func owners() []string {
	var names []string
	for _, spec := range nodefeature.OfKind(nodefeature.Values) {
		names = append(names, spec.Name)
	}
	return names
}

// isOn reports whether a feature is on.
func (o *Options) isOn(feature *nodefeature.Spec) bool { return feature.On(o.FeatureGates) }

// anyOn reports whether a feature is on, or another that its reconciler carries out.
func (o *Options) anyOn(name string) bool {
	return slices.ContainsFunc(featureSpecs(), func(spec FeatureSpec) bool {
		return (spec.Name == name || spec.With == name) && o.isOn(&spec.Spec)
	})
}

// enabled makes the features that declare values and are on.
func (o *Options) enabled(build *featureBuild) []qos.Feature {
	var on []qos.Feature
	for _, spec := range featureSpecs() {
		if spec.Values != nil && o.isOn(&spec.Spec) {
			on = append(on, spec.Values(build))
		}
	}
	return on
}

// evicting says which features that evict are on.
func (o *Options) evicting() map[eviction.Feature]bool {
	on := map[eviction.Feature]bool{}
	for _, spec := range nodefeature.OfKind(nodefeature.Eviction) {
		on[eviction.Feature(spec.Name)] = o.isOn(&spec)
	}
	return on
}
