package v1alpha1

// OfferOutlook is what a node offers of a batch or mid resource now, and what it will offer at least, as far as that is predicted.
type OfferOutlook struct {
	// Resource by its full name, such as kubernetes.io/batch-cpu.
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Offered now, and Requested of it by pods on the node.
	Offered   int64 `json:"offered"`
	Requested int64 `json:"requested"`
	// Predictor is the profile by which koord-manager predicts, or koordlet for the peak that the node agent reports; empty where
	// nothing predicts.
	// +optional
	Predictor string `json:"predictor,omitempty"`
	// Partial is true where the node has been observed for less than the predictor reads, so that peaks may be missing.
	// +optional
	Partial bool `json:"partial,omitempty"`
	// Steps are the least that is offered within a time, the nearest first; empty where nothing predicts.
	// +optional
	Steps []OfferStep `json:"steps,omitempty"`
	// Lowest is how the offer of the last step is computed.
	// +optional
	Lowest *Waterfall `json:"lowest,omitempty"`
	// Note says from what is predicted, or why nothing is.
	Note string `json:"note"`
}

// OfferStep is the least that is offered within a time.
type OfferStep struct {
	// WithinSeconds from now; 0 where the predictor knows the peak and not when it comes.
	WithinSeconds int64 `json:"withinSeconds"`
	Offered       int64 `json:"offered"`
}
