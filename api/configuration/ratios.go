package configuration

import (
	corev1 "k8s.io/api/core/v1"
)

// CPUNormalizationCfg is the document of CPUNormalizationConfigKey.
type CPUNormalizationCfg struct {
	CPUNormalizationStrategy `json:",inline"`
	NodeConfigs              []NodeCPUNormalizationCfg `json:"nodeConfigs,omitempty"`
}

// NodeCPUNormalizationCfg overrides the strategy on a group of nodes.
type NodeCPUNormalizationCfg struct {
	NodeCfgProfile           `json:",inline"`
	CPUNormalizationStrategy `json:",inline"`
}

// CPUNormalizationStrategy says how fast CPU models are compared to each other.
type CPUNormalizationStrategy struct {
	// Enable normalization; false by default, which removes the ratio from the nodes.
	Enable *bool `json:"enable,omitempty"`
	// DefaultRatio is for models that are not listed.
	DefaultRatio *float64 `json:"defaultRatio,omitempty"`
	// RatioModel is the ratios by CPU model.
	RatioModel map[string]ModelRatioCfg `json:"ratioModel,omitempty"`
}

// ModelRatioCfg is the ratio of a CPU model in each of its modes.
type ModelRatioCfg struct {
	// BaseRatio without hyper-threading and turbo.
	BaseRatio *float64 `json:"baseRatio,omitempty"`
	// HyperThreadEnabledRatio with hyper-threading.
	HyperThreadEnabledRatio *float64 `json:"hyperThreadEnabledRatio,omitempty"`
	// TurboEnabledRatio with turbo.
	TurboEnabledRatio *float64 `json:"turboEnabledRatio,omitempty"`
	// HyperThreadTurboEnabledRatio with both.
	HyperThreadTurboEnabledRatio *float64 `json:"hyperThreadTurboEnabledRatio,omitempty"`
}

// ResourceAmplificationCfg is the document of ResourceAmplificationConfigKey.
type ResourceAmplificationCfg struct {
	ResourceAmplificationStrategy `json:",inline"`
	NodeConfigs                   []NodeResourceAmplificationCfg `json:"nodeConfigs,omitempty"`
}

// NodeResourceAmplificationCfg overrides the strategy on a group of nodes.
type NodeResourceAmplificationCfg struct {
	NodeCfgProfile                `json:",inline"`
	ResourceAmplificationStrategy `json:",inline"`
}

// ResourceAmplificationStrategy shows nodes larger than they are.
type ResourceAmplificationStrategy struct {
	// Enable amplification; false by default.
	Enable *bool `json:"enable,omitempty"`
	// ResourceAmplificationRatio by resource; 1 and below have no effect.
	ResourceAmplificationRatio map[corev1.ResourceName]float64 `json:"resourceAmplificationRatio,omitempty"`
}
