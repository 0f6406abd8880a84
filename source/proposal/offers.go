package proposal

import (
	"maps"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/core/phrase"
)

// Offers are the offers of the nodes that a plan changes.
func (p *Plan) Offers() []diagnosticsv1alpha1.PlacementReviewOffer {
	allocatable := p.Allocatable()
	offers := make([]diagnosticsv1alpha1.PlacementReviewOffer, 0, len(allocatable))
	for _, name := range slices.Sorted(maps.Keys(allocatable)) {
		offers = append(offers, diagnosticsv1alpha1.PlacementReviewOffer{Node: name, Allocatable: allocatable[name]})
	}
	return offers
}

// Notes say what a plan does beside changing offers.
func (p *Plan) Notes() []string {
	var notes []string
	note := func(n *int, what, does string) {
		if n != nil && *n > 0 {
			notes = append(notes, phrase.Counted(*n, what)+" would "+does+"; see koordctl config plan")
		}
	}
	switch {
	case len(p.Summary.OffersUnknown) > 0:
		notes = append(notes, "what some nodes would offer is not known, and their offers are those of now")
	case len(p.Allocatable()) == 0:
		notes = append(notes, "no node would offer anything else with this configuration; see koordctl config plan")
	}
	note(p.Summary.NodesOvercommitted, "node", "offer less than pods on it request")
	note(p.Summary.PodsEvicted, "pod", "be evicted at once")
	if slices.ContainsFunc(p.Nodes, func(n configplan.NodeChange) bool { return len(n.Ratios) > 0 }) {
		notes = append(notes, "pods that are bound to CPUs are placed by the amplification ratios in force now")
	}
	return notes
}

// Forecast completes the answer where waiting pods go with the plan's offers by what the plan knows beside them.
func (p *Plan) Forecast(answer *diagnosticsv1alpha1.PlacementForecast) *diagnosticsv1alpha1.PlacementForecast {
	answer.Notes = append(p.Notes(), answer.Notes...)
	for _, missing := range p.Missing {
		if !slices.Contains(answer.Incomplete, missing) { // both read the nodes and pods
			answer.Incomplete = append(answer.Incomplete, missing)
		}
	}
	return answer
}
