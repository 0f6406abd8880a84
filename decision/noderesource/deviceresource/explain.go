package deviceresource

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// Explain shows each offer as the sum of its devices, at most maxParts of them listed, and how node.status differs; and of
// what is withdrawn that it goes.
func (v Verdict) Explain(in Input, maxParts int) ([]diagnosticsv1alpha1.Waterfall, []diagnosticsv1alpha1.PublishedResource) {
	var falls []diagnosticsv1alpha1.Waterfall
	var published []diagnosticsv1alpha1.PublishedResource
	for i := range v.Offers {
		offer := &v.Offers[i]
		falls = append(falls, offer.waterfall(in, maxParts))
		there := diagnosticsv1alpha1.PublishedResource{
			Resource: string(offer.Resource), Unit: unitOf(offer.Resource), Published: overcommit.Published(in.Node, offer.Resource), Computed: &offer.Value,
			State: diagnosticsv1alpha1.InSync,
		}
		switch {
		case there.Published == nil:
			there.State, there.Reason = diagnosticsv1alpha1.NotPublished, "written at the next reconciliation"
		case *there.Published != offer.Value:
			there.State, there.Reason = diagnosticsv1alpha1.Pending, "written at the next reconciliation"
		}
		published = append(published, there)
	}
	for _, name := range v.Withdrawn {
		published = append(published, diagnosticsv1alpha1.PublishedResource{
			Resource: string(name), Unit: unitOf(name), Published: overcommit.Published(in.Node, name), Computed: new(int64),
			State: diagnosticsv1alpha1.Pending, Reason: "to be withdrawn: the node's Device no longer has it",
		})
	}
	return falls, published
}

func (o *Offer) waterfall(in Input, maxParts int) diagnosticsv1alpha1.Waterfall {
	unit := unitOf(o.Resource)
	sum := diagnosticsv1alpha1.Term{
		Name: "healthyDevices", Operator: diagnosticsv1alpha1.Start, Value: o.Value, Unit: unit,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: in.Device.Name, Field: "spec.devices"},
		Note:   fmt.Sprintf("the sum of %d", len(o.Devices)),
	}
	for n, position := range o.Devices {
		if n >= maxParts {
			sum.PartsOmitted = int32(min(len(o.Devices)-maxParts, 1<<30))
			break
		}
		sum.Parts = append(sum.Parts, o.part(in, position, unit))
	}
	fall := diagnosticsv1alpha1.Waterfall{Resource: string(o.Resource), Unit: unit, Policy: "devices", Result: o.Value, Terms: []diagnosticsv1alpha1.Term{sum}}
	if o.Unhealthy > 0 {
		fall.Terms = append(fall.Terms, diagnosticsv1alpha1.Term{
			Name: "unhealthyDevices", Operator: diagnosticsv1alpha1.Info, Value: int64(o.Unhealthy), Unit: diagnosticsv1alpha1.Count,
			Source: sum.Source, Note: "not offered",
		})
	}
	fall.Terms = append(fall.Terms, diagnosticsv1alpha1.Term{Name: "result", Operator: diagnosticsv1alpha1.Result, Value: o.Value, Unit: unit})
	return fall
}

func (o *Offer) part(in Input, position int, unit diagnosticsv1alpha1.Unit) diagnosticsv1alpha1.Term {
	info := &in.Device.Spec.Devices[position]
	minor := int32(0)
	if info.Minor != nil {
		minor = *info.Minor
	}
	return diagnosticsv1alpha1.Term{
		Name: fmt.Sprintf("%s-%d", info.Type, minor), Operator: diagnosticsv1alpha1.Plus, Value: valueOf(info, o.Resource), Unit: unit, Note: info.UUID,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: in.Device.Name, Field: fmt.Sprintf("spec.devices[%d].resources", position)},
	}
}

func unitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case extension.ResourceGPUMemory:
		return diagnosticsv1alpha1.Bytes
	case extension.ResourceHuaweiNPUCore, extension.ResourceHuaweiNPUCPU, extension.ResourceHuaweiNPUDVPP:
		return diagnosticsv1alpha1.Count
	}
	return diagnosticsv1alpha1.Percent
}
