package configuration

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// Where the configuration lives.
const (
	DefaultNamespace     = "koordinator-system"
	DefaultConfigMapName = "slo-controller-config"
	// SchedulerConfigMapName is the ConfigMap with the scheduler's configuration, in the same namespace.
	SchedulerConfigMapName = "koord-scheduler-config"
	// DeschedulerConfigMapName is the ConfigMap with the configuration of koord-descheduler, in the same namespace.
	DeschedulerConfigMapName = "koord-descheduler-config"
	// EvictionsConfigMapName is the ConfigMap, in the same namespace, in which koord-manager counts what node agents evict.
	EvictionsConfigMapName = "koordinator-evictions"
)

// Keys of the ConfigMap, with the type of their JSON document.
const (
	// ColocationConfigKey holds a ColocationCfg.
	ColocationConfigKey = "colocation-config"
	// ResourceThresholdConfigKey holds a ResourceThresholdCfg.
	ResourceThresholdConfigKey = "resource-threshold-config"
	// ResourceQOSConfigKey holds a ResourceQOSCfg.
	ResourceQOSConfigKey = "resource-qos-config"
	// CPUBurstConfigKey holds a CPUBurstCfg.
	CPUBurstConfigKey = "cpu-burst-config"
	// SystemConfigKey holds a SystemCfg.
	SystemConfigKey = "system-config"
	// HostApplicationConfigKey holds a HostApplicationCfg.
	HostApplicationConfigKey = "host-application-config"
	// CPUNormalizationConfigKey holds a CPUNormalizationCfg.
	CPUNormalizationConfigKey = "cpu-normalization-config"
	// ResourceAmplificationConfigKey holds a ResourceAmplificationCfg.
	ResourceAmplificationConfigKey = "resource-amplification-config"
)

// MaxConfigBytes bounds one document before it is decoded: 1 MiB, the most a ConfigMap can hold.
const MaxConfigBytes = 1 << 20

// Keys returns the keys of the ConfigMap, in the order of the documentation.
func Keys() []string {
	return []string{
		ColocationConfigKey, ResourceThresholdConfigKey, ResourceQOSConfigKey, CPUBurstConfigKey, SystemConfigKey,
		HostApplicationConfigKey, CPUNormalizationConfigKey, ResourceAmplificationConfigKey,
	}
}

// Decode decodes the document of a key, nil without an error when the key is absent or empty. Nothing is defaulted.
func Decode[T any](data map[string]string, key string) (*T, error) {
	value, ok := data[key]
	if !ok || value == "" {
		return nil, nil
	}
	out := new(T)
	if err := extension.DecodeJSON(value, MaxConfigBytes, out); err != nil {
		return nil, fmt.Errorf("decode key %q of the configuration: %w", key, err)
	}
	return out, nil
}

// NodeCfgProfile names a group of nodes.
type NodeCfgProfile struct {
	// Name identifies the entry; unique among the entries of a key.
	Name string `json:"name,omitempty"`
	// NodeSelector selects the nodes. Nil selects none, the empty selector all.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
}
