package migration

import (
	"fmt"
	"time"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const softEvictionKey = extension.AnnotationSoftEviction

// Trace records gate by gate how far a job is, and what it waits for. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Created is when the job was created, and Deadline when it fails if it has not ended by then.
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`
	// Gates in order; none for a job that has ended.
	Gates []Gate `json:"gates,omitempty"`
}

// GateState is how far a job is at a gate.
type GateState string

const (
	// Passed is behind the job.
	Passed GateState = "Passed"
	// Waiting holds the job.
	Waiting GateState = "Waiting"
	// Closed ends the job.
	Closed GateState = "Closed"
	// NotReached is ahead of the job.
	NotReached GateState = "NotReached"
)

// Gate is one gate of a job.
type Gate struct {
	Name  string    `json:"name"`
	State GateState `json:"state"`
	// Since is when the gate was passed, or since when the job waits at it; zero where that is not recorded.
	Since time.Time `json:"since,omitzero"`
	// Deadline until which the job waits, and RetryAt when it looks again before that.
	Deadline time.Time `json:"deadline,omitzero"`
	RetryAt  time.Time `json:"retryAt,omitzero"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"message,omitempty"`
	// Attempts of the eviction.
	Attempts int32 `json:"attempts,omitempty"`
}

// Message says how far the job is, in one sentence.
func (t *Trace) Message(verdict Verdict) string {
	status := &verdict.Status
	for _, gate := range t.Gates {
		if gate.State == Waiting {
			return fmt.Sprintf("at gate %s until %s: %s", gate.Name, gate.Deadline.UTC().Format(time.RFC3339), gate.Message)
		}
	}
	return fmt.Sprintf("%s, reason %s: %s", status.Phase, status.Reason, status.Message)
}

func (t *Trace) begin(in Input) {
	if t != nil {
		*t = Trace{Created: in.Job.CreationTimestamp.Time, Deadline: Deadline(in.Job, in.Args)}
	}
}

// gate records a gate that the job came to.
func (t *Trace) gate(d *decision, at gate, result result) {
	if t == nil {
		return
	}
	recorded := Gate{Name: at.name, State: Passed, Reason: result.reason, Message: result.message}
	if !result.passed {
		recorded.State = Closed
		if result.phase == "" {
			recorded.State, recorded.Deadline, recorded.RetryAt, recorded.Since = Waiting, d.deadline, result.retry, t.previous(d)
		}
	}
	if condition := Condition(&d.verdict.Status, at.condition); condition != nil {
		recorded.Attempts = condition.Attempts
		if (condition.Status == schedulingv1alpha1.PodMigrationJobConditionStatusTrue) == result.passed {
			recorded.Since = condition.LastTransitionTime.Time
		}
	}
	t.Gates = append(t.Gates, recorded)
}

// previous is when the latest gate before was passed, as far as that is recorded.
func (t *Trace) previous(d *decision) time.Time {
	for i := len(t.Gates) - 1; i >= 0; i-- {
		if !t.Gates[i].Since.IsZero() {
			return t.Gates[i].Since
		}
	}
	return d.Job.CreationTimestamp.Time
}

func (t *Trace) notReached(gates []gate) {
	if t == nil {
		return
	}
	for _, gate := range gates {
		t.Gates = append(t.Gates, Gate{Name: gate.name, State: NotReached})
	}
}
