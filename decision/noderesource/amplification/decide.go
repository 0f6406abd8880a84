package amplification

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/normalization"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/ownership"
)

// largest is the largest ratio that a node's annotation can state, in percent.
const largest = 1000 * 100

// Verdict is the ratios of one node and what follows for its annotation.
type Verdict struct {
	// Ratios by resource, each at least 1; empty when nothing is amplified.
	Ratios map[corev1.ResourceName]extension.Ratio
	// Write is the annotation's new value; empty when it stays as it is or goes.
	Write string
	// Remove is true when the annotation is to go.
	Remove bool
	// Computed is true when the ratios are those of the configuration, false for those that somebody else wrote.
	Computed bool
	// Problem is what could not be read of the node's annotation.
	Problem string
	// Reason is one sentence.
	Reason string
}

// Decide multiplies the configured ratios with what a cpu is worth. Configured ratios below 1 have no effect. An annotation
// that somebody else wrote stays while nothing is configured. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin(&in)
	out := Verdict{Ratios: map[corev1.ResourceName]extension.Ratio{}}
	steps := map[corev1.ResourceName]Step{}
	if enable := in.Strategy.Strategy.Enable; enable != nil && *enable {
		for name, ratio := range in.Strategy.Strategy.ResourceAmplificationRatio {
			percent := math.Round(ratio * 100)
			if percent >= 100 {
				step := Step{Resource: name, Configured: int64(min(percent, largest)), Normalization: 100}
				if trace != nil {
					step.Layer = configmerge.LayerOf(in.Strategy.Settings, "resourceAmplificationRatio."+string(name))
				}
				steps[name] = step
			}
		}
	}
	if worth := min(in.NormalizationPercent, normalization.Largest); worth > 100 {
		step, ok := steps[corev1.ResourceCPU]
		if !ok {
			step = Step{Resource: corev1.ResourceCPU, Configured: 100}
		}
		step.Normalization = worth
		steps[corev1.ResourceCPU] = step
	}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		step := steps[name]
		step.Percent = min((step.Configured*step.Normalization+50)/100, largest)
		out.Ratios[name] = extension.Ratio(float64(step.Percent) / 100)
		trace.computed(step)
	}
	out.Computed = len(steps) > 0
	out.compare(in.Node)
	return out
}

// compare decides what becomes of the annotation.
func (v *Verdict) compare(node *corev1.Node) {
	current, err := extension.GetNodeAmplificationRatios(node.Annotations)
	if err != nil {
		v.Problem = err.Error()
	}
	_, exists := node.Annotations[extension.AnnotationNodeResourceAmplificationRatio]
	if len(v.Ratios) == 0 {
		v.Reason = "nothing is amplified"
		switch {
		case exists && ours(node):
			v.Remove = true
		case exists:
			v.Reason = "not configured; the ratios on the node were not written by koord-manager and are kept"
			v.Ratios = current
		}
		return
	}
	v.Reason = "configured ratio x cpu normalization ratio"
	if err == nil && exists && maps.EqualFunc(current, v.Ratios, same) {
		return
	}
	holder := &metav1.ObjectMeta{}
	if err := extension.SetNodeAmplificationRatios(holder, v.Ratios); err != nil {
		// Ratios within bounds always encode.
		v.Problem = fmt.Sprintf("encode ratios: %v", err)
		return
	}
	v.Write = holder.Annotations[extension.AnnotationNodeResourceAmplificationRatio]
}

func same(a, b extension.Ratio) bool { return percentOf(a) == percentOf(b) }

func percentOf(ratio extension.Ratio) int64 { return int64(math.Round(float64(ratio) * 100)) }

func ours(node *corev1.Node) bool {
	return ownership.Of(node, overcommit.FieldManager).Has("metadata", "annotations", extension.AnnotationNodeResourceAmplificationRatio)
}

// shown is what a node shows of a raw quantity of cpu or memory: the quantity times the ratio, rounded up to thousandths of
// a cpu or to whole bytes.
func shown(name corev1.ResourceName, raw int64, ratios map[corev1.ResourceName]extension.Ratio) int64 {
	return capacity.Amplify(raw, ratios[name])
}
