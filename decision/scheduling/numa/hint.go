package numa

// Hint is one way of giving a pod a resource: from the zones of Mask.
type Hint struct {
	// Mask is the zones; the zero Mask stands for a resource that has no affinity to any zone.
	Mask Mask
	// Preferred is true when no smaller set of zones could ever give what is asked for.
	Preferred bool
	// Score says how well the zones suit, larger is better. Scores of the hints that are merged are added, so a provider
	// multiplies with the weight of the resource.
	Score int64
}

// Single is true when the hint names exactly one zone.
func (h Hint) Single() bool { return h.Mask.Count() == 1 }

// better orders merged hints: preferred before not, then narrower, then by score, then lower zones.
func (h Hint) better(other Hint) bool {
	if h.Preferred != other.Preferred {
		return h.Preferred
	}
	if a, b := h.Mask.Count(), other.Mask.Count(); a != b {
		return a < b
	}
	if h.Score != other.Score {
		return h.Score > other.Score
	}
	return h.Mask < other.Mask
}
