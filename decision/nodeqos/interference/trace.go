package interference

// Trace is what one step saw.
type Trace struct {
	// Signals that were measured and have a range, in a fixed order.
	Signals []Reading `json:"signals,omitempty"`
	// Ignored says why the window was not taken in; empty when it was.
	Ignored string `json:"ignored,omitempty"`
	// Changed is true when the verdict did.
	Changed bool `json:"changed,omitempty"`
	// Needed is how many windows of one kind in a row change the verdict; the rows of State say how many there are.
	Needed int `json:"needed"`
}

// Reading is one signal.
type Reading struct {
	Signal Signal  `json:"signal"`
	Value  float64 `json:"value"`
	Range
	// High from Enter on, Well below Leave; neither in between.
	High bool `json:"high,omitempty"`
	Well bool `json:"well,omitempty"`
}
