package main

import (
	"slices"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// descheduler acts on a cluster in a minute in which it makes a pass, and in each minute between.
type descheduler interface {
	pass(c *cluster)
	between(c *cluster)
}

// result of a day.
type result struct {
	name string
	// p95 and p99 of the CPU load of nodes, over all nodes and minutes, and hot the share of those above 75 %.
	p95, p99, hot float64
	moves         int
	// returns are the moves of a pod to a node that it was on before, loops the workloads that came back to a node.
	returns, loops int
	// mostInHour is how often one pod moved within an hour.
	mostInHour int
}

func run(name string, d *day, by descheduler) result {
	c := newCluster(d)
	for c.minute = range stepsPerDay {
		c.measure()
		if by == nil {
			continue
		}
		by.between(c)
		if c.minute%minutesPerPass == 0 {
			by.pass(c)
		}
	}
	slices.Sort(c.loads)
	at := func(fraction float64) float64 { return c.loads[int(fraction*float64(len(c.loads)-1))] }
	out := result{name: name, p95: at(0.95), p99: at(0.99), hot: float64(c.hot) / float64(len(c.loads)), moves: len(c.moves), returns: c.returns}
	for _, minutes := range c.history {
		for i, minute := range minutes {
			within := 0
			for _, other := range minutes[i:] {
				if other-minute < 60 {
					within++
				}
			}
			out.mostInHour = max(out.mostInHour, within)
		}
	}
	out.loops = len(loopguard.Detect(loopguard.History{Moves: c.moves, Now: timeOf(stepsPerDay), Window: 2 * 24 * 60 * 60 * 1e9}))
	return out
}
