package loadaware

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/reason"
)

// exceeded is a node that only one threshold keeps from passing.
type exceeded struct {
	node    *corev1.Node
	verdict loadaware.Verdict
}

// thresholds raises the one threshold that a node exceeds, on that node alone.
func (p *Plugin) thresholds(pod *corev1.Pod, nodes []reason.RefusedNode) []reason.Change {
	var nearest []exceeded
	for _, refused := range nodes {
		node := refused.Info.Node()
		verdict, _ := p.Explain(pod, node)
		if !verdict.Passed() && verdict.Resource != "" && verdict.Percent <= 100 {
			nearest = append(nearest, exceeded{node, verdict})
		}
	}
	slices.SortFunc(nearest, func(a, b exceeded) int {
		return cmp.Or(cmp.Compare(a.verdict.Distance(), b.verdict.Distance()), cmp.Compare(a.node.Name, b.node.Name))
	})
	var changes []reason.Change
	for _, one := range nearest[:min(maxThresholds, len(nearest))] {
		if custom, field, ok := p.raise(one); ok {
			changes = append(changes, raising(one, custom, field)...)
		}
	}
	return changes
}

// raise writes the node's own thresholds with the exceeded one raised to what the node would reach.
func (p *Plugin) raise(one exceeded) (custom *extension.CustomUsageThresholds, field string, ok bool) {
	custom, err := extension.GetCustomUsageThresholds(one.node.Annotations)
	if err != nil {
		return nil, "", false
	}
	if custom == nil {
		custom = &extension.CustomUsageThresholds{}
	}
	raised := p.policy.Thresholds(p.Observed(one.node), one.verdict.Profile)
	raised[one.verdict.Resource] = one.verdict.Percent
	switch one.verdict.Profile {
	case loadaware.Prod:
		custom.ProdUsageThresholds, field = raised, "prodUsageThresholds"
	case loadaware.Aggregated:
		custom.AggregatedUsage, field = p.raisedAggregate(custom, raised), "aggregatedUsage.usageThresholds"
	default:
		custom.UsageThresholds, field = raised, "usageThresholds"
	}
	return custom, field, true
}

// raisedAggregate keeps the window in force, which the node's annotation may leave to the configuration.
func (p *Plugin) raisedAggregate(custom *extension.CustomUsageThresholds, raised map[corev1.ResourceName]int64) *extension.CustomAggregatedUsage {
	if custom.AggregatedUsage != nil && custom.AggregatedUsage.UsageAggregationType != "" {
		edited := *custom.AggregatedUsage
		edited.UsageThresholds = raised
		return &edited
	}
	configured := p.policy.Args().Aggregated
	return &extension.CustomAggregatedUsage{
		UsageThresholds: raised, UsageAggregationType: extension.AggregationType(configured.UsageAggregationType),
		UsageAggregatedDuration: &configured.UsageAggregatedDuration,
	}
}

func raising(one exceeded, custom *extension.CustomUsageThresholds, field string) []reason.Change {
	name, verdict := one.node.Name, one.verdict
	edited := one.node.DeepCopy()
	if err := extension.SetCustomUsageThresholds(edited, custom); err != nil {
		return nil
	}
	value := edited.Annotations[extension.AnnotationCustomUsageThresholds]
	return []reason.Change{{
		Cost: costThreshold + costPoint*float64(verdict.Percent-verdict.Threshold),
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "raiseThreshold", Node: name,
			Description: fmt.Sprintf("raise the %s threshold of node %s (%s) from %d%% to %d%%", verdict.Resource, name, field, verdict.Threshold, verdict.Percent),
			Steps: []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Node(name), map[string]*string{
				extension.AnnotationCustomUsageThresholds: kubectl.Value(value),
			})},
		},
		EditNode: func(node *corev1.Node) {
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, extension.AnnotationCustomUsageThresholds, value)
		},
	}}
}
