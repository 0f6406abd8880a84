package nodemetric

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/nodeobject"
	"koordinator.sh/koord/decision/core/configmerge"
)

var metrics = nodeobject.NewMetrics("nodemetric", "NodeMetric")

// Kind is the NodeMetric of a node, whose spec configures koordlet.
func Kind() nodeobject.Kind[*slov1alpha1.NodeMetric] {
	return nodeobject.Kind[*slov1alpha1.NodeMetric]{
		Name:        "nodemetric",
		New:         func() *slov1alpha1.NodeMetric { return &slov1alpha1.NodeMetric{} },
		Want:        want,
		Patch:       patch,
		Keys:        []string{configuration.ColocationConfigKey},
		NodeChanged: strategyChanged(),
		Metrics:     metrics,
	}
}

func want(config configmerge.Config, node *corev1.Node) (*slov1alpha1.NodeMetric, bool) {
	merged := config.Colocation(node)
	policy := policyOf(merged.Strategy)
	return &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name},
		Spec:       slov1alpha1.NodeMetricSpec{CollectPolicy: &policy},
	}, len(merged.Problems) == 0
}

// patch writes the fields of the policy and no others.
func patch(existing, want *slov1alpha1.NodeMetric) ([]byte, error) {
	if existing.Spec.CollectPolicy != nil && equality.Semantic.DeepEqual(existing.Spec.CollectPolicy, want.Spec.CollectPolicy) {
		return nil, nil
	}
	return json.Marshal(map[string]any{"spec": map[string]any{"metricCollectPolicy": want.Spec.CollectPolicy}})
}

// policyOf returns the collection policy of a strategy.
func policyOf(strategy configuration.ColocationStrategy) slov1alpha1.NodeMetricCollectPolicy {
	return slov1alpha1.NodeMetricCollectPolicy{
		AggregateDurationSeconds: strategy.MetricAggregateDurationSeconds,
		ReportIntervalSeconds:    strategy.MetricReportIntervalSeconds,
		NodeAggregatePolicy:      strategy.MetricAggregatePolicy,
		NodeMemoryCollectPolicy:  strategy.MetricMemoryCollectPolicy,
	}
}

// strategyChanged passes the updates of a node that can change which strategy applies to it: labels and annotations. The
// heartbeats that make up nearly all updates do not.
func strategyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
	}}
}
