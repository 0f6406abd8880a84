package configplan

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// Bucket counts the nodes whose offer of one resource changes by a share within its bounds.
type Bucket struct {
	// Resource such as kubernetes.io/batch-cpu.
	Resource corev1.ResourceName `json:"resource"`
	// Label says the bounds in words, such as -20..-5 %.
	Label string `json:"label"`
	// Nodes in the bucket.
	Nodes int `json:"nodes"`
}

// buckets of change in percent, from the worst. Each takes what is at least its bound and below the next one's.
var buckets = []struct {
	label string
	from  float64
}{
	{"-100..-50%", -100}, {"-50..-20%", -50}, {"-20..-5%", -20}, {"-5..0%", -5}, {"0..+5%", 0}, {"+5..+20%", 5}, {"+20..+50%", 20}, {"+50% and more", 50},
}

// Labels of nodes that are in none of the buckets by share.
const (
	bucketWithdrawn = "withdrawn"
	bucketUnchanged = "unchanged"
	bucketNew       = "newly offered"
	bucketUnknown   = "not known"
)

// bucketLabels in the order of a histogram, from the worst to the best.
func bucketLabels() []string {
	labels := []string{bucketWithdrawn}
	for _, bucket := range buckets {
		if bucket.from == 0 {
			labels = append(labels, bucketUnchanged)
		}
		labels = append(labels, bucket.label)
	}
	return append(labels, bucketNew, bucketUnknown)
}

// bucketOf finds the bucket of a change.
func bucketOf(old, is overcommit.Value) string {
	before, after := offered(old), offered(is)
	switch {
	case before == after && old.Withdrawn == is.Withdrawn:
		return bucketUnchanged
	case is.Withdrawn:
		return bucketWithdrawn
	case before == 0:
		return bucketNew
	}
	share := (float64(after) - float64(before)) / float64(before) * 100
	label := buckets[0].label
	for _, bucket := range buckets {
		if share >= bucket.from {
			label = bucket.label
		}
	}
	return label
}

// histogram counts nodes by resource and bucket. Resources that change on no node are left out.
func (b *builder) histogram() {
	for i, name := range overcommit.Resources() {
		counts := map[string]int{}
		for n := range b.facts {
			label := bucketUnknown
			if !b.facts[n].unknown[i] {
				label = bucketOf(b.facts[n].old[i], b.facts[n].new[i])
			}
			counts[label]++
		}
		if counts[bucketUnchanged] == len(b.facts) {
			continue
		}
		for _, label := range bucketLabels() {
			if counts[label] > 0 {
				b.plan.Histogram = append(b.plan.Histogram, Bucket{Resource: name, Label: label, Nodes: counts[label]})
			}
		}
	}
}

// summarize counts what was found.
func (b *builder) summarize() {
	b.histogram()
	s := &b.plan.Summary
	s.Nodes, s.NodesAffected = len(b.in.Nodes), len(b.plan.Nodes)
	s.PodsSuppressed, s.PodsEvicted, s.NodesOvercommitted = new(int), new(int), new(int)
	if b.in.SLOs != nil {
		s.NodesUnconverged = new(int)
	}
	for i := range b.facts {
		facts := &b.facts[i]
		if facts.settings.writes("NodeSLO") {
			s.NodeSLOs++
		}
		if facts.settings.writes("NodeMetric") {
			s.NodeMetrics++
		}
		if facts.overOffer {
			*s.NodesOvercommitted++
		}
		if facts.unconverged {
			*s.NodesUnconverged++
			b.plan.Unconverged = append(b.plan.Unconverged, facts.change.Name)
		}
		*s.PodsSuppressed += facts.change.Suppressed
		*s.PodsEvicted += facts.change.Evicted
	}
	b.forget()
	b.incomplete()
	slices.Sort(b.plan.Unconverged)
	for i, name := range overcommit.Resources() {
		if slices.Contains(s.OffersUnknown, name) {
			continue
		}
		var old, is int64
		for n := range b.facts {
			old, is = old+offered(b.facts[n].old[i]), is+offered(b.facts[n].new[i])
		}
		if old != is {
			s.Offers = append(s.Offers, OfferChange{Resource: name, Unit: UnitOf(name), Old: &old, New: &is})
		}
	}
}

// forget takes away the sums that have a part that is not known.
func (b *builder) forget() {
	s := &b.plan.Summary
	for i, name := range overcommit.Resources() {
		open := slices.ContainsFunc(b.facts, func(f nodeFacts) bool { return f.unknown[i] || f.old[i].Unknown != "" || f.new[i].Unknown != "" })
		changes := slices.ContainsFunc(b.facts, func(f nodeFacts) bool { return f.unknown[i] || offered(f.old[i]) != offered(f.new[i]) })
		if open && changes {
			s.OffersUnknown = append(s.OffersUnknown, name)
		}
	}
	if slices.ContainsFunc(b.facts, func(f nodeFacts) bool { return f.unknownPods }) {
		s.PodsSuppressed, s.PodsEvicted = nil, nil
	}
	unlisted := b.in.Unknown.Has(unknown.Pods) && slices.ContainsFunc(b.facts, func(f nodeFacts) bool { return len(f.change.Offers) > 0 })
	if unlisted || len(s.OffersUnknown) > 0 {
		s.NodesOvercommitted = nil
	}
}

// incomplete says what the plan cannot foresee.
func (b *builder) incomplete() {
	predicted := 0
	for i := range b.facts {
		if b.facts[i].predicted {
			predicted++
		}
	}
	if predicted > 0 {
		b.plan.Incomplete = append(b.plan.Incomplete, fmt.Sprintf("on %d nodes a predictor has a part in the offers: what pods used in the past is known to "+
			"koord-manager alone, so their offers are given without prediction, and batch will be less", predicted))
	}
}

// UnitOf is the unit of cpu, memory and the resources of batch and mid.
func UnitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	if name == corev1.ResourceCPU || name == extension.BatchCPU || name == extension.MidCPU {
		return diagnosticsv1alpha1.MilliCPU
	}
	return diagnosticsv1alpha1.Bytes
}

// requestsOf adds up what the pods of a node have requested of the tiers.
func requestsOf(pods []*corev1.Pod) map[corev1.ResourceName]int64 {
	var mid, batch podrequest.Amount
	for _, pod := range pods {
		if podrequest.Consumes(pod) && wantsTier(pod) {
			requests := podrequest.Of(pod).Requests
			mid, batch = mid.Add(requests.Mid), batch.Add(requests.Batch)
		}
	}
	return map[corev1.ResourceName]int64{
		extension.BatchCPU: batch.MilliCPU, extension.BatchMemory: batch.Memory, extension.MidCPU: mid.MilliCPU, extension.MidMemory: mid.Memory,
	}
}

// wantsTier says whether any container names a resource of batch or mid, which most pods do not.
func wantsTier(pod *corev1.Pod) bool {
	wants := func(containers []corev1.Container) bool {
		return slices.ContainsFunc(containers, func(c corev1.Container) bool {
			for name := range c.Resources.Requests {
				if slices.Contains(overcommit.Resources(), name) {
					return true
				}
			}
			return false
		})
	}
	return wants(pod.Spec.Containers) || wants(pod.Spec.InitContainers) || pod.Spec.Resources != nil || len(pod.Spec.Overhead) > 0
}

// compareNames orders by namespace and name.
func compareNames(aNamespace, aName, bNamespace, bName string) int {
	return cmp.Or(cmp.Compare(aNamespace, bNamespace), cmp.Compare(aName, bName))
}
