package configmerge

import (
	"reflect"
	"sync"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// section describes one key of the ConfigMap.
type section struct {
	key string
	// clusterField holds the cluster's strategy; empty when its fields stand at the top, beside the node entries.
	clusterField string
	// nodesField holds the node entries.
	nodesField string
	// strategy is the type of the cluster's strategy and, beside name and nodeSelector, of each node entry.
	strategy reflect.Type
	bounds   []bound
	orders   []order
	// fallback is the built-in default.
	fallback any
}

// hostApplications is the strategy part of host-application-config.
type hostApplications struct {
	Applications []slov1alpha1.HostApplicationSpec `json:"applications,omitempty"`
}

// sections lists the keys in the order in which problems are reported.
var sections = sync.OnceValue(func() []section {
	const top, cluster, configs, strategies = "", "clusterStrategy", "nodeConfigs", "nodeStrategies"
	return []section{
		{configuration.ColocationConfigKey, top, configs, reflect.TypeFor[configuration.ColocationStrategy](),
			colocationBounds, nil, configuration.DefaultColocationStrategy()},
		{configuration.ResourceThresholdConfigKey, cluster, strategies, reflect.TypeFor[slov1alpha1.ResourceThresholdStrategy](),
			thresholdBounds, thresholdOrders, configuration.DefaultResourceThresholdStrategy()},
		{configuration.ResourceQOSConfigKey, cluster, strategies, reflect.TypeFor[slov1alpha1.ResourceQOSStrategy](),
			qosBounds, qosOrders, configuration.DefaultResourceQOSStrategy()},
		{configuration.CPUBurstConfigKey, cluster, strategies, reflect.TypeFor[slov1alpha1.CPUBurstStrategy](),
			burstBounds, nil, configuration.DefaultCPUBurstStrategy()},
		{configuration.SystemConfigKey, cluster, strategies, reflect.TypeFor[slov1alpha1.SystemStrategy](),
			systemBounds, nil, configuration.DefaultSystemStrategy()},
		{configuration.HostApplicationConfigKey, top, configs, reflect.TypeFor[hostApplications](),
			hostApplicationBounds, nil, hostApplications{}},
		{configuration.CPUNormalizationConfigKey, top, configs, reflect.TypeFor[configuration.CPUNormalizationStrategy](),
			normalizationBounds, nil, configuration.DefaultCPUNormalizationStrategy()},
		{configuration.ResourceAmplificationConfigKey, top, configs, reflect.TypeFor[configuration.ResourceAmplificationStrategy](),
			amplificationBounds, nil, configuration.DefaultResourceAmplificationStrategy()},
	}
})
