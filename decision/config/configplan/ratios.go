package configplan

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/amplification"
	"koordinator.sh/koord/decision/noderesource/nodeextension"
)

// RatioChange is a ratio that a node's annotation states, before and after.
type RatioChange struct {
	// Annotation such as node.koordinator.sh/cpu-normalization-ratio.
	Annotation string `json:"annotation"`
	// Old and New value; empty when the annotation is absent.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Reason says where the new value comes from.
	Reason string `json:"reason,omitempty"`
}

const (
	normalizationRatio = extension.AnnotationCPUNormalizationRatio
	amplificationRatio = extension.AnnotationNodeResourceAmplificationRatio
)

// ratios is what the controller writes of the ratios of one node by one configuration.
type ratios struct {
	// node with the annotations written; status as it was.
	node *corev1.Node
	nodeextension.Verdict
}

// ratiosOf decides by the controller's own decision. A node is not modified.
func (b *builder) ratiosOf(node *corev1.Node, config configmerge.Config) ratios {
	cpu := &nodeextension.CPU{Info: b.in.CPUs[node.Name], Unknown: "its NodeResourceTopology does not name it, or was not read"}
	out := ratios{annotated(node), nodeextension.Decide(nodeextension.Input{Node: node, Config: config, CPU: cpu}, nil)}
	for key, value := range out.Annotations() {
		if value == nil {
			delete(out.node.Annotations, key)
		} else {
			out.node.Annotations[key] = *value
		}
	}
	return out
}

// annotated is a node whose annotations may be changed.
func annotated(node *corev1.Node) *corev1.Node {
	out := *node
	out.Annotations = maps.Clone(node.Annotations)
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	return &out
}

// takenBack is a node as the new configuration finds it once the ratios that the old one wrote are not its own: who wrote an
// annotation is not read for a plan, and what the old configuration would write anyway was written by it.
func (b *builder) takenBack(node *corev1.Node, old ratios) *corev1.Node {
	out := annotated(node)
	if old.Normalization.Enabled && old.Normalization.Write == "" && b.in.CPUs[node.Name] != nil {
		delete(out.Annotations, normalizationRatio)
	}
	if old.Amplification.Computed && old.Amplification.Write == "" {
		delete(out.Annotations, amplificationRatio)
	}
	return out
}

// ratioChanges compares the ratios by the two configurations, and returns the node as each leaves it.
func (b *builder) ratioChanges(node *corev1.Node, facts *nodeFacts) (before, after *corev1.Node) {
	old := b.ratiosOf(node, b.in.Old)
	next := b.ratiosOf(b.takenBack(node, old), b.in.New)
	add := func(annotation, reason string) {
		was, is := old.node.Annotations[annotation], next.node.Annotations[annotation]
		if was != is && !(annotation == normalizationRatio && unit(was) && unit(is)) {
			facts.change.Ratios = append(facts.change.Ratios, RatioChange{Annotation: annotation, Old: was, New: is, Reason: reason})
		}
	}
	add(normalizationRatio, next.Normalization.Reason)
	add(amplificationRatio, next.Amplification.Reason)
	if old.node.Annotations[amplificationRatio] != next.node.Annotations[amplificationRatio] {
		b.shown(node, old.node, next.node, facts)
	}
	return old.node, next.node
}

// unit says whether an annotation states that a cpu is worth one.
func unit(ratio string) bool { return ratio == "" || ratio == "1.00" }

// shownAmount is what a node's status states by the old and by the new amplification.
type shownAmount struct{ old, new resource.Quantity }

// shown adds how much larger the node is shown by its amplification, once the kubelet writes the node's status.
func (b *builder) shown(node, before, after *corev1.Node, facts *nodeFacts) {
	old, _ := amplification.Show(node, before)
	next, _ := amplification.Show(old, withStatus(after, old))
	for _, name := range amplification.Amplifiable() {
		was, is := old.Status.Allocatable[name], next.Status.Allocatable[name]
		if was.Cmp(is) == 0 {
			continue
		}
		if facts.shown == nil {
			facts.shown = map[corev1.ResourceName]shownAmount{}
		}
		facts.shown[name] = shownAmount{was, is}
		change := OfferChange{Resource: name, Unit: diagnosticsv1alpha1.Bytes, Reason: "shown with the kubelet's next status, where the node webhook is on"}
		amount := func(q resource.Quantity) int64 { return q.Value() }
		if name == corev1.ResourceCPU {
			change.Unit, amount = diagnosticsv1alpha1.MilliCPU, func(q resource.Quantity) int64 { return q.MilliValue() }
		}
		change.Old, change.New, change.Published = new(amount(was)), new(amount(is)), new(amount(node.Status.Allocatable[name]))
		facts.change.Offers = append(facts.change.Offers, change)
	}
}

// withStatus is a node with the status, and the raw amounts kept with it, of another.
func withStatus(node, of *corev1.Node) *corev1.Node {
	out := annotated(node)
	out.Status = of.Status
	if raw, ok := of.Annotations[extension.AnnotationNodeRawAllocatable]; ok {
		out.Annotations[extension.AnnotationNodeRawAllocatable] = raw
	}
	return out
}
