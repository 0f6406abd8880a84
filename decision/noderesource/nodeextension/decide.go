package nodeextension

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/amplification"
	"koordinator.sh/koord/decision/noderesource/deviceresource"
	"koordinator.sh/koord/decision/noderesource/normalization"
)

// Verdict is what one node gets. The parts that were not decided are nil.
type Verdict struct {
	Normalization *normalization.Verdict
	Amplification *amplification.Verdict
	Devices       *deviceresource.Verdict
}

// Decide decides for one node. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin(&in)
	out := Verdict{}
	if in.CPU != nil && !in.Unknown.Has(unknown.Configuration, unknown.Topologies) {
		normalizing := normalization.Input{Node: in.Node, Strategy: in.Config.CPUNormalization(in.Node), CPU: in.CPU.Info, Unknown: in.CPU.Unknown}
		out.Normalization = new(normalization.Decide(normalizing, trace.normalization()))
		amplifying := amplification.Input{Node: in.Node, Strategy: in.Config.ResourceAmplification(in.Node), NormalizationPercent: out.Normalization.Percent}
		out.Amplification = new(amplification.Decide(amplifying, trace.amplification()))
	}
	if in.Devices != nil && !in.Unknown.Has(unknown.Devices) {
		out.Devices = new(deviceresource.Decide(in.devices()))
	}
	return out
}

func (in *Input) devices() deviceresource.Input {
	return deviceresource.Input{Node: in.Node, Device: in.Devices.Object, Shared: in.Devices.SharedGPU}
}

// CPUUnknown says that normalization is on and cannot be decided, because what the cpu is was not reported.
func (v Verdict) CPUUnknown() bool { return v.Normalization != nil && v.Normalization.CPUUnknown }

// Annotations are those of the node that change, by key, with the value they are to have; nil for one that goes.
func (v Verdict) Annotations() map[string]*string {
	out := map[string]*string{}
	if v.Normalization != nil && v.Normalization.Write != "" {
		out[extension.AnnotationCPUNormalizationRatio] = &v.Normalization.Write
	}
	switch {
	case v.Amplification == nil:
	case v.Amplification.Write != "":
		out[extension.AnnotationNodeResourceAmplificationRatio] = &v.Amplification.Write
	case v.Amplification.Remove:
		out[extension.AnnotationNodeResourceAmplificationRatio] = nil
	}
	return out
}
