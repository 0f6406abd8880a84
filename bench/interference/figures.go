package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"
)

// figures of one round.
type figures struct {
	P50, P99, Max time.Duration
	Requests      int
	// Used is the share of the machine's CPU time that was used, 0 to 1.
	Used float64
}

// result is the median of a situation's rounds, figure by figure.
type result struct {
	situation string
	figures
}

// results in the order of the situations.
func (b *bench) results() []result {
	var out []result
	for _, s := range situations {
		rounds := b.rounds[s.name]
		out = append(out, result{s.name, figures{
			P50:      median(rounds, func(f figures) time.Duration { return f.P50 }),
			P99:      median(rounds, func(f figures) time.Duration { return f.P99 }),
			Max:      median(rounds, func(f figures) time.Duration { return f.Max }),
			Requests: median(rounds, func(f figures) int { return f.Requests }),
			Used:     median(rounds, func(f figures) float64 { return f.Used }),
		}})
	}
	return out
}

func median[T int | float64 | time.Duration](rounds []figures, of func(figures) T) T {
	values := make([]T, 0, len(rounds))
	for _, f := range rounds {
		values = append(values, of(f))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// report writes the table, and whether the bounds were kept.
func report(out io.Writer, results []result) {
	alone := results[0]
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "situation\trequests\tp50\tp99\tp99 to alone\tmax\tCPU used\tto alone\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%d\t%.1f ms\t%.1f ms\t%.2fx\t%.1f ms\t%.0f %%\t%.2fx\t\n", r.situation, r.Requests,
			milliseconds(r.P50), milliseconds(r.P99), ratio(r.P99, alone.P99), milliseconds(r.Max), 100*r.Used, r.Used/alone.Used)
	}
	_ = table.Flush() // to a terminal or a pipe that somebody reads
	for i, r := range results {
		if situations[i].threshold > 0 {
			verdict(out, alone, r)
		}
	}
}

// verdict writes whether a managed situation kept the bounds.
func verdict(out io.Writer, alone, managed result) {
	said := func(kept bool) string {
		if kept {
			return "reached"
		}
		return "MISSED"
	}
	slower, used := ratio(managed.P99, alone.P99), managed.Used/alone.Used
	fmt.Fprintf(out, "%s: p99 at most %.2fx alone: %.2fx, %s\n", managed.situation, mostSlower, slower, said(slower <= mostSlower))
	fmt.Fprintf(out, "%s: CPU use at least %.1fx alone: %.2fx, %s\n", managed.situation, leastUsed, used, said(used >= leastUsed))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// cpuTime of the machine, in seconds of all its CPUs together.
type cpuTime struct{ used, total float64 }

func usedCPU() (cpuTime, error) {
	proc, err := procfs.NewFS("/proc")
	if err != nil {
		return cpuTime{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return cpuTime{}, err
	}
	c := stat.CPUTotal
	used := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	return cpuTime{used: used, total: used + c.Idle + c.Iowait + c.Steal}, nil
}

// since is the share of the time that was used.
func (c cpuTime) since(before cpuTime) float64 {
	return (c.used - before.used) / (c.total - before.total)
}
