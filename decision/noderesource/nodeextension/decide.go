package nodeextension

import (
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/amplification"
	"koordinator.sh/koord/decision/noderesource/deviceresource"
	"koordinator.sh/koord/decision/noderesource/normalization"
)

// Decision is what one node gets. The parts that were not decided are nil.
type Decision struct {
	Normalization *normalization.Result
	Amplification *amplification.Result
	Devices       *deviceresource.Result

	normalizing normalization.Input
	amplifying  amplification.Input
	equipping   deviceresource.Input
}

// Decide decides for one node.
func Decide(in Input) Decision {
	out := Decision{}
	if in.CPU != nil && !in.Unknown.Has(unknown.Configuration, unknown.Topologies) {
		out.normalizing = normalization.Input{Node: in.Node, Strategy: in.Config.CPUNormalization(in.Node), CPU: in.CPU.Info, Unknown: in.CPU.Unknown}
		out.Normalization = new(normalization.Decide(out.normalizing))
		out.amplifying = amplification.Input{Node: in.Node, Strategy: in.Config.ResourceAmplification(in.Node), NormalizationPercent: out.Normalization.Percent}
		out.Amplification = new(amplification.Decide(out.amplifying))
	}
	if in.Devices != nil && !in.Unknown.Has(unknown.Devices) {
		out.equipping = deviceresource.Input{Node: in.Node, Device: in.Devices.Object, Shared: in.Devices.SharedGPU}
		out.Devices = new(deviceresource.Decide(out.equipping))
	}
	return out
}

// CPUUnknown says that normalization is on and cannot be decided, because what the cpu is was not reported.
func (d Decision) CPUUnknown() bool {
	return d.Normalization != nil && d.Normalization.Trace.Enabled && d.normalizing.CPU == nil
}

// Annotations are those of the node that change, by key, with the value they are to have; nil for one that goes.
func (d Decision) Annotations() map[string]*string {
	out := map[string]*string{}
	if d.Normalization != nil && d.Normalization.Write != "" {
		out[extension.AnnotationCPUNormalizationRatio] = &d.Normalization.Write
	}
	switch {
	case d.Amplification == nil:
	case d.Amplification.Write != "":
		out[extension.AnnotationNodeResourceAmplificationRatio] = &d.Amplification.Write
	case d.Amplification.Remove:
		out[extension.AnnotationNodeResourceAmplificationRatio] = nil
	}
	return out
}

// Explain tells the decision as waterfalls, and how the node differs. The ConfigMap is the one that the configuration comes
// from; at most maxParts devices are listed of each resource.
func (d Decision) Explain(configMap types.NamespacedName, maxParts int) ([]diagnosticsv1alpha1.Waterfall, []diagnosticsv1alpha1.PublishedResource) {
	var falls []diagnosticsv1alpha1.Waterfall
	var published []diagnosticsv1alpha1.PublishedResource
	if d.Normalization != nil {
		if fall, there := d.Normalization.Explain(d.normalizing, configMap); fall != nil {
			falls, published = append(falls, *fall), append(published, *there)
		}
	}
	if d.Amplification != nil {
		more, there := d.Amplification.Explain(d.amplifying, configMap)
		falls, published = append(falls, more...), append(published, there...)
	}
	if d.Devices != nil {
		more, there := d.Devices.Explain(d.equipping, maxParts)
		falls, published = append(falls, more...), append(published, there...)
	}
	return falls, published
}
