package normalization

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

const (
	xeon = `{"enable":true,"ratioModel":{"Xeon":{"baseRatio":1.5,"turboEnabledRatio":1.65,"hyperThreadEnabledRatio":1.0,"hyperThreadTurboEnabledRatio":1.1}}}`
	off  = `{"enable":false,"ratioModel":{"Xeon":{"baseRatio":1.5}}}`
	// half lists a mode of one model, and a default.
	half = `{"enable":true,"defaultRatio":1.3,"ratioModel":{"Xeon":{"turboEnabledRatio":1.65}}}`
)

// input is a node with an annotation that koord-manager wrote unless it is given as another's.
func input(t *testing.T, config, annotation, label string, written bool, cpu *extension.CPUBasicInfo) Input {
	t.Helper()
	parsed, problems := configmerge.Parse(map[string]string{"cpu-normalization-config": config})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{}, Labels: map[string]string{}}}
	if annotation != "" {
		node.Annotations[extension.AnnotationCPUNormalizationRatio] = annotation
	}
	if label != "" {
		node.Labels[extension.LabelCPUNormalizationEnabled] = label
	}
	if written {
		node.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "koord-manager", Subresource: "status", FieldsV1: metav1.NewFieldsV1(
			`{"f:metadata":{"f:annotations":{"f:node.koordinator.sh/cpu-normalization-ratio":{}}}}`)}}
	}
	return Input{Node: node, CPU: cpu, Unknown: "no report", Strategy: parsed.CPUNormalization(node)}
}

func TestDecide(t *testing.T) {
	cpu := func(model string, hyperThread, turbo bool) *extension.CPUBasicInfo {
		return &extension.CPUBasicInfo{CPUModel: model, HyperThreadEnabled: hyperThread, TurboEnabled: turbo}
	}
	tests := []struct {
		name, config, annotation, label string
		written                         bool
		cpu                             *extension.CPUBasicInfo
		wantPercent                     int64
		wantWrite                       string
		wantReason                      string
	}{
		{name: "hyper-threading and turbo", config: xeon, cpu: cpu("Xeon", true, true), wantPercent: 110, wantWrite: "1.10", wantReason: "hyperThreadTurboEnabledRatio"},
		{name: "hyper-threading", config: xeon, cpu: cpu("Xeon", true, false), wantPercent: 100, wantWrite: "1.00", wantReason: "hyperThreadEnabledRatio"},
		{name: "turbo", config: xeon, cpu: cpu("Xeon", false, true), wantPercent: 165, wantWrite: "1.65", wantReason: "turboEnabledRatio"},
		{name: "neither", config: xeon, cpu: cpu("Xeon", false, false), wantPercent: 150, wantWrite: "1.50", wantReason: "baseRatio"},
		{name: "nothing is written that is there", config: xeon, annotation: "1.50", cpu: cpu("Xeon", false, false), wantPercent: 150, wantReason: "baseRatio"},
		{name: "less than a hundredth is no difference", config: xeon, annotation: "1.504", cpu: cpu("Xeon", false, false), wantPercent: 150, wantReason: "baseRatio"},
		{name: "garbage is replaced", config: xeon, annotation: "fast", cpu: cpu("Xeon", false, false), wantPercent: 150, wantWrite: "1.50", wantReason: "baseRatio"},
		{name: "a model that is not listed takes the default", config: half, cpu: cpu("Epyc", true, true), wantPercent: 130, wantWrite: "1.30", wantReason: `"Epyc" is not listed: the default`},
		{name: "so does a mode that is not listed", config: half, cpu: cpu("Xeon", true, true), wantPercent: 130, wantWrite: "1.30", wantReason: `"Xeon" has no hyperThreadTurboEnabledRatio: the default`},
		{name: "without a default it is the reference", config: xeon, annotation: "1.50", cpu: cpu("Epyc", false, false), wantPercent: 100, wantWrite: "1.00", wantReason: "counts as the reference"},
		{name: "a cpu that is not known keeps the ratio", config: xeon, annotation: "1.50", written: true, wantPercent: 150, wantReason: "no report"},
		{name: "a cpu that was never known has none", config: xeon, wantPercent: 100, wantReason: "no report"},
		{name: "switched off", config: off, annotation: "1.50", written: true, cpu: cpu("Xeon", false, false), wantPercent: 100, wantWrite: "1.00", wantReason: "is off"},
		{name: "never switched on", config: off, cpu: cpu("Xeon", false, false), wantPercent: 100, wantReason: "is off"},
		{name: "switched off, and the ratio is another's", config: off, annotation: "1.20", cpu: cpu("Xeon", false, false), wantPercent: 120, wantReason: "stays"},
		{name: "the label turns it off", config: xeon, label: "false", cpu: cpu("Xeon", false, false), wantPercent: 100, wantWrite: "1.00", wantReason: "is off"},
		{name: "the label turns it off, even another's ratio", config: xeon, annotation: "1.20", label: "false", cpu: cpu("Xeon", false, false), wantPercent: 100, wantWrite: "1.00", wantReason: "is off"},
		{name: "the label turns it on", config: off, label: "true", cpu: cpu("Xeon", false, false), wantPercent: 150, wantWrite: "1.50", wantReason: "baseRatio"},
		{name: "a label that cannot be read does nothing", config: xeon, label: "maybe", cpu: cpu("Xeon", false, false), wantPercent: 150, wantWrite: "1.50", wantReason: "baseRatio"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, test.config, test.annotation, test.label, test.written, test.cpu)
			got := Decide(in, nil)
			if got.Percent != test.wantPercent || got.Write != test.wantWrite || !strings.Contains(got.Reason, test.wantReason) {
				t.Errorf("got %d, writes %q: %s; want %d, %q: %s", got.Percent, got.Write, got.Reason, test.wantPercent, test.wantWrite, test.wantReason)
			}
			if got.Write == "" {
				return
			}
			in.Node.Annotations[extension.AnnotationCPUNormalizationRatio] = got.Write
			if again := Decide(in, nil); again.Write != "" || again.Percent != got.Percent {
				t.Errorf("once written, it decides %+v", again)
			}
		})
	}
}

