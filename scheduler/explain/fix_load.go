package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/kubectl"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
)

const (
	// maxRefreshes and maxThresholds bound the changes of their kinds that are tried.
	maxRefreshes  = 8
	maxThresholds = 4
)

// refreshes proposes to bring the agent back on nodes that only their expired NodeMetric refuses. What the node would
// then report is taken to be what it reported last, or, when that is nothing, what its pods request.
func (s *simulation) refreshes(w *world, e *evaluation) []candidate {
	var list []candidate
	for i, info := range e.nodes {
		node := info.Node()
		if s.load == nil || !refusedBy(e.refusals[i], decision.PluginName) || s.codeOf(e.refusals[i][0]) != finding.LoadMetricExpired {
			continue
		}
		if metric := w.NodeMetric(node.Name); metric != nil {
			list = append(list, s.refresh(metric))
		}
		if len(list) == maxRefreshes {
			break
		}
	}
	return list
}

func (s *simulation) refresh(metric *slov1alpha1.NodeMetric) candidate {
	assumed := "with the last reported usage"
	if metric.Status.NodeMetric == nil {
		assumed = "with the requests of its pods as usage"
	}
	return candidate{
		cost: costRefresh,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "refreshNodeMetric", Node: metric.Name,
			Description: fmt.Sprintf("restore koordlet on node %s: its NodeMetric %s, and %s the node passes", metric.Name, sinceText(metric.Status.UpdateTime, s.now()), assumed),
			Mentions:    []diagnosticsv1alpha1.SourceRef{{Kind: "Node", Name: metric.Name}},
		},
		edit: func(w *world) (*world, error) {
			refreshed := metric.DeepCopy()
			if current := w.NodeMetric(metric.Name); current != nil {
				refreshed = current.DeepCopy()
			}
			if refreshed.Status.NodeMetric == nil { // of the pods that other changes leave there
				info, err := w.Get(metric.Name)
				if err != nil {
					return nil, err
				}
				refreshed.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: requestedOn(info)}}
			}
			refreshed.Status.UpdateTime = &metav1.Time{Time: s.now()}
			return w.withMetric(refreshed), nil
		},
	}
}

// requestedOn is the cpu and memory that the pods of a node request together.
func requestedOn(info fwk.NodeInfo) corev1.ResourceList {
	requested := info.GetRequested()
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(requested.GetMilliCPU(), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(requested.GetMemory(), resource.BinarySI),
	}
}

func sinceText(at *metav1.Time, now time.Time) string {
	if at == nil {
		return "was never reported"
	}
	distance := freshness.Distance(now, at.Time, time.Second)
	if at.After(now) {
		return "is " + distance + " ahead of the clock"
	}
	return "is " + distance + " old"
}

// exceeded is a node that only one threshold keeps from passing.
type exceeded struct {
	node    *corev1.Node
	verdict decision.Verdict
}

// thresholds proposes to raise the one threshold that a node exceeds, on that node alone, for the nodes that exceed it
// least.
func (s *simulation) thresholds(e *evaluation) []candidate {
	var nearest []exceeded
	for i, info := range e.nodes {
		if s.load == nil || !refusedBy(e.refusals[i], decision.PluginName) {
			continue
		}
		verdict, _ := s.load.Explain(e.pod, info.Node())
		if !verdict.Passed() && verdict.Resource != "" && verdict.Percent <= 100 {
			nearest = append(nearest, exceeded{info.Node(), verdict})
		}
	}
	slices.SortFunc(nearest, func(a, b exceeded) int {
		return cmp.Or(cmp.Compare(overshoot(a.verdict), overshoot(b.verdict)), cmp.Compare(a.node.Name, b.node.Name))
	})
	var list []candidate
	for _, one := range nearest[:min(maxThresholds, len(nearest))] {
		if custom, field, ok := s.raise(one); ok {
			list = append(list, raising(one, custom, field))
		}
	}
	return list
}

// raise writes the node's own thresholds with the exceeded one raised to what the node would reach.
func (s *simulation) raise(one exceeded) (custom *extension.CustomUsageThresholds, field string, ok bool) {
	custom, err := extension.GetCustomUsageThresholds(one.node.Annotations)
	if err != nil {
		return nil, "", false
	}
	if custom == nil {
		custom = &extension.CustomUsageThresholds{}
	}
	raised := s.load.Policy().Thresholds(s.load.Observed(one.node), one.verdict.Profile)
	raised[one.verdict.Resource] = one.verdict.Percent
	switch one.verdict.Profile {
	case decision.Prod:
		custom.ProdUsageThresholds, field = raised, "prodUsageThresholds"
	case decision.Aggregated:
		custom.AggregatedUsage, field = s.raisedAggregate(custom, raised), "aggregatedUsage.usageThresholds"
	default:
		custom.UsageThresholds, field = raised, "usageThresholds"
	}
	return custom, field, true
}

func raising(one exceeded, custom *extension.CustomUsageThresholds, field string) candidate {
	name, verdict := one.node.Name, one.verdict
	edited := one.node.DeepCopy()
	err := extension.SetCustomUsageThresholds(edited, custom)
	return candidate{
		cost: costThreshold + costPoint*float64(verdict.Percent-verdict.Threshold),
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "raiseThreshold", Node: name,
			Description: fmt.Sprintf("raise the %s threshold of node %s (%s) from %d%% to %d%%", verdict.Resource, name, field, verdict.Threshold, verdict.Percent),
			Steps: []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Node(name), map[string]*string{
				extension.AnnotationCustomUsageThresholds: kubectl.Value(edited.Annotations[extension.AnnotationCustomUsageThresholds]),
			})},
		},
		edit: func(w *world) (*world, error) {
			if err != nil {
				return nil, err
			}
			return w.editNode(name, func(node *corev1.Node) {
				metav1.SetMetaDataAnnotation(&node.ObjectMeta, extension.AnnotationCustomUsageThresholds, edited.Annotations[extension.AnnotationCustomUsageThresholds])
			})
		},
	}
}

// raisedAggregate keeps the window in force, which the node's annotation may leave to the configuration.
func (s *simulation) raisedAggregate(custom *extension.CustomUsageThresholds, raised map[corev1.ResourceName]int64) *extension.CustomAggregatedUsage {
	if custom.AggregatedUsage != nil && custom.AggregatedUsage.UsageAggregationType != "" {
		edited := *custom.AggregatedUsage
		edited.UsageThresholds = raised
		return &edited
	}
	configured := s.load.Policy().Args().Aggregated
	return &extension.CustomAggregatedUsage{
		UsageThresholds: raised, UsageAggregationType: extension.AggregationType(configured.UsageAggregationType),
		UsageAggregatedDuration: &configured.UsageAggregatedDuration,
	}
}
