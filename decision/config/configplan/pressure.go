package configplan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/suppression"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// Effects on pods.
const (
	// Suppressed pods use more CPU than is left to best-effort pods, and are held back.
	Suppressed = "suppressed"
	// Evicted pods are removed from the node.
	Evicted = "evicted"
)

// withinThreshold is the state of an offer that is not written at once.
const withinThreshold = diagnosticsv1alpha1.WithinThreshold

// PodEffect is what happens to one pod at once.
type PodEffect struct {
	// Namespace and Name of the pod, and the Node it runs on.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
	// Effect is suppressed or evicted.
	Effect string `json:"effect"`
	// Feature of the node agent that does it.
	Feature string `json:"feature"`
	// Reason with its numbers.
	Reason string `json:"reason"`
}

// pressureInput is one node with its thresholds and offers before and after.
type pressureInput struct {
	node                 overcommit.NodeInput
	old, new             *slov1alpha1.ResourceThresholdStrategy
	oldOffers, newOffers overcommit.Result
	features             map[string]bool
}

// podEffects are the pods that the new thresholds suppress or evict at once and the old ones do not.
func podEffects(in pressureInput) []PodEffect {
	p := newPressure(in)
	if p == nil {
		return nil
	}
	before := p.effects(in.old, in.oldOffers)
	had := map[[3]string]bool{}
	for _, effect := range before {
		had[[3]string{effect.Namespace, effect.Name, effect.Effect}] = true
	}
	return slices.DeleteFunc(p.effects(in.new, in.newOffers), func(effect PodEffect) bool {
		return had[[3]string{effect.Namespace, effect.Name, effect.Effect}]
	})
}

// pressure is what is known of one node's load.
type pressure struct {
	in pressureInput
	// load is what suppression looks at, node and pods what eviction does.
	load suppression.Measurement
	node eviction.Node
	pods []eviction.Pod
}

// newPressure reads a node's load; nil where the measurements cannot be believed, for then nothing is said to happen.
func newPressure(in pressureInput) *pressure {
	survey := overcommit.AssessMetric(in.node)
	if survey.State != diagnosticsv1alpha1.MetricFresh && survey.State != diagnosticsv1alpha1.MetricStale {
		return nil
	}
	size := capacity.Of(in.node.Node)
	reserved := size.KubeletReserved().MilliCPU
	if reservation, err := extension.GetNodeReservation(in.node.Node.Annotations); err == nil && reservation != nil {
		reserved = max(reserved, amount(reservation.Resources).MilliCPU)
	}
	used := amount(in.node.Metric.Status.NodeMetric.NodeUsage.ResourceList)
	p := &pressure{
		in:   in,
		load: suppression.Measurement{Capacity: size.Total.MilliCPU, Reserved: reserved, NodeUsed: used.MilliCPU},
		node: eviction.Node{Capacity: size.Total, Used: used},
	}
	// How old a measurement may be was assessed above, by the node's own report interval.
	p.node.At = in.node.Now
	for _, application := range in.node.Metric.Status.HostApplicationMetric {
		if application != nil {
			p.load.HostApplications = append(p.load.HostApplications, suppression.Load{
				Name: application.Name, QoS: application.QoS, Used: amount(application.Usage.ResourceList).MilliCPU,
			})
		}
	}
	p.readPods()
	return p
}

// readPods reads the pods of the node with what they use. Use of a pod that is not there counts as use above best effort.
func (p *pressure) readPods() {
	used := make(map[[2]string]podrequest.Amount, len(p.in.node.Metric.Status.PodsMetric))
	for _, info := range p.in.node.Metric.Status.PodsMetric {
		if info != nil {
			used[[2]string{info.Namespace, info.Name}] = amount(info.PodUsage.ResourceList)
		}
	}
	classes := make(map[[2]string]extension.QoSClass, len(p.in.node.Pods))
	p.pods = make([]eviction.Pod, 0, len(p.in.node.Pods))
	p.load.Pods = make([]suppression.Load, 0, len(used))
	for _, pod := range p.in.node.Pods {
		if !podrequest.Consumes(pod) {
			continue
		}
		key := [2]string{pod.Namespace, pod.Name}
		var uses *podrequest.Amount
		if measured, ok := used[key]; ok {
			uses = &measured
		}
		read := eviction.PodOf(pod, uses)
		classes[key] = read.QoS
		p.pods = append(p.pods, read)
	}
	for key, use := range used {
		p.load.Pods = append(p.load.Pods, suppression.Load{Namespace: key[0], Name: key[1], QoS: classes[key], Used: use.MilliCPU})
	}
}

func amount(list corev1.ResourceList) podrequest.Amount {
	cpu, memory := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
	return podrequest.Amount{MilliCPU: podrequest.Milli(cpu), Memory: podrequest.Whole(memory)}
}

// effects are the pods that thresholds suppress or evict, those that go first first.
func (p *pressure) effects(strategy *slov1alpha1.ResourceThresholdStrategy, offers overcommit.Result) []PodEffect {
	if strategy == nil || strategy.Enable == nil || !*strategy.Enable {
		return nil
	}
	budget := suppression.BudgetOf(p.load, strategy, nil)
	return append(p.suppressed(budget), p.evicted(strategy, offers, budget)...)
}

func (p *pressure) suppressed(budget suppression.Budget) []PodEffect {
	if !budget.Exceeded() || !p.runs(&nodefeature.BECPUSuppress) {
		return nil
	}
	reason := fmt.Sprintf("best-effort pods use %s cores, and %s are left to them at %d%%", cores(budget.BestEffortUsed), cores(budget.Milli), budget.ThresholdPercent)
	var out []PodEffect
	for i := range p.pods {
		if pod := &p.pods[i]; pod.QoS == extension.QoSBE && pod.Used != nil && pod.Used.MilliCPU > 0 {
			out = append(out, p.effect(pod.Ref, Suppressed, nodefeature.BECPUSuppress.Name, reason))
		}
	}
	return out
}

// runs reports whether a feature is on, or not known to be off.
func (p *pressure) runs(feature *nodefeature.Spec) bool {
	return p.in.features == nil || feature.On(p.in.features)
}

func (p *pressure) effect(pod eviction.Ref, effect, feature, reason string) PodEffect {
	return PodEffect{Namespace: pod.Namespace, Name: pod.Name, Node: p.in.node.Node.Name, Effect: effect, Feature: feature, Reason: reason}
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }
