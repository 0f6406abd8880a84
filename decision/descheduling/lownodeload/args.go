package lownodeload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/descheduling/podselection"
)

// PluginName is the descheduler plugin that applies the decision.
const PluginName = "LowNodeLoad"

// Kind of the plugin arguments, in descheduler/v1alpha2.
const Kind = "LowNodeLoadArgs"

// DefaultPool is the name of the pool that the thresholds beside nodePools make. It has the nodes of no other pool.
const DefaultPool = "__default_node_pool__"

// Defaults of Args.
const (
	defaultExpirationSeconds    = 180
	defaultAnomalyTimeout       = time.Minute
	defaultAbnormalities        = 5
	defaultNormalities          = 3
	defaultDetectorCacheTimeout = 5 * time.Minute
)

// Thresholds are percentages by resource.
type Thresholds map[corev1.ResourceName]float64

// Args configures LowNodeLoad. The JSON is that of Koordinator's LowNodeLoadArgs.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// Paused stops the plugin; default false.
	Paused *bool `json:"paused,omitempty"`
	// DryRun decides without evicting; default false.
	DryRun *bool `json:"dryRun,omitempty"`
	// NumberOfNodes is how many underutilized nodes are too few to act: there must be more; default 0.
	NumberOfNodes *int32 `json:"numberOfNodes,omitempty"`
	// NodeMetricExpirationSeconds is the age from which a NodeMetric is expired; default 180.
	NodeMetricExpirationSeconds *int64 `json:"nodeMetricExpirationSeconds,omitempty"`
	// EvictableNamespaces bound the pods that may leave; the usage of all others counts.
	EvictableNamespaces *podselection.Namespaces `json:"evictableNamespaces,omitempty"`
	// NodeSelector selects the nodes of the default pool.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// PodSelectors select the pods that may leave, those that match any of them; all by default.
	PodSelectors []podselection.Selector `json:"podSelectors,omitempty"`
	// NodeFit evicts only pods that fit on an underutilized node and leave it below its high thresholds; default true.
	NodeFit *bool `json:"nodeFit,omitempty"`
	// DetectorCacheTimeout is how long the counts of a node are kept that is not observed; default 5m. They are kept for at least
	// three intervals between passes.
	DetectorCacheTimeout *metav1.Duration `json:"detectorCacheTimeout,omitempty"`

	PoolSettings `json:",inline"`

	// NodePools have thresholds of their own. A node belongs to the first pool that selects it.
	NodePools []NodePool `json:"nodePools,omitempty"`
}

// PoolSettings say when the nodes of a pool are over- and underutilized.
type PoolSettings struct {
	// UseDeviationThresholds takes the thresholds as distances from the mean usage of the pool; default false.
	UseDeviationThresholds *bool `json:"useDeviationThresholds,omitempty"`
	// HighThresholds make a node overutilized when any resource is above; 100 for resources that only lowThresholds have.
	HighThresholds Thresholds `json:"highThresholds,omitempty"`
	// LowThresholds make a node underutilized when no resource is above; 100 for resources that only highThresholds have.
	LowThresholds Thresholds `json:"lowThresholds,omitempty"`
	// ProdHighThresholds and ProdLowThresholds are compared with the usage of prod pods.
	ProdHighThresholds Thresholds `json:"prodHighThresholds,omitempty"`
	ProdLowThresholds  Thresholds `json:"prodLowThresholds,omitempty"`
	// ResourceWeights in the order of nodes and pods; default 1 each.
	ResourceWeights map[corev1.ResourceName]int64 `json:"resourceWeights,omitempty"`
	// AnomalyCondition says how often in a row a node must be overutilized before pods leave it.
	AnomalyCondition *AnomalyCondition `json:"anomalyCondition,omitempty"`
}

// NodePool is a set of nodes with settings of its own.
type NodePool struct {
	Name string `json:"name,omitempty"`
	// NodeSelector selects the nodes of the pool; all by default.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	PoolSettings `json:",inline"`
}

// AnomalyCondition says how often in a row a node must be overutilized before pods leave it.
type AnomalyCondition struct {
	// Timeout is how long a node stays anomalous after it became so; default 1m. Its count restarts then.
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// ConsecutiveAbnormalities is how many overutilized passes in a row are not enough: one more makes the node anomalous; default 5.
	// 1 makes it anomalous in the first.
	ConsecutiveAbnormalities uint32 `json:"consecutiveAbnormalities,omitempty"`
	// ConsecutiveNormalities is how many other passes in a row are not enough to make an anomalous node normal; default 3.
	ConsecutiveNormalities uint32 `json:"consecutiveNormalities,omitempty"`
}
