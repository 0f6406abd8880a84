package thirdparty

import (
	"cmp"
	"slices"
	"time"
)

// Work is something that an engine runs on a node, such as a job.
type Work struct {
	ID string
	// Held is what it has of the node.
	Held Amount
	// All is what it has of all nodes; all of it ends when it is ended.
	All Amount
	// Ran is for how long it has run.
	Ran time.Duration
}

// lost is the progress that ending it throws away, in milli-core seconds.
func (w Work) lost() float64 {
	return float64(max(w.All.MilliCPU, w.Held.MilliCPU)) * max(w.Ran, 0).Seconds()
}

// Victims are the works to end so that a node has over less in use, those that lose the least progress first. One that the others make
// superfluous is spared. All of them may be less than over.
func Victims(works []Work, over Amount) (victims []Work) {
	works = slices.Clone(works)
	slices.SortStableFunc(works, func(a, b Work) int {
		return cmp.Or(cmp.Compare(a.lost(), b.lost()), cmp.Compare(a.ID, b.ID))
	})
	var freed Amount
	for _, work := range works {
		if covers(freed, over) {
			break
		}
		if helps(work.Held, freed, over) {
			victims, freed = append(victims, work), freed.Add(work.Held)
		}
	}
	for i := len(victims) - 1; i >= 0; i-- {
		rest := Amount{MilliCPU: freed.MilliCPU - victims[i].Held.MilliCPU, Memory: freed.Memory - victims[i].Held.Memory}
		if covers(rest, over) {
			victims, freed = slices.Delete(victims, i, i+1), rest
		}
	}
	return victims
}

// covers says whether an amount is at least over.
func covers(amount, over Amount) bool {
	return amount.MilliCPU >= over.MilliCPU && amount.Memory >= over.Memory
}

// helps says whether what a work has is missing yet.
func helps(held, freed, over Amount) bool {
	return held.MilliCPU > 0 && freed.MilliCPU < over.MilliCPU || held.Memory > 0 && freed.Memory < over.Memory
}
