package normalization

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

// Explain tells a result as a waterfall in percent and how the node's annotation differs; nil when nothing is configured
// for the node and its annotation says nothing.
func (r Result) Explain(in Input, configMap types.NamespacedName) (*diagnosticsv1alpha1.Waterfall, *diagnosticsv1alpha1.PublishedResource) {
	said, _ := published(in.Node)
	if !r.Trace.Enabled && said == 0 && r.Write == "" {
		return nil, nil
	}
	policy := "configured"
	if !r.Trace.Enabled {
		policy = "disabled"
	}
	annotation := "metadata.annotations[" + extension.AnnotationCPUNormalizationRatio + "]"
	term := diagnosticsv1alpha1.Term{
		Name: "ratio", Operator: diagnosticsv1alpha1.Start, Value: r.Percent, Unit: diagnosticsv1alpha1.Percent, Note: r.Trace.Reason,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: in.Node.Name, Field: annotation},
	}
	switch {
	case r.Trace.Setting != "":
		term.Source = &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: configMap.Namespace, Name: configMap.Name,
			Field: fmt.Sprintf("data[%s].%s", configuration.CPUNormalizationConfigKey, r.Trace.Setting)}
		term.Note += fmt.Sprintf("; hyper-threading %s, turbo %s", onOff(r.Trace.HyperThread), onOff(r.Trace.Turbo))
	case !r.Trace.Enabled && r.Trace.EnabledBy == configmerge.LayerNodeLabel:
		term.Source.Field = "metadata.labels[" + extension.LabelCPUNormalizationEnabled + "]"
	}
	name := extension.AnnotationCPUNormalizationRatio
	fall := &diagnosticsv1alpha1.Waterfall{
		Resource: name, Unit: diagnosticsv1alpha1.Percent, Policy: policy, Result: r.Percent, Message: r.Trace.Reason,
		Terms: []diagnosticsv1alpha1.Term{term, {Name: "result", Operator: diagnosticsv1alpha1.Result, Value: r.Percent, Unit: diagnosticsv1alpha1.Percent}},
	}
	there := &diagnosticsv1alpha1.PublishedResource{Resource: name, Unit: diagnosticsv1alpha1.Percent, Computed: &r.Percent, State: diagnosticsv1alpha1.InSync}
	if said > 0 {
		there.Published = &said
	}
	switch {
	case r.Write != "" && said > 0:
		there.State, there.Reason = diagnosticsv1alpha1.Pending, "the annotation is written at the next reconciliation"
	case r.Write != "":
		there.State, there.Reason = diagnosticsv1alpha1.NotPublished, "the annotation is written at the next reconciliation"
	case said == 0:
		there.State, there.Reason = diagnosticsv1alpha1.NotPublished, r.Trace.Reason
	}
	return fall, there
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}

// Trace says how a ratio came about.
type Trace struct {
	// Enabled is true when normalization is on for the node.
	Enabled bool `json:"enabled"`
	// EnabledBy is the layer that turned it on or off, by the name that configmerge gives it.
	EnabledBy string `json:"enabledBy"`
	// Model and the modes of the cpu; empty when they are not known or not asked for.
	Model       string `json:"model,omitempty"`
	HyperThread bool   `json:"hyperThread,omitempty"`
	Turbo       bool   `json:"turbo,omitempty"`
	// Setting is the path of the ratio in cpu-normalization-config; empty when none was taken.
	Setting string `json:"setting,omitempty"`
	// Reason is one sentence.
	Reason string `json:"reason"`
	// Problems names what could not be read; its effect is left out.
	Problems []string `json:"problems,omitempty"`
}
