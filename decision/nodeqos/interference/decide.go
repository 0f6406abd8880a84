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

// State is what is known of a service. The zero value is calm and has learned nothing; it is handed from step to step.
type State struct {
	Verdict Verdict `json:"verdict"`
	// Since when; zero before the first window.
	Since time.Time `json:"since,omitempty,omitzero"`
	// Why in one sentence: what made it noisy, or that nothing did.
	Why string `json:"why"`
	// Pressure and CPI are the windows of either kind in a row that speak for the other verdict. They are counted apart, because
	// windows of one kind come between those of the other.
	Pressure Row `json:"pressure,omitzero"`
	CPI      Row `json:"cpi,omitzero"`
	// ByCPI is true for a service that is noisy by its cycles per instruction, and false for one by pressure.
	ByCPI bool `json:"byCPI,omitempty"`
	// Last window that was taken in.
	Last     time.Time `json:"last,omitempty,omitzero"`
	Baseline Baseline  `json:"baseline"`
}

// Row is windows of one kind in a row.
type Row struct {
	// Windows that speak for the other verdict.
	Windows int `json:"windows,omitempty"`
	// Judged is true once a window of the kind was, since the verdict is what it is.
	Judged bool `json:"judged,omitempty"`
}

// Step takes in one window. Windows that are not newer than the last one, or in which nothing was measured, change nothing: a
// service that was noisy stays so until it is seen to be calm. Limits are assumed to be valid. A nil trace records nothing.
func Step(state State, window Window, limits Limits, trace *Trace) State {
	if state.Verdict == "" {
		state.Verdict, state.Why = Calm, "nothing was measured yet"
	}
	needed := limits.EnterAfter
	if state.Verdict == Noisy {
		needed = limits.LeaveAfter
	}
	trace.begin(needed)
	if !window.End.After(state.Last) {
		trace.ignored("the window is not newer than the last one")
		return state
	}
	read := readings(window, state.Baseline, limits)
	if len(read) == 0 {
		trace.ignored("nothing was measured")
		if window.CPI > 0 && state.Verdict == Calm {
			state.Baseline, state.Last = state.Baseline.Learn(window.CPI), window.End
		}
		return state
	}
	trace.measured(read)
	if state.Since.IsZero() {
		state.Since, state.Why = window.End, "nothing disturbs it"
	}
	state.Last = window.End
	if high, _ := summarize(read); state.Verdict == Calm && high == "" {
		state.Baseline = state.Baseline.Learn(window.CPI)
	}
	pressure, cpi := kinds(read)
	state.Pressure, state.CPI = state.Pressure.judge(state.Verdict, pressure), state.CPI.judge(state.Verdict, cpi)
	if !state.turns(needed) {
		return state
	}
	trace.changed()
	return state.turned(pressure, cpi, needed)
}

// kinds separates what was measured of waiting from cycles per instruction.
func kinds(read []Reading) (pressure, cpi []Reading) {
	for _, reading := range read {
		if reading.Signal == CPIDeviations {
			cpi = append(cpi, reading)
			continue
		}
		pressure = append(pressure, reading)
	}
	return pressure, cpi
}

// judge takes in what a window says of one kind, if anything.
func (r Row) judge(verdict Verdict, read []Reading) Row {
	if len(read) == 0 {
		return r
	}
	high, well := summarize(read)
	if verdict == Calm && high == "" || verdict == Noisy && !well {
		return Row{Judged: true}
	}
	return Row{Windows: r.Windows + 1, Judged: true}
}

// turns is true when the verdict changes: to noisy by either kind, and to calm by the kind that made it noisy, unless the other one
// was not well when it was judged last.
func (s State) turns(needed int) bool {
	if s.Verdict == Calm {
		return s.Pressure.Windows >= needed || s.CPI.Windows >= needed
	}
	cause, other := s.Pressure, s.CPI
	if s.ByCPI {
		cause, other = other, cause
	}
	return cause.Windows >= needed && (!other.Judged || other.Windows > 0)
}

// turned is the state with the other verdict, from the window that was taken in last.
func (s State) turned(pressure, cpi []Reading, needed int) State {
	s.Since = s.Last
	if s.Verdict == Calm {
		s.ByCPI = s.Pressure.Windows < needed
		cause := pressure
		if s.ByCPI {
			cause = cpi
		}
		s.Verdict = Noisy
		s.Why, _ = summarize(cause)
	} else {
		s.Verdict, s.Why, s.ByCPI = Calm, "all signals are well again", false
	}
	s.Pressure, s.CPI = Row{}, Row{}
	return s
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
