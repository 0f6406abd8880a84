package configuration

import (
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// ResourceThresholdCfg is the document of ResourceThresholdConfigKey.
type ResourceThresholdCfg struct {
	ClusterStrategy *slov1alpha1.ResourceThresholdStrategy `json:"clusterStrategy,omitempty"`
	NodeStrategies  []NodeResourceThresholdStrategy        `json:"nodeStrategies,omitempty"`
}

// NodeResourceThresholdStrategy overrides the strategy on a group of nodes.
type NodeResourceThresholdStrategy struct {
	NodeCfgProfile                         `json:",inline"`
	*slov1alpha1.ResourceThresholdStrategy `json:",inline"`
}

// ResourceQOSCfg is the document of ResourceQOSConfigKey.
type ResourceQOSCfg struct {
	ClusterStrategy *slov1alpha1.ResourceQOSStrategy `json:"clusterStrategy,omitempty"`
	NodeStrategies  []NodeResourceQOSStrategy        `json:"nodeStrategies,omitempty"`
}

// NodeResourceQOSStrategy overrides the strategy on a group of nodes.
type NodeResourceQOSStrategy struct {
	NodeCfgProfile                   `json:",inline"`
	*slov1alpha1.ResourceQOSStrategy `json:",inline"`
}

// CPUBurstCfg is the document of CPUBurstConfigKey.
type CPUBurstCfg struct {
	ClusterStrategy *slov1alpha1.CPUBurstStrategy `json:"clusterStrategy,omitempty"`
	NodeStrategies  []NodeCPUBurstCfg             `json:"nodeStrategies,omitempty"`
}

// NodeCPUBurstCfg overrides the strategy on a group of nodes.
type NodeCPUBurstCfg struct {
	NodeCfgProfile                `json:",inline"`
	*slov1alpha1.CPUBurstStrategy `json:",inline"`
}

// SystemCfg is the document of SystemConfigKey.
type SystemCfg struct {
	ClusterStrategy *slov1alpha1.SystemStrategy `json:"clusterStrategy,omitempty"`
	NodeStrategies  []NodeSystemStrategy        `json:"nodeStrategies,omitempty"`
}

// NodeSystemStrategy overrides the strategy on a group of nodes.
type NodeSystemStrategy struct {
	NodeCfgProfile              `json:",inline"`
	*slov1alpha1.SystemStrategy `json:",inline"`
}

// HostApplicationCfg is the document of HostApplicationConfigKey.
type HostApplicationCfg struct {
	Applications []slov1alpha1.HostApplicationSpec `json:"applications,omitempty"`
	NodeConfigs  []NodeHostApplicationCfg          `json:"nodeConfigs,omitempty"`
}

// NodeHostApplicationCfg replaces the list of applications on a group of nodes.
type NodeHostApplicationCfg struct {
	NodeCfgProfile `json:",inline"`
	Applications   []slov1alpha1.HostApplicationSpec `json:"applications,omitempty"`
}
