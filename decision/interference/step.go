package interference

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Verdict on a service.
type Verdict string

// Verdicts there are; a service that was not seen yet is calm.
const (
	Calm  Verdict = "calm"
	Noisy Verdict = "noisy"
)

// Window is what was measured of one service in one window.
type Window struct {
	// End of the window.
	End time.Time
	// Pressure in percent, by signal; one that is absent was not measured.
	Pressure map[Signal]float64
	// CPI is the cycles per instruction; 0 when not measured.
	CPI float64
}

// State is what is known of a service. The zero value is calm and has learned nothing; it is handed from step to step.
type State struct {
	Verdict Verdict `json:"verdict"`
	// Since when; zero before the first window.
	Since time.Time `json:"since,omitempty,omitzero"`
	// Why in one sentence: what made it noisy, or that nothing did.
	Why string `json:"why"`
	// Streak counts the windows in a row that speak for the other verdict.
	Streak int `json:"streak"`
	// Last window that was taken in.
	Last     time.Time `json:"last,omitempty,omitzero"`
	Baseline Baseline  `json:"baseline"`
}

// Trace is what one step saw.
type Trace struct {
	// Signals that were measured and have a range, in a fixed order.
	Signals []Reading `json:"signals,omitempty"`
	// Ignored says why the window was not taken in; empty when it was.
	Ignored string `json:"ignored,omitempty"`
	// Changed is true when the verdict did.
	Changed bool `json:"changed,omitempty"`
	// Needed is how many windows in a row change the verdict; State.Streak says how many there are.
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

// Step takes in one window. Windows that are not newer than the last one, or in which nothing was measured, change nothing: a
// service that was noisy stays so until it is seen to be calm. Limits are assumed to be valid.
func Step(state State, window Window, limits Limits) (State, Trace) {
	if state.Verdict == "" {
		state.Verdict, state.Why = Calm, "nothing was measured yet"
	}
	trace := Trace{Needed: limits.EnterAfter}
	if state.Verdict == Noisy {
		trace.Needed = limits.LeaveAfter
	}
	if !window.End.After(state.Last) {
		trace.Ignored = "the window is not newer than the last one"
		return state, trace
	}
	trace.Signals = readings(window, state.Baseline, limits)
	if len(trace.Signals) == 0 {
		trace.Ignored = "nothing was measured"
		if window.CPI > 0 && state.Verdict == Calm {
			state.Baseline, state.Last = state.Baseline.Learn(window.CPI), window.End
		}
		return state, trace
	}
	if state.Since.IsZero() {
		state.Since, state.Why = window.End, "nothing disturbs it"
	}
	state.Last = window.End
	high, well := summarize(trace.Signals)
	if state.Verdict == Calm && high == "" {
		state.Baseline = state.Baseline.Learn(window.CPI)
	}
	against := state.Verdict == Calm && high != "" || state.Verdict == Noisy && well
	if !against {
		state.Streak = 0
		return state, trace
	}
	state.Streak++
	if state.Streak < trace.Needed {
		return state, trace
	}
	trace.Changed = true
	return changed(state, window.End, high), trace
}

// changed turns the verdict round.
func changed(state State, at time.Time, high string) State {
	state.Since, state.Streak = at, 0
	if state.Verdict == Calm {
		state.Verdict, state.Why = Noisy, high
		return state
	}
	state.Verdict, state.Why = Calm, "all signals are well again"
	return state
}

// readings are the signals of a window that can be judged.
func readings(window Window, baseline Baseline, limits Limits) []Reading {
	var out []Reading
	for _, signal := range signals {
		bounds, judged := limits.Ranges[signal]
		value, measured := window.Pressure[signal]
		if signal == CPIDeviations {
			value, measured = baseline.Deviations(window.CPI, limits.LeastSamples)
		}
		if !judged || !measured || math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		out = append(out, Reading{Signal: signal, Value: value, Range: bounds, High: value >= bounds.Enter, Well: value < bounds.Leave})
	}
	return out
}

// summarize says which signals are too high, and whether all are well.
func summarize(read []Reading) (high string, well bool) {
	var parts []string
	well = true
	for _, reading := range read {
		if reading.High {
			parts = append(parts, fmt.Sprintf("%s %.1f is at least %g", reading.Signal, reading.Value, reading.Enter))
		}
		well = well && reading.Well
	}
	return strings.Join(parts, ", "), well
}
