package nodeextension

import (
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/amplification"
	"koordinator.sh/koord/decision/noderesource/normalization"
)

// Trace is those of the parts. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	Normalization normalization.Trace
	Amplification amplification.Trace

	input Input
}

func (t *Trace) begin(in *Input) {
	if t != nil {
		*t = Trace{input: *in}
	}
}

func (t *Trace) normalization() *normalization.Trace {
	if t == nil {
		return nil
	}
	return &t.Normalization
}

func (t *Trace) amplification() *amplification.Trace {
	if t == nil {
		return nil
	}
	return &t.Amplification
}

// Waterfalls tell the verdict, and how the node differs. The ConfigMap is the one that the configuration comes from; at most
// maxParts devices are listed of each resource.
func (t *Trace) Waterfalls(verdict Verdict, configMap types.NamespacedName, maxParts int) ([]diagnosticsv1alpha1.Waterfall, []diagnosticsv1alpha1.PublishedResource) {
	var falls []diagnosticsv1alpha1.Waterfall
	var published []diagnosticsv1alpha1.PublishedResource
	if verdict.Normalization != nil {
		if fall, there := t.Normalization.Waterfall(*verdict.Normalization, configMap); fall != nil {
			falls, published = append(falls, *fall), append(published, *there)
		}
	}
	if verdict.Amplification != nil {
		more, there := t.Amplification.Waterfalls(*verdict.Amplification, configMap)
		falls, published = append(falls, more...), append(published, there...)
	}
	if verdict.Devices != nil {
		more, there := verdict.Devices.Explain(t.input.devices(), maxParts)
		falls, published = append(falls, more...), append(published, there...)
	}
	return falls, published
}
