package interference

import (
	"fmt"
)

// Signal is one way in which a service can be disturbed.
type Signal string

const (
	// CPUSome is the time in which at least one process waited for a CPU, in percent.
	CPUSome Signal = "cpuSome"
	// MemorySome is the time in which at least one process waited for memory, in percent.
	MemorySome Signal = "memorySome"
	// MemoryFull is the time in which all processes waited for memory, in percent.
	MemoryFull Signal = "memoryFull"
	// IOSome is the time in which at least one process waited for input or output, in percent.
	IOSome Signal = "ioSome"
	// IOFull is the time in which all processes waited for input or output, in percent.
	IOFull Signal = "ioFull"
	// CPIDeviations is by how many standard deviations the cycles per instruction exceed their baseline.
	CPIDeviations Signal = "cpiDeviations"
)

// signals in the order in which they are shown.
var signals = []Signal{CPUSome, MemorySome, MemoryFull, IOSome, IOFull, CPIDeviations}

// Range is the hysteresis of one signal: from Enter on it is too high, and below Leave it is well again.
type Range struct {
	Enter float64 `json:"enter"`
	Leave float64 `json:"leave"`
}

// Limits say when a service is disturbed.
type Limits struct {
	// Ranges by signal; a signal without one is not looked at.
	Ranges map[Signal]Range `json:"ranges"`
	// EnterAfter is how many windows of one kind, pressure or cycles, in a row a signal has to be too high, and LeaveAfter how many all
	// of the kind have to be well.
	EnterAfter int `json:"enterAfter"`
	LeaveAfter int `json:"leaveAfter"`
	// LeastSamples of a baseline before cycles per instruction are compared with it.
	LeastSamples int `json:"leastSamples"`
}

// DefaultLimits are for windows of ten seconds: half a minute to be disturbed, a minute to be calm. Waiting for memory with all
// processes is far worse than waiting for a CPU with one.
func DefaultLimits() Limits {
	return Limits{
		Ranges: map[Signal]Range{
			CPUSome: {Enter: 20, Leave: 10}, MemorySome: {Enter: 10, Leave: 5}, MemoryFull: {Enter: 5, Leave: 2},
			IOSome: {Enter: 40, Leave: 20}, IOFull: {Enter: 20, Leave: 10}, CPIDeviations: {Enter: 3, Leave: 2},
		},
		EnterAfter: 3, LeaveAfter: 6, LeastSamples: 30,
	}
}

// Validate says what is wrong with limits.
func (l Limits) Validate() error {
	if l.EnterAfter < 1 || l.LeaveAfter < 1 {
		return fmt.Errorf("validate interference limits: %d windows to enter and %d to leave are not both at least 1", l.EnterAfter, l.LeaveAfter)
	}
	for _, signal := range signals {
		if r, ok := l.Ranges[signal]; ok && !(r.Enter > 0 && r.Leave > 0 && r.Leave <= r.Enter) {
			return fmt.Errorf("validate interference limits: range %v to %v of %s does not leave at or below where it enters", r.Enter, r.Leave, signal)
		}
	}
	return nil
}
