package normalization

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

// Trace says how a ratio came about. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// EnabledBy is the layer that turned it on or off, by the name that configmerge gives it.
	EnabledBy string `json:"enabledBy"`
	// Model and the modes of the cpu; empty when they are not known or not asked for.
	Model       string `json:"model,omitempty"`
	HyperThread bool   `json:"hyperThread,omitempty"`
	Turbo       bool   `json:"turbo,omitempty"`
	// Setting is the path of the ratio in cpu-normalization-config; empty when none was taken.
	Setting string `json:"setting,omitempty"`

	node *corev1.Node
}

func (t *Trace) begin(in *Input, labelled bool) {
	if t == nil {
		return
	}
	*t = Trace{EnabledBy: configmerge.LayerOf(in.Strategy.Settings, "enable"), node: in.Node}
	if labelled {
		t.EnabledBy = configmerge.LayerNodeLabel
	}
}

func (t *Trace) looked(cpu *extension.CPUBasicInfo) {
	if t != nil {
		t.Model, t.HyperThread, t.Turbo = cpu.CPUModel, cpu.HyperThreadEnabled, cpu.TurboEnabled
	}
}

func (t *Trace) took(setting string) {
	if t != nil {
		t.Setting = setting
	}
}

// Waterfall shows the verdict as a waterfall in percent and how the node's annotation differs; nil when nothing is configured
// for the node and its annotation says nothing.
func (t *Trace) Waterfall(verdict Verdict, configMap types.NamespacedName) (*diagnosticsv1alpha1.Waterfall, *diagnosticsv1alpha1.PublishedResource) {
	said, _ := published(t.node)
	if !verdict.Enabled && said == 0 && verdict.Write == "" {
		return nil, nil
	}
	policy := "configured"
	if !verdict.Enabled {
		policy = "disabled"
	}
	annotation := "metadata.annotations[" + extension.AnnotationCPUNormalizationRatio + "]"
	term := diagnosticsv1alpha1.Term{
		Name: "ratio", Operator: diagnosticsv1alpha1.Start, Value: verdict.Percent, Unit: diagnosticsv1alpha1.Percent, Note: verdict.Reason,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: t.node.Name, Field: annotation},
	}
	switch {
	case t.Setting != "":
		term.Source = &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: configMap.Namespace, Name: configMap.Name,
			Field: fmt.Sprintf("data[%s].%s", configuration.CPUNormalizationConfigKey, t.Setting)}
		term.Note += fmt.Sprintf("; hyper-threading %s, turbo %s", onOff(t.HyperThread), onOff(t.Turbo))
	case !verdict.Enabled && t.EnabledBy == configmerge.LayerNodeLabel:
		term.Source.Field = "metadata.labels[" + extension.LabelCPUNormalizationEnabled + "]"
	}
	name := extension.AnnotationCPUNormalizationRatio
	fall := &diagnosticsv1alpha1.Waterfall{
		Resource: name, Unit: diagnosticsv1alpha1.Percent, Policy: policy, Result: verdict.Percent, Message: verdict.Reason,
		Terms: []diagnosticsv1alpha1.Term{term, {Name: "result", Operator: diagnosticsv1alpha1.Result, Value: verdict.Percent, Unit: diagnosticsv1alpha1.Percent}},
	}
	there := &diagnosticsv1alpha1.PublishedResource{Resource: name, Unit: diagnosticsv1alpha1.Percent, Computed: &verdict.Percent, State: diagnosticsv1alpha1.InSync}
	if said > 0 {
		there.Published = &said
	}
	switch {
	case verdict.Write != "" && said > 0:
		there.State, there.Reason = diagnosticsv1alpha1.Pending, "the annotation is written at the next reconciliation"
	case verdict.Write != "":
		there.State, there.Reason = diagnosticsv1alpha1.NotPublished, "the annotation is written at the next reconciliation"
	case said == 0:
		there.State, there.Reason = diagnosticsv1alpha1.NotPublished, verdict.Reason
	}
	return fall, there
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}
