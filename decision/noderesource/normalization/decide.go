package normalization

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/ownership"
)

// Bounds of a ratio, in percent.
const (
	Reference = 100
	Largest   = 500
)

// Verdict is the ratio of one node and what follows for its annotation.
type Verdict struct {
	// Percent is the ratio in force once the annotation says what it should: 100 to 500, in percent.
	Percent int64
	// Write is the annotation's new value; empty when it stays as it is.
	Write string
	// Enabled is true when normalization is on for the node.
	Enabled bool
	// CPUUnknown is true when normalization is on and the ratio stays, because the cpu is not known.
	CPUUnknown bool
	// Reason is one sentence.
	Reason string
	// Problems names what could not be read; its effect is left out.
	Problems []string
}

// Decide decides the ratio of one node. A cpu that is not known leaves the annotation as it is, and so does a ratio that
// somebody else wrote while normalization is off without a label: what is missing never raises an offer. A nil trace records
// nothing.
func Decide(in Input, trace *Trace) Verdict {
	out := Verdict{Enabled: orFalse(in.Strategy.Strategy.Enable)}
	labelled, err := extension.IsCPUNormalizationEnabled(in.Node.Labels)
	if err != nil {
		out.Problems = append(out.Problems, err.Error())
	}
	if labelled != nil {
		out.Enabled = *labelled
	}
	trace.begin(&in, labelled != nil)
	current, problem := published(in.Node)
	if problem != "" {
		out.Problems = append(out.Problems, problem)
	}
	switch {
	case !out.Enabled && labelled == nil && !ours(in.Node):
		out.Percent, out.Reason = max(current, Reference), "normalization is off"
		if current > Reference {
			out.Reason = "normalization is off; the ratio on the node was not written by koord-manager and stays"
		}
		return out
	case !out.Enabled:
		out.Percent, out.Reason = Reference, "normalization is off"
	case in.CPU == nil:
		out.Percent, out.Reason, out.CPUUnknown = max(current, Reference), "the cpu is not known, so the ratio stays: "+in.Unknown, true
		return out
	default:
		out.choose(in.CPU, &in.Strategy.Strategy, trace)
	}
	if out.Percent != current {
		out.Write = extension.FormatRatio(float64(out.Percent) / 100)
	}
	return out
}

// published is the ratio that the annotation states, in percent; 0 when there is none that can be read.
func published(node *corev1.Node) (int64, string) {
	ratio, err := extension.CPUNormalizationRatio(node.Annotations)
	if err != nil {
		return 0, err.Error()
	}
	if ratio == nil {
		return 0, ""
	}
	percent := math.Round(*ratio * 100)
	if percent > Largest {
		return 0, fmt.Sprintf("annotation %q: ratio %v is above %d", extension.AnnotationCPUNormalizationRatio, *ratio, Largest/100)
	}
	return int64(percent), ""
}

func ours(node *corev1.Node) bool {
	if _, exists := node.Annotations[extension.AnnotationCPUNormalizationRatio]; !exists {
		return false
	}
	return ownership.Of(node, overcommit.FieldManager).Has("metadata", "annotations", extension.AnnotationCPUNormalizationRatio)
}

// choose takes the ratio of the model in its mode, else the default, else the reference.
func (v *Verdict) choose(cpu *extension.CPUBasicInfo, strategy *configuration.CPUNormalizationStrategy, trace *Trace) {
	trace.looked(cpu)
	model, listed := strategy.RatioModel[cpu.CPUModel]
	ratio, mode := modeRatio(&model, cpu)
	why := fmt.Sprintf("cpu model %q is not listed", cpu.CPUModel)
	if listed {
		why = fmt.Sprintf("cpu model %q has no %s", cpu.CPUModel, mode)
		if v.take(ratio, "ratioModel."+cpu.CPUModel+"."+mode, trace) {
			v.Reason = fmt.Sprintf("%s of cpu model %q", mode, cpu.CPUModel)
			return
		}
	}
	if v.take(strategy.DefaultRatio, "defaultRatio", trace) {
		v.Reason = why + ": the default counts"
		return
	}
	v.Percent, v.Reason = Reference, why+" and there is no default, so it counts as the reference"
}

// modeRatio is the ratio for the mode that a cpu runs in, and the name of its setting.
func modeRatio(model *configuration.ModelRatioCfg, cpu *extension.CPUBasicInfo) (*float64, string) {
	switch {
	case cpu.HyperThreadEnabled && cpu.TurboEnabled:
		return model.HyperThreadTurboEnabledRatio, "hyperThreadTurboEnabledRatio"
	case cpu.HyperThreadEnabled:
		return model.HyperThreadEnabledRatio, "hyperThreadEnabledRatio"
	case cpu.TurboEnabled:
		return model.TurboEnabledRatio, "turboEnabledRatio"
	}
	return model.BaseRatio, "baseRatio"
}

// take accepts a ratio within the bounds.
func (v *Verdict) take(ratio *float64, setting string, trace *Trace) bool {
	if ratio == nil {
		return false
	}
	percent := math.Round(*ratio * 100)
	if !(percent >= Reference && percent <= Largest) {
		v.Problems = append(v.Problems, fmt.Sprintf("%s %v is not between %d and %d", setting, *ratio, Reference/100, Largest/100))
		return false
	}
	v.Percent = int64(percent)
	trace.took(setting)
	return true
}

func orFalse(setting *bool) bool { return setting != nil && *setting }
