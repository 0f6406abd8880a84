package outlook

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
)

// Decide says how many of the pods keep what they request, hour by hour as far as that is predicted; nil where they request neither
// batch nor mid resources.
func Decide(in Input) *diagnosticsv1alpha1.CopiesOutlook {
	in.Nodes = slices.Clone(in.Nodes)
	d := &decision{in: &in, resources: offered(in.Requests)}
	if len(d.resources) == 0 {
		return nil
	}
	slices.SortFunc(in.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	d.now()
	times := d.times()
	for _, seconds := range times {
		d.add(d.step(seconds))
	}
	if len(times) == 0 && d.predicted() {
		peak := d.step(0)
		peak.WithinSeconds = nil
		d.answer.Steps = append(d.answer.Steps, peak)
	}
	d.nodes()
	d.answer.Message = d.message()
	return &d.answer
}

// decision is an outlook in the making.
type decision struct {
	in        *Input
	resources []string
	answer    diagnosticsv1alpha1.CopiesOutlook
}

// offered are the batch and mid resources that a pod requests, in their order.
func offered(requests map[string]int64) []string {
	var out []string
	for _, name := range []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory} {
		if requests[string(name)] > 0 {
			out = append(out, string(name))
		}
	}
	return out
}

// times are all to which something is predicted, the nearest first.
func (d *decision) times() []int64 {
	seen := map[int64]bool{}
	for i := range d.in.Nodes {
		for _, resource := range d.resources {
			if offer := d.in.Nodes[i].of(resource); offer != nil {
				for _, step := range offer.Steps {
					seen[step.WithinSeconds] = true
				}
			}
		}
	}
	delete(seen, 0)
	return slices.Sorted(maps.Keys(seen))
}

// predicted is true where something is predicted of any node.
func (d *decision) predicted() bool {
	return slices.ContainsFunc(d.in.Nodes, func(n Node) bool { return d.lasting(&n, 0) >= 0 })
}

// now is the step of the present: all pods have what they request.
func (d *decision) now() {
	step := diagnosticsv1alpha1.CopiesStep{WithinSeconds: new(int64)}
	for i := range d.in.Nodes {
		step.Copies += d.in.Nodes[i].Copies
	}
	step.Free = d.free(func(offer *diagnosticsv1alpha1.OfferOutlook) (int64, bool) { return offer.Offered, true })
	d.answer.Steps = []diagnosticsv1alpha1.CopiesStep{step}
}

// step is how many pods keep what they request within a time.
func (d *decision) step(seconds int64) diagnosticsv1alpha1.CopiesStep {
	step := diagnosticsv1alpha1.CopiesStep{WithinSeconds: &seconds}
	for i := range d.in.Nodes {
		if lasting := d.lasting(&d.in.Nodes[i], seconds); lasting < 0 {
			step.Unpredicted += d.in.Nodes[i].Copies
		} else {
			step.Copies += lasting
		}
	}
	step.Free = d.free(func(offer *diagnosticsv1alpha1.OfferOutlook) (int64, bool) { return LeastOffered(offer, seconds) })
	return step
}

// add appends a step, or extends the last one where nothing changes.
func (d *decision) add(step diagnosticsv1alpha1.CopiesStep) {
	if last := &d.answer.Steps[len(d.answer.Steps)-1]; *last.WithinSeconds > 0 && last.Copies == step.Copies &&
		last.Unpredicted == step.Unpredicted && slices.Equal(last.Free, step.Free) {
		last.WithinSeconds = step.WithinSeconds
		return
	}
	d.answer.Steps = append(d.answer.Steps, step)
}

// lasting counts the pods of a node that keep what they request within a time, -1 where that is not predicted.
func (d *decision) lasting(node *Node, seconds int64) int32 {
	most := int64(node.Copies)
	for _, resource := range d.resources {
		offer := node.of(resource)
		value, known := LeastOffered(offer, seconds)
		if !known {
			return -1
		}
		most = min(most, max(value-offer.Requested-node.Taken[resource], 0)/d.in.Requests[resource])
	}
	return int32(min(most, math.MaxInt32))
}

// free adds up what the nodes offer beyond what is requested, resource by resource.
func (d *decision) free(of func(*diagnosticsv1alpha1.OfferOutlook) (int64, bool)) []diagnosticsv1alpha1.FreeShare {
	out := make([]diagnosticsv1alpha1.FreeShare, 0, len(d.resources))
	for _, resource := range d.resources {
		share := diagnosticsv1alpha1.FreeShare{Resource: resource, Unit: amount.UnitOf(corev1.ResourceName(resource))}
		for i := range d.in.Nodes {
			offer := d.in.Nodes[i].of(resource)
			if offer == nil {
				continue
			}
			if value, known := of(offer); known {
				share.Amount += max(value-offer.Requested-d.in.Nodes[i].Taken[resource], 0)
			}
		}
		out = append(out, share)
	}
	return out
}

// nodes lists the nodes with what lasts of their pods as far as it is predicted of the node.
func (d *decision) nodes() {
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		out := diagnosticsv1alpha1.CopiesOutlookNode{Name: node.Name, Copies: node.Copies, Problem: node.Problem}
		reach := int64(math.MaxInt64)
		for _, resource := range d.resources {
			offer := node.of(resource)
			if offer == nil {
				continue
			}
			out.Offers = append(out.Offers, *offer)
			out.Predictor = cmp.Or(out.Predictor, offer.Predictor)
			if len(offer.Steps) > 0 && offer.Steps[len(offer.Steps)-1].WithinSeconds > 0 {
				reach = min(reach, offer.Steps[len(offer.Steps)-1].WithinSeconds)
			}
		}
		if reach == math.MaxInt64 {
			reach = 0
		}
		if lasting := d.lasting(node, reach); lasting >= 0 {
			out.Lasting, out.WithinSeconds = &lasting, reach
		}
		d.answer.Nodes = append(d.answer.Nodes, out)
	}
}
