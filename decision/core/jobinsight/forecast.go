package jobinsight

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// State is how far a job is.
type State string

// States of a job.
const (
	Pending State = "pending"
	Running State = "running"
	Ended   State = "ended"
)

// Forecast is what is predicted of the job that a pod runs.
type Forecast struct {
	Prediction
	Kind  Kind
	State State
	// Ran is for how long it has run already.
	Ran time.Duration
	// Remaining is nil for a job that does not run, or of whose duration nothing is known.
	Remaining *Remaining
}

// Forecast says what is predicted of the job that a pod runs at a time; false for a pod that is no job. A nil trace records nothing.
func (s *Store) Forecast(pod *corev1.Pod, now time.Time, confidence float64, trace *Trace) (Forecast, bool) {
	kind, isJob := KindOf(pod)
	if !isJob {
		return Forecast{}, false
	}
	out := Forecast{Prediction: s.Predict(kind, confidence, trace), Kind: kind, State: Pending}
	start := StartOf(pod)
	if at, _, ended := EndOf(pod); ended {
		out.State = Ended
		if !start.IsZero() {
			out.Ran = max(at.Sub(start), 0)
		}
		return out, true
	}
	if start.IsZero() {
		return out, true
	}
	out.State, out.Ran = Running, max(now.Sub(start), 0)
	if remaining, known := s.Remaining(kind, out.Ran, confidence); known {
		out.Remaining = &remaining
	}
	return out, true
}

// Answer is what is predicted of the job of a pod, and what that rests on.
type Answer struct {
	Pod *corev1.Pod
	// Now is the time of the forecast.
	Now      time.Time
	Forecast Forecast
	Tries    []Try
	// IsJob is false for a pod that is no job: nothing is predicted of it.
	IsJob bool
	// Known is false where nothing was learned yet, or nobody learns.
	Known bool
	// Loss is what of the store could not be read.
	Loss Loss
	// Store is what it was predicted from.
	Store *Store
}

// AnswerFrom reads the parts of a store and forecasts the job of a pod at a time.
func AnswerFrom(parts [][]byte, pod *corev1.Pod, now time.Time, confidence float64) *Answer {
	out := &Answer{Pod: pod, Now: now, Known: len(parts) > 0}
	store, loss := Decode(parts, 0)
	var tries Trace
	out.Loss, out.Store = loss, store
	out.Forecast, out.IsJob = store.Forecast(pod, now, confidence, &tries)
	out.Tries = tries.Tries
	return out
}
