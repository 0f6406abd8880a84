package perf

// Kernel has performance counters.
type Kernel interface {
	// Supported says why there are none; nil where there are.
	Supported() error
	// Count begins to count what a cgroup does on some CPUs. It takes two open files for each of them. The counter must be closed.
	Count(cgroup string, cpus []int) (Counter, error)
}

// Counter counts one cgroup. One goroutine at a time may use it.
type Counter interface {
	// Read returns what was counted since the beginning. Where there are fewer counters than are asked for, the processor counts
	// for a part of the time only, and the result is estimated from that.
	Read() (Sample, error)
	// Close ends counting.
	Close()
}

// Sample is what was counted.
type Sample struct {
	Cycles, Instructions float64
}

// CPI is cycles per instruction; 0 when too few instructions ran to tell.
func (s Sample) CPI() float64 {
	if s.Instructions < leastInstructions || s.Cycles <= 0 {
		return 0
	}
	return s.Cycles / s.Instructions
}

// leastInstructions is about a millisecond of one CPU.
const leastInstructions = 1e6