func TestARatioOutOfBoundsIsLeftOut(t *testing.T) {
	in := input(t, xeon, "", "", false, &extension.CPUBasicInfo{CPUModel: "Xeon"})
	model := in.Strategy.Strategy.RatioModel["Xeon"]
	model.BaseRatio = new(5.01)
	in.Strategy.Strategy.RatioModel = map[string]configuration.ModelRatioCfg{"Xeon": model}
	if got := Decide(in, nil); got.Percent != 100 || len(got.Problems) != 1 {
		t.Errorf("got %+v, want the reference and a problem", got)
	}
}

// explain decides with a trace, and returns the explanation.
func explain(in Input, name types.NamespacedName) (*diagnosticsv1alpha1.Waterfall, *diagnosticsv1alpha1.PublishedResource) {
	trace := &Trace{}
	return trace.Waterfall(Decide(in, trace), name)
}

func TestTheTraceIsAWaterfall(t *testing.T) {
	name := types.NamespacedName{Namespace: "koordinator-system", Name: "slo-controller-config"}
	in := input(t, xeon, "", "", false, &extension.CPUBasicInfo{CPUModel: "Xeon", HyperThreadEnabled: true, TurboEnabled: true})
	fall, published := explain(in, name)
	if fall == nil || fall.Result != 110 || fall.Terms[0].Source.Field != "data[cpu-normalization-config].ratioModel.Xeon.hyperThreadTurboEnabledRatio" ||
		published.State != diagnosticsv1alpha1.NotPublished {
		t.Errorf("waterfall %+v, published %+v", fall, published)
	}
	in.Node.Annotations[extension.AnnotationCPUNormalizationRatio] = "1.10"
	if _, published = explain(in, name); published.State != diagnosticsv1alpha1.InSync || *published.Published != 110 {
		t.Errorf("published %+v, want it in sync", published)
	}
	in = input(t, off, "", "", false, nil)
	if fall, published := explain(in, name); fall != nil || published != nil {
		t.Errorf("a node without normalization has %+v, %+v", fall, published)
	}
}
