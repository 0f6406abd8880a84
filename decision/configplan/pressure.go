package configplan

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/capacity"
	"koordinator.sh/koord/decision/overcommit"
	"koordinator.sh/koord/decision/podrequest"
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

// pressureInput is one node with its thresholds before and after. The batch offers are in milli-cores and bytes.
type pressureInput struct {
	node                           overcommit.NodeInput
	old, new                       *slov1alpha1.ResourceThresholdStrategy
	oldBatch, newBatch             int64
	oldBatchMemory, newBatchMemory int64
	features                       map[string]bool
}

// podEffects are the pods that the new thresholds suppress or evict at once and the old ones do not.
func podEffects(in pressureInput) []PodEffect {
	p := newPressure(in)
	if p == nil {
		return nil
	}
	before := p.effects(in.old, in.oldBatch, in.oldBatchMemory)
	had := map[[3]string]bool{}
	for _, effect := range before {
		had[[3]string{effect.Namespace, effect.Name, effect.Effect}] = true
	}
	return slices.DeleteFunc(p.effects(in.new, in.newBatch, in.newBatchMemory), func(effect PodEffect) bool {
		return had[[3]string{effect.Namespace, effect.Name, effect.Effect}]
	})
}

// pressure is what is known of one node's load.
type pressure struct {
	in       pressureInput
	total    podrequest.Amount
	reserved podrequest.Amount
	// used by the node, by pods, by best-effort pods, by applications outside of Kubernetes and by those of them that are
	// not best effort.
	used, onPods, bestEffort, onHost, hostAbove podrequest.Amount
	pods                                        []loadedPod
}

// loadedPod is a pod with what it requests and uses.
type loadedPod struct {
	pod      *corev1.Pod
	requests podrequest.Requests
	used     podrequest.Amount
}

// newPressure reads a node's load; nil where the measurements cannot be believed, for then nothing is said to happen.
func newPressure(in pressureInput) *pressure {
	survey := overcommit.AssessMetric(in.node)
	if survey.State != diagnosticsv1alpha1.MetricFresh && survey.State != diagnosticsv1alpha1.MetricStale {
		return nil
	}
	size := capacity.Of(in.node.Node)
	p := &pressure{in: in, total: size.Total, reserved: size.KubeletReserved()}
	if reservation, err := extension.GetNodeReservation(in.node.Node.Annotations); err == nil && reservation != nil {
		kept := amount(reservation.Resources)
		p.reserved = podrequest.Amount{MilliCPU: max(p.reserved.MilliCPU, kept.MilliCPU), Memory: max(p.reserved.Memory, kept.Memory)}
	}
	p.used = amount(in.node.Metric.Status.NodeMetric.NodeUsage.ResourceList)
	for _, application := range in.node.Metric.Status.HostApplicationMetric {
		if application == nil {
			continue
		}
		used := amount(application.Usage.ResourceList)
		p.onHost = p.onHost.Add(used)
		if application.QoS != extension.QoSBE {
			p.hostAbove = p.hostAbove.Add(used)
		}
	}
	p.readPods()
	return p
}

func (p *pressure) readPods() {
	used := make(map[[2]string]podrequest.Amount, len(p.in.node.Metric.Status.PodsMetric))
	for _, info := range p.in.node.Metric.Status.PodsMetric {
		if info != nil {
			amount := amount(info.PodUsage.ResourceList)
			used[[2]string{info.Namespace, info.Name}] = amount
			p.onPods = p.onPods.Add(amount)
		}
	}
	for _, pod := range p.in.node.Pods {
		if !podrequest.Consumes(pod) {
			continue
		}
		loaded := loadedPod{pod: pod, requests: podrequest.Of(pod), used: used[[2]string{pod.Namespace, pod.Name}]}
		if loaded.requests.QoS == extension.QoSBE {
			p.bestEffort = p.bestEffort.Add(loaded.used)
		}
		p.pods = append(p.pods, loaded)
	}
}

func amount(list corev1.ResourceList) podrequest.Amount {
	cpu, memory := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
	return podrequest.Amount{MilliCPU: cpu.MilliValue(), Memory: memory.Value()}
}

// budget is what suppression leaves to best-effort pods, in milli-cores:
//
//	capacity x threshold - use of pods above best effort - use of applications above - max(use of neither, reserved)
//
// and at least capacity x minimum.
func (p *pressure) budget(strategy *slov1alpha1.ResourceThresholdStrategy) int64 {
	threshold, least := orElse(strategy.CPUSuppressThresholdPercent, 65), orElse(strategy.CPUSuppressMinPercent, 0)
	above := p.onPods.MilliCPU - p.bestEffort.MilliCPU
	system := max(p.used.MilliCPU-p.onPods.MilliCPU-p.onHost.MilliCPU, p.reserved.MilliCPU)
	left := capacity.Percent(p.total.MilliCPU, threshold) - above - p.hostAbove.MilliCPU - system
	return max(left, capacity.Percent(p.total.MilliCPU, least), 0)
}

func orElse(value *int64, fallback int64) int64 {
	if value == nil {
		return fallback
	}
	return *value
}

// effects are the pods that thresholds suppress or evict, those that go first first.
func (p *pressure) effects(strategy *slov1alpha1.ResourceThresholdStrategy, batchCPU, batchMemory int64) []PodEffect {
	if strategy == nil || strategy.Enable == nil || !*strategy.Enable {
		return nil
	}
	out := p.suppressed(strategy)
	evictions := []eviction{
		p.forSatisfaction(strategy, batchCPU), p.forMemory(strategy), p.forCPU(strategy),
		p.forRequests(strategy, true, batchCPU), p.forRequests(strategy, false, batchMemory),
	}
	gone := map[*corev1.Pod]bool{}
	for _, e := range evictions {
		out = append(out, p.evicted(e, gone)...)
	}
	return out
}

func (p *pressure) suppressed(strategy *slov1alpha1.ResourceThresholdStrategy) []PodEffect {
	budget := p.budget(strategy)
	if p.bestEffort.MilliCPU <= budget || !p.runs("BECPUSuppress", true) {
		return nil
	}
	var out []PodEffect
	for i := range p.pods {
		if pod := &p.pods[i]; pod.requests.QoS == extension.QoSBE && pod.used.MilliCPU > 0 {
			out = append(out, p.effect(pod.pod, Suppressed, "BECPUSuppress",
				fmt.Sprintf("best-effort pods use %s cores, and %s are left to them at %d %%", cores(p.bestEffort.MilliCPU), cores(budget),
					orElse(strategy.CPUSuppressThresholdPercent, 65))))
		}
	}
	return out
}

// runs says whether a feature is on, or not known to be off.
func (p *pressure) runs(feature string, byDefault bool) bool {
	if p.in.features == nil {
		return true
	}
	set, ok := p.in.features[feature]
	return set || !ok && byDefault
}

func (p *pressure) effect(pod *corev1.Pod, effect, feature, reason string) PodEffect {
	return PodEffect{Namespace: pod.Namespace, Name: pod.Name, Node: p.in.node.Node.Name, Effect: effect, Feature: feature, Reason: reason}
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }

// byPriority orders pods of the lowest priority first.
func byPriority(a, b *loadedPod) int { return cmp.Compare(priority(a.pod), priority(b.pod)) }

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
