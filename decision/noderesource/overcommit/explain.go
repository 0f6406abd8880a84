package overcommit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// Bounds of the parts listed under a term.
const (
	DefaultMaxParts = 10
	LargestMaxParts = 1000
)

// MaxParts is how many parts a question wants listed under a term, within the bounds.
func MaxParts(spec diagnosticsv1alpha1.NodeExplanationSpec) int {
	return int(min(max(orDefault(spec.MaxParts, DefaultMaxParts), 0), LargestMaxParts))
}

// ExplainNode answers where a node's batch and mid resources come from, and how node.status differs. Everything is filled
// in except Origin, which only the one who answers knows. A nil node gives a status that says so.
func ExplainNode(in NodeInput, spec diagnosticsv1alpha1.NodeExplanationSpec) diagnosticsv1alpha1.NodeExplanationStatus {
	if in.Node == nil {
		return diagnosticsv1alpha1.NodeExplanationStatus{
			Summary:    fmt.Sprintf("Node %s does not exist.", spec.NodeName),
			Node:       diagnosticsv1alpha1.NodeFacts{Name: spec.NodeName},
			Metric:     diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricAbsent},
			Incomplete: []string{fmt.Sprintf("node %q was not found", spec.NodeName)},
		}
	}
	trace := &Trace{MaxParts: MaxParts(spec)}
	c := newCalculation(&in, trace)
	c.result()
	out := diagnosticsv1alpha1.NodeExplanationStatus{
		Node:     nodeFacts(&in),
		Metric:   c.metric.facts,
		Findings: c.findings(),
		Unknown:  in.Unknown.List(),
	}
	if !in.Unknown.Has(unknown.Configuration) {
		out.Strategy = in.Strategy.Settings
	}
	wanted, unknown := selected(spec.Resources)
	for _, name := range unknown {
		out.Incomplete = append(out.Incomplete,
			fmt.Sprintf("%q is not a resource that can be explained: choose batch-cpu, batch-memory, mid-cpu or mid-memory", name))
	}
	for i, k := range kinds {
		if !wanted[i] {
			continue
		}
		fall := trace.of(k)
		if fall != nil {
			out.Waterfalls = append(out.Waterfalls, *fall)
		}
		out.Published = append(out.Published, c.published(k, fall))
	}
	if spec.Outlook {
		out.Outlook = outlook(in, wanted)
	}
	out.Summary = c.summary(wanted)
	return out
}

// selected says which kinds the names ask for; no names ask for all. Short names and full ones are understood.
func selected(names []string) (wanted [len(kinds)]bool, unknown []string) {
	for _, name := range names {
		known := false
		for i, k := range kinds {
			if name == k.short || name == string(k.name) {
				wanted[i], known = true, true
			}
		}
		if !known {
			unknown = append(unknown, name)
		}
	}
	if len(names) == 0 {
		for i := range wanted {
			wanted[i] = true
		}
	}
	return wanted, unknown
}

// published compares node.status with a waterfall; nil for a resource that could not be computed.
func (c *calculation) published(k kind, fall *diagnosticsv1alpha1.Waterfall) diagnosticsv1alpha1.PublishedResource {
	out := diagnosticsv1alpha1.PublishedResource{Resource: string(k.name), Unit: k.unit(), Published: Published(c.in.Node, k.name)}
	computed := Value{Unknown: c.unknown(k)}
	if fall != nil {
		computed = Value{Value: fall.Result}
		if _, reason := c.withdrawn(k); reason != "" {
			computed.Withdrawn, computed.Reason = true, c.withdrawnBecause(reason)
		}
		out.Computed = &fall.Result
	}
	out.State, out.Reason = NeedsSync(out.Published, computed, c.in.lastSync(), c.in.Strategy.Strategy, c.in.Now)
	return out
}

// withdrawnBecause words a reason for a person where upstream's message only says that the NodeMetric is abnormal.
func (c *calculation) withdrawnBecause(reason string) string {
	if !c.disabled && !c.metric.trusted() {
		return c.metricSentence()
	}
	return reason
}

