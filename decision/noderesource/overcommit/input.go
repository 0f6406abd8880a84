package overcommit

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/decision/core/unknown"
)

// NodeInput is everything the offer of one node depends on. Nothing in it is modified.
type NodeInput struct {
	// Node as the API server has it.
	Node *corev1.Node
	// Metric of the node; nil when there is none.
	Metric *slov1alpha1.NodeMetric
	// Pods bound to the node; those that succeeded or failed are skipped.
	Pods []*corev1.Pod
	// Strategy in force on the node.
	Strategy configmerge.Merged
	// Now is the time at which ages are measured.
	Now time.Time
	// LastSync is when the offer was last written; zero takes it from the node's managed fields.
	LastSync time.Time
	// Steadiness of the measurements as the last calculation returned it; zero before the first.
	Steadiness Steadiness
	// Predictions of what the node's pods will use, where predictors are chosen.
	Predictions Predictions
	// Ahead are predictions of the pods above batch, hour by hour, as far as the chosen predictors reach. Only an outlook needs them.
	Ahead []*predict.Forecast
	// Unknown are the inputs that could not be read. What depends on them is not computed.
	Unknown unknown.Inputs
	// ConfigMap the strategy was read from, for naming sources; empty for koordinator-system/slo-controller-config.
	ConfigMap types.NamespacedName
}

func (in *NodeInput) configMap() types.NamespacedName {
	if in.ConfigMap.Name != "" {
		return in.ConfigMap
	}
	return types.NamespacedName{Namespace: configuration.DefaultNamespace, Name: configuration.DefaultConfigMapName}
}

// orDefault reads an optional setting.
func orDefault[T any](setting *T, fallback T) T {
	if setting == nil {
		return fallback
	}
	return *setting
}

// Defaults for strategies that were not merged over the built-in one.
const (
	defaultReportInterval = 60
	defaultDegradeMinutes = 15
	defaultUpdateSeconds  = 300
	defaultDiffThreshold  = 0.1
)

// maxSeconds keeps durations built from settings within what time.Duration can hold.
const maxSeconds = int64(100 * 365 * 24 * time.Hour / time.Second)

func seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), maxSeconds)) * time.Second
}

// degradeAfter is the age at which a NodeMetric counts as expired.
func degradeAfter(strategy *configuration.ColocationStrategy) time.Duration {
	return seconds(min(orDefault(strategy.DegradeTimeMinutes, defaultDegradeMinutes), maxSeconds/60) * 60)
}

// toldInterval is the report interval in the NodeMetric's spec; 0 when it has none.
func (in *NodeInput) toldInterval() int64 {
	if in.Metric == nil || in.Metric.Spec.CollectPolicy == nil {
		return 0
	}
	return max(orDefault(in.Metric.Spec.CollectPolicy.ReportIntervalSeconds, 0), 0)
}

// reportInterval is the time between reports the node was told to keep.
func (in *NodeInput) reportInterval() int64 {
	if told := in.toldInterval(); told > 0 {
		return told
	}
	return max(orDefault(in.Strategy.Strategy.MetricReportIntervalSeconds, defaultReportInterval), 1)
}
