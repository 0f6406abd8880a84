package interference

// Trace is what one step saw. Each step overwrites it.
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

func (t *Trace) begin(needed int) {
	if t != nil {
		*t = Trace{Needed: needed}
	}
}

func (t *Trace) ignored(why string) {
	if t != nil {
		t.Ignored = why
	}
}

func (t *Trace) measured(read []Reading) {
	if t != nil {
		t.Signals = read
	}
}

func (t *Trace) changed() {
	if t != nil {
		t.Changed = true
	}
}
