package amplification

import (
	"fmt"
	"math/big"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Amplifiable are the resources of a node that can be amplified, in order.
func Amplifiable() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// Show returns the node as its status is to be stored, and says how that came about. Before is the node as it was stored;
// neither is modified. What allocatable holds is what the kubelet offers, unless it is what the node showed before: then
// the raw amount that was kept counts on. So a status that any client writes, at any time, and any number of times, is
// never amplified twice. Without ratios, or with ratios that cannot be read, the raw amount is shown.
func Show(before, node *corev1.Node) (*corev1.Node, Showings) {
	trace := Showings{}
	read := func(list corev1.ResourceList, err error) corev1.ResourceList {
		if err != nil {
			trace.Problems = append(trace.Problems, err.Error())
		}
		return list
	}
	w := writing{before: before, kept: read(extension.GetNodeRawAllocatable(node.Annotations))}
	for _, name := range Amplifiable() {
		if old, ok := w.kept[name]; ok && !credible(name, old, before.Status.Allocatable[name]) {
			trace.Problems = append(trace.Problems, fmt.Sprintf("annotation %q: %s of %s cannot be what the node offers; it counts as absent", extension.AnnotationNodeRawAllocatable, old.String(), name))
			delete(w.kept, name)
		}
	}
	var err error
	if w.ratios, err = extension.GetNodeAmplificationRatios(node.Annotations); err != nil {
		trace.Problems = append(trace.Problems, err.Error())
	}
	if w.former, err = extension.GetNodeAmplificationRatios(before.Annotations); err != nil {
		w.former = nil
	}
	out := node.DeepCopy()
	raw := corev1.ResourceList{}
	for _, name := range Amplifiable() {
		offered, ok := node.Status.Allocatable[name]
		if !ok {
			continue
		}
		showing := w.show(name, offered)
		if showing.amplified() {
			raw[name] = showing.Raw
			trace.Amplified = append(trace.Amplified, showing)
		}
		if showing.Shown.Cmp(offered) != 0 {
			out.Status.Allocatable[name] = showing.Shown
		}
	}
	if err := setRaw(out, w.kept, raw); err != nil {
		trace.Problems = append(trace.Problems, err.Error())
		return node, trace
	}
	return out, trace
}

// credible reports whether a raw amount can be one of which the node shows what is stored: at least a unit, not more, and no smaller than
// the largest ratio makes of it. Somebody else may have written it.
func credible(name corev1.ResourceName, raw, stored resource.Quantity) bool {
	least := *resource.NewQuantity(1, resource.DecimalSI)
	if name == corev1.ResourceCPU {
		least = *resource.NewMilliQuantity(1, resource.DecimalSI)
	}
	if raw.Cmp(least) < 0 {
		return false
	}
	most := new(big.Int).Mul(big.NewInt(amount(name, raw)), big.NewInt(largest/100))
	return stored.IsZero() || most.Cmp(big.NewInt(amount(name, stored))) >= 0
}

// Showings say how a node is shown.
type Showings struct {
	// Amplified lists the resources that are shown larger, in order.
	Amplified []Showing
	// Problems names the annotations that could not be read; their effect is left out.
	Problems []string
}

// writing is what is known when a status is written.
type writing struct {
	before         *corev1.Node
	kept           corev1.ResourceList
	former, ratios map[corev1.ResourceName]extension.Ratio
}

// Showing is how one resource of a node is shown.
type Showing struct {
	Resource corev1.ResourceName
	// Raw is what the kubelet offers, Shown what the node shows.
	Raw, Shown resource.Quantity
	// Ratio between them.
	Ratio extension.Ratio
}

func (s Showing) amplified() bool { return percentOf(s.Ratio) > 100 }

func (w writing) show(name corev1.ResourceName, offered resource.Quantity) Showing {
	out := Showing{Resource: name, Raw: offered, Ratio: w.ratios[name]}
	if old, ok := w.kept[name]; ok && w.shows(name, offered, old) {
		out.Raw = old
	}
	out.Shown = out.Raw
	if out.amplified() {
		out.Shown = quantity(name, shown(name, amount(name, out.Raw), w.ratios), out.Raw.Format)
	}
	return out
}

// shows reports whether an amount is what the node showed of the raw amount it kept: by the ratio it had, or, when no component
// changes the amount now, by one that was replaced since. A smaller amount never is: it came while nothing was amplified.
func (w writing) shows(name corev1.ResourceName, offered, kept resource.Quantity) bool {
	if amount(name, offered) == shown(name, amount(name, kept), w.former) {
		return true
	}
	stored, ok := w.before.Status.Allocatable[name]
	return ok && stored.Cmp(offered) == 0 && offered.Cmp(kept) > 0
}

// setRaw keeps the raw amounts in the annotation. One that says the same stays as it is written.
func setRaw(node *corev1.Node, kept, raw corev1.ResourceList) error {
	if len(raw) == 0 {
		return extension.SetNodeRawAllocatable(node, nil)
	}
	same := len(kept) == len(raw)
	for name, quantity := range raw {
		old, ok := kept[name]
		same = same && ok && old.Cmp(quantity) == 0
	}
	if same {
		return nil
	}
	return extension.SetNodeRawAllocatable(node, raw)
}

func amount(name corev1.ResourceName, quantity resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return max(podrequest.Milli(quantity), 0)
	}
	return max(podrequest.Whole(quantity), 0)
}

func quantity(name corev1.ResourceName, amount int64, format resource.Format) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(amount, format)
	}
	return *resource.NewQuantity(amount, format)
}
