package loopguard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"koordinator.sh/koord/api/finding"
)

// History is what Detect looks at.
type History struct {
	// Moves in any order. Those outside the window do not count, nor do those in the future.
	Moves []Move
	// Replicas of workloads; 1 for one that is missing.
	Replicas map[string]int
	// Now and Window: moves count from Now-Window on.
	Now    time.Time
	Window time.Duration
	// MaxMoves of one replica within the window, above which its workload moves too often; 0 for no bound.
	MaxMoves int
}

// Loop is a workload that goes in circles, and is not to be moved any more until it ends.
type Loop struct {
	Workload string       `json:"workload"`
	Code     finding.Code `json:"code"`
	// Moves that make it, oldest first: away from a node and back to it, or all of the window.
	Moves []Move `json:"moves"`
	// Until is when the oldest of them is forgotten.
	Until time.Time `json:"until"`
	// Message says what was found in one sentence.
	Message string `json:"message"`
}

// Detect finds the workloads that came back to a node that they had left within the window, and those that moved too often. There is
// at most one Loop for each workload, a return before a number; they are ordered by workload.
func Detect(in History) []Loop {
	byWorkload := map[string][]Move{}
	for _, move := range in.Moves {
		if move.Workload != "" && !move.At.After(in.Now) && in.Now.Sub(move.At) < in.Window {
			byWorkload[move.Workload] = append(byWorkload[move.Workload], move)
		}
	}
	var found []Loop
	for _, workload := range slices.Sorted(maps.Keys(byWorkload)) {
		moves := byWorkload[workload]
		slices.SortStableFunc(moves, func(a, b Move) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) })
		if loop, is := returned(moves); is {
			found = append(found, loop.until(in.Window))
		} else if loop, is := restless(&in, moves); is {
			found = append(found, loop.until(in.Window))
		}
	}
	return found
}

// returned finds the last move onto a node that an earlier move left, A-B-A.
func returned(moves []Move) (Loop, bool) {
	for i := len(moves) - 1; i > 0; i-- {
		back := moves[i]
		if back.To == "" || back.To == back.From {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if away := moves[j]; away.From == back.To && away.At.Before(back.At) {
				return Loop{
					Workload: back.Workload, Code: finding.MigrationLoop, Moves: []Move{away, back},
					Message: fmt.Sprintf("%s left node %s and was moved back to it from %s %s later", back.Workload, away.From, back.From, back.At.Sub(away.At).Round(time.Second)),
				}, true
			}
		}
	}
	return Loop{}, false
}

// restless finds a workload of which pods moved more often than MaxMoves for each replica.
func restless(in *History, moves []Move) (Loop, bool) {
	replicas := max(in.Replicas[moves[0].Workload], 1)
	if in.MaxMoves == 0 || len(moves) <= in.MaxMoves*replicas {
		return Loop{}, false
	}
	return Loop{
		Workload: moves[0].Workload, Code: finding.MigrationTooFrequent, Moves: moves,
		Message: fmt.Sprintf("%d pods of %s, which has %d, were moved or evicted within %s; at most %d are allowed", len(moves), moves[0].Workload, replicas, in.Window, in.MaxMoves*replicas),
	}, true
}

func (l Loop) until(window time.Duration) Loop {
	l.Until = l.Moves[0].At.Add(window)
	return l
}

// Stopped are the workloads that are not to be moved, with the time when that ends.
func Stopped(loops []Loop) map[string]time.Time {
	stopped := make(map[string]time.Time, len(loops))
	for _, loop := range loops {
		stopped[loop.Workload] = loop.Until
	}
	return stopped
}
