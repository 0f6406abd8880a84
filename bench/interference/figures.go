package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"koordinator.sh/koord/sandbox/workload"
)

// round is what was seen of a situation in one turn.
type round struct {
	// Took is how long each request took.
	Took []time.Duration `json:"tookNanoseconds"`
	// Used is the share of the machine's CPU time that was used, 0 to 1.
	Used float64 `json:"used"`
}

// result is what was seen of a situation in all of its rounds together.
type result struct {
	situation string
	workload.Summary
	// Used is the share of the machine's CPU time that was used, 0 to 1.
	Used float64
}

// results in the order of the situations. The requests of all rounds count as one: the slowest hundredth of a single round is a
// dozen requests, and the median of a few such figures differs by a tenth from one run to the next.
func (b *bench) results() []result {
	var out []result
	for _, s := range situations {
		r := result{situation: s.name}
		var took []time.Duration
		for _, seen := range b.rounds[s.name] {
			took = append(took, seen.Took...)
			r.Used += seen.Used / float64(len(b.rounds[s.name]))
		}
		r.Summary = workload.Summarize(took)
		out = append(out, r)
	}
	return out
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
