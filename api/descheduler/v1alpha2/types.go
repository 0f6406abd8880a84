package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeschedulerConfiguration configures koord-descheduler.
//
// +kubebuilder:object:root=true
type DeschedulerConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	// LeaderElection elects the replica that works; the others stand by.
	LeaderElection LeaderElectionConfiguration `json:"leaderElection,omitzero"`
	// ClientConnection configures the client of the API server.
	ClientConnection ClientConnectionConfiguration `json:"clientConnection,omitzero"`

	DebuggingConfiguration `json:",inline"`

	// HealthzBindAddress is accepted and not used: health is served on the port for metrics, over TLS.
	HealthzBindAddress *string `json:"healthzBindAddress,omitempty"`
	// MetricsBindAddress is accepted and not used: flags say where metrics are served, over TLS.
	MetricsBindAddress *string `json:"metricsBindAddress,omitempty"`

	// DeschedulingInterval is the time from the start of one pass to the start of the next; default 2m. 0 makes one pass and ends.
	DeschedulingInterval *metav1.Duration `json:"deschedulingInterval,omitempty"`
	// DryRun records what would be evicted and evicts nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Profiles are sets of plugins with their arguments; at least one, with unique names.
	Profiles []DeschedulerProfile `json:"profiles,omitempty"`
	// NodeSelector selects the nodes that are looked at; all when unset.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// MaxNoOfPodsToEvictPerNode bounds the evictions from one node in one pass, over all profiles; no bound when unset.
	MaxNoOfPodsToEvictPerNode *int64 `json:"maxNoOfPodsToEvictPerNode,omitempty"`
	// MaxNoOfPodsToEvictPerNamespace bounds the evictions from one namespace in one pass, over all profiles; no bound when unset.
	MaxNoOfPodsToEvictPerNamespace *int64 `json:"maxNoOfPodsToEvictPerNamespace,omitempty"`
	// MaxNoOfPodsToEvictTotal bounds the evictions of one pass, over all profiles; no bound when unset.
	MaxNoOfPodsToEvictTotal *int64 `json:"maxNoOfPodsToEvictTotal,omitempty"`
}

// DeschedulerProfile is a set of plugins with their arguments.
type DeschedulerProfile struct {
	// Name of the profile; default koord-descheduler where there is one profile.
	Name string `json:"name,omitempty"`
	// PluginConfig has the arguments of plugins.
	PluginConfig []PluginConfig `json:"pluginConfig,omitempty"`
	// Plugins enables and disables plugins by extension point.
	Plugins *Plugins `json:"plugins,omitempty"`
	// NodeSelector selects the nodes that the plugins of the profile get, among those that the configuration selects; all when unset.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
}

// Plugins are the plugins of a profile by extension point.
type Plugins struct {
	// Deschedule plugins evict pods that are where they should not be.
	Deschedule PluginSet `json:"deschedule,omitzero"`
	// Balance plugins evict pods to spread or to pack load; they run after the Deschedule plugins of all profiles.
	Balance PluginSet `json:"balance,omitzero"`
	// Evict plugins say how pods leave; default MigrationController.
	Evict PluginSet `json:"evict,omitzero"`
	// Filter plugins say which pods may be evicted; default MigrationController. A pod needs the consent of all.
	Filter PluginSet `json:"filter,omitzero"`
}

// PluginSet changes the default plugins of an extension point.
type PluginSet struct {
	// Enabled plugins are added to the default ones, in this order.
	Enabled []Plugin `json:"enabled,omitempty"`
	// Disabled default plugins are left out; "*" leaves out all.
	Disabled []Plugin `json:"disabled,omitempty"`
}

// Plugin is the name of a plugin.
type Plugin struct {
	// Name of the plugin.
	Name string `json:"name,omitempty"`
}

// PluginConfig has the arguments of one plugin.
type PluginConfig struct {
	// Name of the plugin.
	Name string `json:"name"`
	// Args are of descheduler/v1alpha2 and the kind <Name>Args.
	Args runtime.RawExtension `json:"args,omitzero"`
}
