package recommend

// Trace records how the targets of one Recommendation came about. The zero value is ready for use; a Trace serves one call at a
// time.
type Trace struct {
	// CPU in cores and Memory in bytes.
	CPU, Memory []Term
}

// Names of the terms of a trace.
const (
	TermPercentile = "percentile"
	// TermRuns is the prediction from former runs of a job.
	TermRuns        = "former runs"
	TermMargin      = "margin in percent"
	TermMinimum     = "minimum"
	TermOutOfMemory = "after running out of memory"
)

// Term is a named figure of a trace: cores, bytes, or a plain number.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func (t *Trace) cpu() *[]Term {
	if t == nil {
		return nil
	}
	return &t.CPU
}

func (t *Trace) memory() *[]Term {
	if t == nil {
		return nil
	}
	return &t.Memory
}
