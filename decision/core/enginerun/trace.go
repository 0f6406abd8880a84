package enginerun

// Trace records what was left out. The zero value is empty.
type Trace struct {
	// LeftOut is why there is no run; empty where there is one.
	LeftOut string
	// Unknown is what is not known of the run.
	Unknown []string
}

func (t *Trace) leftOut(why string) {
	if t != nil {
		t.LeftOut = why
	}
}

func (t *Trace) unknown(what string) {
	if t != nil {
		t.Unknown = append(t.Unknown, what)
	}
}
