package interference

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// walk takes in windows of ten seconds and returns the verdict after each.
func walk(state State, limits Limits, windows ...Window) (State, []Verdict) {
	var verdicts []Verdict
	for i, window := range windows {
		window.End = state.Last.Add(10 * time.Second)
		if i == 0 && state.Last.IsZero() {
			window.End = noon
		}
		state = Step(state, window, limits, nil)
		verdicts = append(verdicts, state.Verdict)
	}
	return state, verdicts
}

func pressure(signal Signal, value float64) Window {
	return Window{Pressure: map[Signal]float64{signal: value}}
}

func repeat(n int, window Window) []Window {
	var out []Window
	for range n {
		out = append(out, window)
	}
	return out
}

func TestPressure(t *testing.T) {
	high, between, well, silent := pressure(CPUSome, 25), pressure(CPUSome, 15), pressure(CPUSome, 5), Window{}
	tests := map[string]struct {
		windows [][]Window
		want    Verdict
	}{
		"two windows decide nothing":                  {[][]Window{repeat(2, high)}, Calm},
		"three in a row do":                           {[][]Window{repeat(3, high)}, Noisy},
		"exactly the threshold is too high":           {[][]Window{repeat(3, pressure(CPUSome, 20))}, Noisy},
		"a better one begins anew":                    {[][]Window{repeat(2, high), {between}, repeat(2, high)}, Calm},
		"a silent one in between does not":            {[][]Window{repeat(2, high), {silent}, {high}}, Noisy},
		"five good windows do not calm":               {[][]Window{repeat(3, high), repeat(5, well)}, Noisy},
		"six do":                                      {[][]Window{repeat(3, high), repeat(6, well)}, Calm},
		"between the thresholds it stays noisy":       {[][]Window{repeat(3, high), repeat(20, between)}, Noisy},
		"between the thresholds it stays calm":        {[][]Window{repeat(20, between)}, Calm},
		"exactly the lower threshold is not well":     {[][]Window{repeat(3, high), repeat(20, pressure(CPUSome, 10))}, Noisy},
		"silence does not calm":                       {[][]Window{repeat(3, high), repeat(20, silent)}, Noisy},
		"a signal without a range is not looked at":   {[][]Window{repeat(5, pressure("irqFull", 99))}, Calm},
		"a figure that is no number is not looked at": {[][]Window{repeat(5, pressure(CPUSome, math.NaN()))}, Calm},
		"waiting for memory counts at less":           {[][]Window{repeat(3, pressure(MemoryFull, 5))}, Noisy},
		"different signals in a row are a row":        {[][]Window{{pressure(CPUSome, 25)}, {pressure(IOFull, 25)}, {pressure(MemorySome, 25)}}, Noisy},
		"all signals have to be well":                 {[][]Window{repeat(3, high), repeat(9, Window{Pressure: map[Signal]float64{CPUSome: 1, IOFull: 12}})}, Noisy},
		"nor is one beyond all numbers":               {[][]Window{repeat(5, pressure(CPUSome, math.Inf(1)))}, Calm},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var state State
			for _, windows := range tc.windows {
				state, _ = walk(state, DefaultLimits(), windows...)
				if windows[0].Pressure == nil {
					state.Last = state.Last.Add(10 * time.Second)
				}
			}
			if state.Verdict != tc.want || state.Why == "" {
				t.Errorf("%+v, want %s", state, tc.want)
			}
		})
	}
}

func TestTheTraceSaysWhy(t *testing.T) {
	limits := DefaultLimits()
	limits.EnterAfter = 1
	var trace Trace
	state := Step(State{}, Window{End: noon, Pressure: map[Signal]float64{CPUSome: 25, MemoryFull: 1, IOFull: 15}}, limits, &trace)
	want := Trace{Changed: true, Needed: 1, Signals: []Reading{
		{Signal: CPUSome, Value: 25, Range: Range{20, 10}, High: true}, {Signal: MemoryFull, Value: 1, Range: Range{5, 2}, Well: true}, {Signal: IOFull, Value: 15, Range: Range{20, 10}},
	}}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if state.Why != "cpuSome 25.0 is at least 20" || !state.Since.Equal(noon) || state.Pressure != (Row{}) || state.ByCPI {
		t.Errorf("%+v", state)
	}
	if again := Step(state, Window{End: noon, Pressure: map[Signal]float64{CPUSome: 1}}, limits, &trace); trace.Ignored == "" || len(trace.Signals) > 0 || again.Pressure.Windows != 0 {
		t.Errorf("the same window was taken in twice: %+v", again)
	}
}

func TestCyclesPerInstruction(t *testing.T) {
	limits := DefaultLimits()
	var state State
	state, _ = walk(state, limits, repeat(29, Window{CPI: 5})...)
	if state.Baseline.Samples != 29 || state.Verdict != Calm {
		t.Fatalf("after 29 windows: %+v", state)
	}
	// Too little was learned to judge, so even this is learned from.
	state.Baseline = Baseline{}
	for i := range 40 {
		state, _ = walk(state, limits, Window{CPI: 1 + float64(i%2)*0.2})
	}
	if got := state.Baseline; math.Abs(got.Mean-1.1) > 0.01 || math.Abs(math.Sqrt(got.Variance)-0.1) > 0.01 {
		t.Fatalf("baseline %+v, want a mean of 1.1 and a deviation of 0.1", got)
	}
	learned := state.Baseline
	state, verdicts := walk(state, limits, repeat(3, Window{CPI: 1.5})...)
	if diff := cmp.Diff([]Verdict{Calm, Calm, Noisy}, verdicts); diff != "" || state.Baseline != learned {
		t.Errorf("baseline %+v was %+v, verdicts (-want +got):\n%s", state.Baseline, learned, diff)
	}
	if state, _ := walk(state, limits, repeat(6, Window{CPI: 1.1})...); state.Verdict != Calm {
		t.Errorf("%+v after six usual windows", state)
	}
}

