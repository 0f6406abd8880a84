package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

func main() {
	directory := flag.String("trace", "", "CSV file or directory of recorded loads; generated from the seed by default")
	nodes := flag.Int("nodes", 200, "nodes of the cluster")
	mean := flag.Float64("mean", 0.38, "mean CPU load of all nodes")
	busy := flag.Float64("busy", 2.6, "how many times as much the pods of some nodes use")
	seed := flag.Uint64("seed", 1, "seed of what is random")
	flag.Parse()
	results, err := compare(*directory, *nodes, *mean, *busy, *seed)
	if err == nil {
		report(os.Stdout, results)
		err = missed(results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rebalance:", err)
		os.Exit(1)
	}
}

// compare runs the same day with each descheduler.
func compare(directory string, nodes int, mean, busy float64, seed uint64) ([]result, error) {
	recorded, err := recordings(directory, seed)
	if err != nil {
		return nil, err
	}
	d := newDay(recorded, nodes, mean, busy, seed)
	results := []result{run("none", d, nil)}
	for _, v := range []struct {
		name          string
		abnormalities uint32
		low, high     float64
	}{{"LowNodeLoad", 5, 45, 75}, {"LowNodeLoad, at once", 1, 45, 75}, {"LowNodeLoad, at once, 40 and 55%", 1, 40, 55}} {
		u, err := newUpstream(d, v.abnormalities, v.low, v.high)
		if err != nil {
			return nil, err
		}
		results = append(results, run(v.name, d, u))
	}
	sparing := rebalance.DefaultArgs()
	sparing.VarianceWeight, sparing.CostWeight = new(*sparing.VarianceWeight/2), new(*sparing.CostWeight*2)
	results = append(results, run("LoadAwareRebalancing, sparing", d, newPlanned(d, sparing)))
	return append(results, run("LoadAwareRebalancing", d, newPlanned(d, rebalance.DefaultArgs()))), nil
}

func report(w io.Writer, results []result) {
	fmt.Fprintln(w, "| descheduler | p95 of node load | to none | p99 | above 75% | moves | moves back | workloads that came back | most moves of a pod in an hour |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range results {
		fmt.Fprintf(w, "| %s | %.1f%% | %.2f | %.1f%% | %.2f%% | %d | %d | %d | %d |\n", r.name, 100*r.p95, r.p95/results[0].p95, 100*r.p99, 100*r.hot, r.moves, r.returns, r.loops, r.mostInHour)
	}
}

// missed says which target the planner misses. With its default arguments it is compared with no descheduler, and with half the weight of
// the variance and twice that of the cost with the moves of LowNodeLoad that acts at once, which comes closest to its result.
func missed(results []result) error {
	none, upstream, sparing, planner := results[0], results[2], results[4], results[5]
	switch {
	case planner.p95 > 0.7*none.p95:
		return fmt.Errorf("the p95 of the node load falls to %.2f of what it is without a descheduler, want 0.70", planner.p95/none.p95)
	case sparing.p95 > upstream.p95:
		return fmt.Errorf("the p95 of the node load is %.1f%%, LowNodeLoad reaches %.1f%%", 100*sparing.p95, 100*upstream.p95)
	case sparing.moves*2 > upstream.moves:
		return fmt.Errorf("%d pods are moved, want at most half of the %d of LowNodeLoad", sparing.moves, upstream.moves)
	}
	for _, r := range results[4:] {
		switch {
		case r.mostInHour > 1:
			return fmt.Errorf("%s moves a pod %d times within an hour, want once", r.name, r.mostInHour)
		case r.returns > 0 || r.loops > 0:
			return fmt.Errorf("%s makes %d moves and %d workloads go back to where they were, want none", r.name, r.returns, r.loops)
		}
	}
	return nil
}
