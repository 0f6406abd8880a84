package arbitration

// Trace records which gates were asked for each job. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	Checks []Check `json:"checks,omitempty"`
}

// Check is one gate that was asked for one job, with its operands where it counts something.
type Check struct {
	Job     string `json:"job"`
	Gate    Gate   `json:"gate"`
	Used    int    `json:"used"`
	Max     int    `json:"max"`
	Passed  bool   `json:"passed"`
	Message string `json:"message,omitempty"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// asked records a gate. What has no gate passed without counting anything.
func (t *Trace) asked(job *Job, outcome Outcome) {
	if t == nil || outcome.Gate == "" {
		return
	}
	t.Checks = append(t.Checks, Check{
		Job: job.Name, Gate: outcome.Gate, Used: outcome.Used, Max: outcome.Max, Passed: outcome.Decision == "", Message: outcome.Message,
	})
}

// Of are the checks of one job, in the order in which they were made.
func (t *Trace) Of(job string) []Check {
	var found []Check
	for _, check := range t.Checks {
		if check.Job == job {
			found = append(found, check)
		}
	}
	return found
}