// nodeFacts is what was seen of the node.
func nodeFacts(in *NodeInput) diagnosticsv1alpha1.NodeFacts {
	facts := diagnosticsv1alpha1.NodeFacts{
		Name:          in.Node.Name,
		Ready:         Ready(in.Node),
		Unschedulable: in.Node.Spec.Unschedulable,
		Capacity:      only(in.Node.Status.Capacity, corev1.ResourceCPU, corev1.ResourceMemory),
		Allocatable:   only(in.Node.Status.Allocatable, append(Resources(), corev1.ResourceCPU, corev1.ResourceMemory)...),
	}
	if in.Unknown.Has(unknown.Pods) {
		return facts
	}
	facts.Pods = new(int32)
	for _, pod := range in.Pods {
		if pod != nil && podrequest.Consumes(pod) {
			*facts.Pods++
		}
	}
	return facts
}

// Ready is the node's Ready condition.
func Ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func only(list corev1.ResourceList, names ...corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range names {
		if quantity, ok := list[name]; ok {
			out[name] = quantity
		}
	}
	return out
}

// summary is the answer in one sentence.
func (c *calculation) summary(wanted [len(kinds)]bool) string {
	name := c.in.Node.Name
	if why := c.in.Unknown.Because(unknown.Configuration); why != "" {
		return fmt.Sprintf("What node %s should offer is unknown: %s.", name, why)
	}
	if c.disabled {
		return fmt.Sprintf("Node %s offers no batch or mid resources: co-location is disabled for it.", name)
	}
	if why := c.in.Unknown.Because(unknown.NodeMetrics); why != "" {
		return fmt.Sprintf("What node %s should offer is unknown: %s.", name, why)
	}
	if !c.metric.trusted() {
		return fmt.Sprintf("Node %s offers no batch or mid resources: %s.", name, c.metricSentence())
	}
	if c.unenforced != "" {
		return fmt.Sprintf("Node %s offers no batch or mid resources: %s.", name, c.unenforcedReason())
	}
	if !c.held.IsZero() {
		return fmt.Sprintf("Node %s offers no batch or mid resources: %s.", name, c.heldReason())
	}
	if c.unreadable != "" {
		return fmt.Sprintf("Node %s offers no batch or mid resources: %s.", name, c.unreadable)
	}
	return c.offers(wanted)
}

// offers is what is offered, and what of it could not be computed.
func (c *calculation) offers(wanted [len(kinds)]bool) string {
	var offers, missing []string
	why, detail := "", ""
	for i, k := range kinds {
		fall := c.trace.of(k)
		switch {
		case !wanted[i]:
		case fall == nil:
			missing, why = append(missing, k.short), c.unknown(k)
		default:
			offers = append(offers, k.offer(fall.Result))
			if !k.mid && detail == "" {
				detail = fmt.Sprintf("; %s is %s%s", k.short, k.format(k.of(c.capacity.Total)), k.subtracted(fall))
			}
		}
	}
	name := c.in.Node.Name
	switch {
	case len(offers)+len(missing) == 0:
		return fmt.Sprintf("No resource of node %s was requested.", name)
	case len(offers) == 0:
		return fmt.Sprintf("What node %s should offer of %s is unknown: %s.", name, strings.Join(missing, ", "), why)
	case len(missing) > 0:
		detail += fmt.Sprintf("; what it should offer of %s is unknown: %s", strings.Join(missing, ", "), why)
	}
	return fmt.Sprintf("Node %s offers %s%s.", name, strings.Join(offers, ", "), detail)
}

// offer says how much of a resource is offered.
func (k kind) offer(value int64) string {
	if value == 0 {
		return "no " + k.short
	}
	return k.format(value) + " of " + k.short
}

// subtracted says in words what the waterfall of a batch resource takes from the capacity.
func (k kind) subtracted(w *diagnosticsv1alpha1.Waterfall) string {
	words := map[string]string{
		"safetyMargin": "safety margin", "systemUsed": "used by the system", "reserved": "reserved",
		"podsUsed": "used by pods above batch", "podsRequested": "requested by pods above batch",
		"podsMaxUsedRequested": "used or requested by pods above batch", "predictedRise": "predicted rise of those pods",
		"thirdParty": "used by other schedulers",
	}
	var b strings.Builder
	for _, t := range w.Terms {
		if word, ok := words[t.Name]; ok && t.Value != 0 {
			fmt.Fprintf(&b, " - %s (%s)", k.format(t.Value), word)
		}
	}
	return b.String()
}