// TestWindowsOfTwoKindsComeBetweenEachOther: pressure is looked at every ten seconds, and cycles once a minute.
func TestWindowsOfTwoKindsComeBetweenEachOther(t *testing.T) {
	limits := DefaultLimits()
	var usual State
	usual, _ = walk(usual, limits, repeat(40, Window{CPI: 1})...)
	well, high := pressure(CPUSome, 1), pressure(CPUSome, 30)
	// minutes are one window of cycles and five of pressure each.
	minutes := func(n int, cpi float64, other Window) []Window {
		var out []Window
		for range n {
			out = append(append(out, Window{CPI: cpi}), repeat(5, other)...)
		}
		return out
	}
	tests := map[string]struct {
		windows   [][]Window
		want      Verdict
		wantByCPI bool
	}{
		"cycles alone are too many for three minutes":       {[][]Window{minutes(3, 2, well)}, Noisy, true},
		"cycles are too many for two":                       {[][]Window{minutes(2, 2, well)}, Calm, false},
		"pressure is high while cycles are as usual":        {[][]Window{minutes(1, 1, high)}, Noisy, false},
		"pressure is high on both sides of usual cycles":    {[][]Window{repeat(2, high), {{CPI: 1}}, {high}}, Noisy, false},
		"pressure is well again, cycles were never bad":     {[][]Window{minutes(1, 1, high), minutes(2, 1, well)}, Calm, false},
		"pressure is well again, cycles are not":            {[][]Window{minutes(1, 1, high), minutes(5, 2, well)}, Noisy, false},
		"cycles have to be as usual for six minutes":        {[][]Window{minutes(3, 2, well), minutes(5, 1, well)}, Noisy, true},
		"and then they are":                                 {[][]Window{minutes(3, 2, well), minutes(6, 1, well)}, Calm, false},
		"cycles are as usual, but pressure is not well now": {[][]Window{minutes(3, 2, well), minutes(7, 1, pressure(CPUSome, 15))}, Noisy, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			state := usual
			for _, windows := range tc.windows {
				state, _ = walk(state, limits, windows...)
			}
			if state.Verdict != tc.want || state.ByCPI != tc.wantByCPI {
				t.Errorf("%+v, want %s, by cycles %t", state, tc.want, tc.wantByCPI)
			}
		})
	}
}

func TestBaseline(t *testing.T) {
	even := Baseline{}
	for range 50 {
		even = even.Learn(2)
	}
	if got, ok := even.Deviations(2.04, 30); !ok || math.Abs(got-1) > 1e-9 {
		t.Errorf("two percent above an even baseline are %v deviations, want 1", got)
	}
	for _, cpi := range []float64{0, -1, math.NaN(), math.Inf(1), mostCPI} {
		if even.Learn(cpi) != even {
			t.Errorf("%v was learned from", cpi)
		}
		if _, ok := even.Deviations(cpi, 30); ok {
			t.Errorf("%v was judged", cpi)
		}
	}
	if _, ok := (Baseline{}).Deviations(2, 0); ok {
		t.Error("a baseline that learned nothing judges")
	}
}

func TestValidate(t *testing.T) {
	if err := DefaultLimits().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Limits){
		"no windows to enter": func(l *Limits) { l.EnterAfter = 0 }, "no windows to leave": func(l *Limits) { l.LeaveAfter = 0 },
		"leaving above entering": func(l *Limits) { l.Ranges[CPUSome] = Range{10, 20} }, "entering at nothing": func(l *Limits) { l.Ranges[IOFull] = Range{} },
		"no number": func(l *Limits) { l.Ranges[IOFull] = Range{math.NaN(), 1} },
	} {
		limits := DefaultLimits()
		change(&limits)
		if limits.Validate() == nil {
			t.Errorf("%s is valid", name)
		}
	}
}

// TestTheVerdictNeverFlaps: two changes lie at least as many windows apart as the second one needs.
func TestTheVerdictNeverFlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits()
		limits.EnterAfter, limits.LeaveAfter = rapid.IntRange(1, 4).Draw(t, "enter"), rapid.IntRange(1, 4).Draw(t, "leave")
		var state State
		since := 0
		for i := range 60 {
			before := state.Verdict
			window := Window{End: noon.Add(time.Duration(i) * time.Second), Pressure: map[Signal]float64{CPUSome: rapid.Float64Range(0, 30).Draw(t, "pressure")}}
			var trace Trace
			silent := Step(state, window, limits, nil)
			state = Step(state, window, limits, &trace)
			if diff := cmp.Diff(silent, state); diff != "" {
				t.Fatalf("with a trace (-without +with):\n%s", diff)
			}
			since++
			if before != "" && trace.Changed != (state.Verdict != before) {
				t.Fatalf("from %s to %s, changed %v", before, state.Verdict, trace.Changed)
			}
			if trace.Changed {
				if since < trace.Needed {
					t.Fatalf("changed after %d windows, %d are needed", since, trace.Needed)
				}
				since = 0
			}
			if state.Pressure.Windows >= limits.EnterAfter && state.Verdict == Calm || state.Pressure.Windows >= limits.LeaveAfter && state.Verdict == Noisy {
				t.Fatalf("%+v", state)
			}
		}
	})
}
