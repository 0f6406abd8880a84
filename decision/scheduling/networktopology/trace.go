package networktopology

import (
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Trace records what Place looked at. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Domains that were considered, in the order in which they were, the deepest layer first.
	Domains []Considered
}

// Considered is one domain.
type Considered struct {
	Layer schedulingv1alpha1.TopologyLayer
	Name  string
	Slots int
	// Elsewhere members keep the domain from holding all of them.
	Elsewhere int
}

func (t *Trace) considered(domain *Domain, total int) {
	if t != nil {
		t.Domains = append(t.Domains, Considered{Layer: domain.Layer, Name: domain.Name, Slots: domain.Slots, Elsewhere: total - domain.Members})
	}
}
