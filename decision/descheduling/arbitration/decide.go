package arbitration

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Decision about one pending job.
type Decision string

// The decisions.
const (
	Admitted Decision = "Admitted"
	Waiting  Decision = "Waiting"
	Refused  Decision = "Refused"
)

// Verdict is what becomes of each pending job, in the order in which they were considered.
type Verdict struct {
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// Outcome of one pending job.
type Outcome struct {
	UID      types.UID `json:"uid"`
	Job      string    `json:"job"`
	Decision Decision  `json:"decision"`
	// Gate that the job waits for, or that refuses it. Those of package evictability appear under their names.
	Gate Gate `json:"gate,omitempty"`
	// Used and Max are the operands of the gate, where it counts something.
	Used int `json:"used,omitempty"`
	Max  int `json:"max,omitempty"`
	// Retry is after which time the gate may pass by itself; 0 where something has to happen first.
	Retry time.Duration `json:"retry,omitempty"`
	// Reason of a refused job, for its status.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Admitted counts the jobs that may start.
func (v Verdict) Admitted() int {
	admitted := 0
	for _, outcome := range v.Outcomes {
		if outcome.Decision == Admitted {
			admitted++
		}
	}
	return admitted
}

// Decide says which pending jobs may start now. Each that may counts against those after it. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	held := count(&in)
	var verdict Verdict
	for _, job := range order(&in, held) {
		outcome := in.decide(job, held, trace)
		outcome.UID, outcome.Job = job.UID, job.Name
		if outcome.Decision == Admitted {
			held.take(job)
		}
		verdict.Outcomes = append(verdict.Outcomes, outcome)
	}
	return verdict
}

// decide asks the gates for one job, until one does not let it pass.
func (in *Input) decide(job *Job, held *slots, trace *Trace) Outcome {
	for _, ask := range []func(*Job, *slots) Outcome{in.conditions, in.evictability, in.expectedReplicas, in.replacement} {
		outcome := ask(job, held)
		trace.asked(job, outcome)
		if outcome.Decision != "" {
			return outcome
		}
	}
	if job.Evictability.Annotated {
		return Outcome{Decision: Admitted, Message: "the pod has the annotation that lifts all limits"}
	}
	for _, gate := range limits {
		if in.Limits.skips(gate.name) {
			continue
		}
		outcome, applies := gate.ask(in, job, held)
		if !applies {
			continue
		}
		outcome.Gate = gate.name
		trace.asked(job, outcome)
		if outcome.Decision != "" {
			return outcome
		}
	}
	return Outcome{Decision: Admitted}
}

// refused is a job that can never start as it is.
func refused(gate Gate, reason, message string) Outcome {
	return Outcome{Decision: Refused, Gate: gate, Reason: reason, Message: message}
}

// forbidden is a job whose pod must not be moved.
func forbidden(gate Gate, message string) Outcome {
	return refused(gate, schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod, message)
}

func waiting(gate Gate, message string) Outcome {
	return Outcome{Decision: Waiting, Gate: gate, Message: message}
}

// Line is one line about an outcome, for logs and events.
func (o Outcome) Line() string {
	switch o.Decision {
	case Admitted:
		return fmt.Sprintf("PodMigrationJob %s may start", o.Job)
	case Refused:
		return fmt.Sprintf("PodMigrationJob %s fails with %s: %s", o.Job, o.Reason, o.Message)
	}
	line := fmt.Sprintf("PodMigrationJob %s waits: %s", o.Job, o.Message)
	if o.Retry > 0 {
		line += fmt.Sprintf("; it may pass in %s", o.Retry.Round(time.Second))
	}
	return line
}
