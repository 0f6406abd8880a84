package amplification

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Trace says how the ratios came about. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Steps by resource, in the order of names.
	Steps []Step `json:"steps,omitempty"`

	input Input
}

// Step is how one ratio came about, in percent.
type Step struct {
	Resource corev1.ResourceName `json:"resource"`
	// Configured ratio, 100 when there is none; Normalization is that of the cpu, 100 for all other resources.
	Configured    int64 `json:"configured"`
	Normalization int64 `json:"normalization"`
	// Percent is the product.
	Percent int64 `json:"percent"`
	// Layer that the configured ratio came from; empty when there is none.
	Layer string `json:"layer,omitempty"`
}

func (t *Trace) begin(in *Input) {
	if t != nil {
		*t = Trace{input: *in}
	}
}

func (t *Trace) computed(step Step) {
	if t != nil {
		t.Steps = append(t.Steps, step)
	}
}

// Waterfalls tell what the node shows of its cpu and memory, for each that is amplified or still shown so:
// capacity - kubelet reserved = raw, physical; times the ratio = shown.
func (t *Trace) Waterfalls(verdict Verdict, configMap types.NamespacedName) ([]diagnosticsv1alpha1.Waterfall, []diagnosticsv1alpha1.PublishedResource) {
	var falls []diagnosticsv1alpha1.Waterfall
	var published []diagnosticsv1alpha1.PublishedResource
	has := capacity.Of(t.input.Node)
	for _, name := range Amplifiable() {
		e := explanation{node: t.input.Node.Name, name: name, unit: diagnosticsv1alpha1.Bytes, pick: func(a podrequest.Amount) int64 { return a.Memory }}
		if name == corev1.ResourceCPU {
			e.unit, e.pick = diagnosticsv1alpha1.MilliCPU, func(a podrequest.Amount) int64 { return a.MilliCPU }
		}
		raw, now := e.pick(has.Raw), e.pick(has.Shown)
		percent := max(percentOf(verdict.Ratios[name]), 100)
		if percent == 100 && raw == now {
			continue
		}
		wanted := shown(name, raw, verdict.Ratios)
		falls = append(falls, e.waterfall(t.step(name, percent), has, raw, wanted, configMap))
		there := diagnosticsv1alpha1.PublishedResource{Resource: string(name), Unit: e.unit, Published: &now, Computed: &wanted, State: diagnosticsv1alpha1.InSync}
		if now != wanted {
			there.State = diagnosticsv1alpha1.Pending
			there.Reason = "the webhook of koord-manager amplifies it when node.status is written next"
		}
		published = append(published, there)
	}
	return falls, published
}

// step is how the ratio of a resource came about; one that is not koord-manager's stands for itself.
func (t *Trace) step(name corev1.ResourceName, percent int64) Step {
	for _, step := range t.Steps {
		if step.Resource == name {
			return step
		}
	}
	return Step{Resource: name, Percent: percent}
}

// explanation writes the waterfall of one resource.
type explanation struct {
	node string
	name corev1.ResourceName
	unit diagnosticsv1alpha1.Unit
	pick func(podrequest.Amount) int64
}

func (e explanation) waterfall(step Step, has capacity.Capacity, raw, wanted int64, configMap types.NamespacedName) diagnosticsv1alpha1.Waterfall {
	source := func(field string) *diagnosticsv1alpha1.SourceRef {
		return &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: e.node, Field: field}
	}
	times := diagnosticsv1alpha1.Term{
		Name: "amplification", Operator: diagnosticsv1alpha1.Times, Value: step.Percent, Unit: diagnosticsv1alpha1.Percent,
		Source: source("metadata.annotations[" + extension.AnnotationNodeResourceAmplificationRatio + "]"),
		Note:   "terms below are amplified",
	}
	if step.Configured > 0 {
		times.Parts = e.parts(step, configMap)
	}
	return diagnosticsv1alpha1.Waterfall{
		Resource: string(e.name), Unit: e.unit, Policy: "amplified", Result: wanted,
		Message: fmt.Sprintf("allocatable[%s]:%d = raw:%d * amplificationRatio:%.2f", e.name, wanted, raw, float64(step.Percent)/100),
		Terms: []diagnosticsv1alpha1.Term{
			{Name: "capacity", Operator: diagnosticsv1alpha1.Start, Value: e.pick(has.Total), Unit: e.unit, Source: source("status.capacity." + string(e.name))},
			{Name: "kubeletReserved", Operator: diagnosticsv1alpha1.Minus, Value: e.pick(has.Total) - raw, Unit: e.unit,
				Source: source("metadata.annotations[" + extension.AnnotationNodeRawAllocatable + "]"), Note: "capacity - allocatable"},
			times,
			{Name: "result", Operator: diagnosticsv1alpha1.Result, Value: wanted, Unit: e.unit},
		},
	}
}

func (e explanation) parts(step Step, configMap types.NamespacedName) []diagnosticsv1alpha1.Term {
	configured := diagnosticsv1alpha1.Term{
		Name: "configured", Operator: diagnosticsv1alpha1.Start, Value: step.Configured, Unit: diagnosticsv1alpha1.Percent,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: configMap.Namespace, Name: configMap.Name,
			Field: fmt.Sprintf("data[%s].resourceAmplificationRatio.%s", configuration.ResourceAmplificationConfigKey, e.name)},
		Note: step.Layer,
	}
	if step.Layer == "" || step.Layer == configmerge.LayerDefault {
		configured.Source, configured.Note = &diagnosticsv1alpha1.SourceRef{Kind: "Default"}, "nothing is configured"
	}
	return []diagnosticsv1alpha1.Term{configured, {
		Name: "cpuNormalization", Operator: diagnosticsv1alpha1.Times, Value: step.Normalization, Unit: diagnosticsv1alpha1.Percent,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: e.node,
			Field: "metadata.annotations[" + extension.AnnotationCPUNormalizationRatio + "]"},
	}}
}
