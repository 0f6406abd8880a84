package v1alpha1

// CopiesOutlook is for how long new pods keep the batch or mid resources that they request, as far as the predictors reach.
type CopiesOutlook struct {
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Steps begin with the present; each says what holds within a time at least.
	Steps []CopiesStep `json:"steps"`
	// Nodes that take pods, ordered by name.
	Nodes []CopiesOutlookNode `json:"nodes"`
}

// CopiesStep is what holds within a time.
type CopiesStep struct {
	// WithinSeconds from now, 0 for the present; absent for the peak of services where nothing says when it comes.
	// +optional
	WithinSeconds *int64 `json:"withinSeconds,omitempty"`
	// Copies that keep what they request.
	Copies int32 `json:"copies"`
	// Unpredicted counts the copies on nodes of which nothing is predicted that far ahead.
	// +optional
	Unpredicted int32 `json:"unpredicted,omitempty"`
	// Free is the least that the nodes offer beyond what is requested now, by the resources that a copy requests, on the nodes of which
	// that is predicted.
	Free []FreeShare `json:"free"`
}

// FreeShare is what is offered of a resource beyond what is requested.
type FreeShare struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	Amount   int64  `json:"amount"`
}

// CopiesOutlookNode is a node that takes copies.
type CopiesOutlookNode struct {
	Name   string `json:"name"`
	Copies int32  `json:"copies"`
	// Lasting counts the copies that keep what they request as far as it is predicted of the node; absent where nothing is.
	// +optional
	Lasting *int32 `json:"lasting,omitempty"`
	// WithinSeconds is how far ahead that is; 0 where the predictor knows the peak and not when it comes.
	// +optional
	WithinSeconds int64 `json:"withinSeconds,omitempty"`
	// Predictor is the profile by which koord-manager predicts, or koordlet for the peak that the node agent reports.
	// +optional
	Predictor string `json:"predictor,omitempty"`
	// Offers of the node, by the resources that a copy requests.
	// +optional
	Offers []OfferOutlook `json:"offers,omitempty"`
	// Problem says why nothing is known of the offers.
	// +optional
	Problem string `json:"problem,omitempty"`
}
