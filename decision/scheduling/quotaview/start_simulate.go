package quotaview

import (
	"container/heap"
	"slices"
	"time"

	"koordinator.sh/koord/decision/scheduling/quota"
)

// simulate has pods end one after the other, and those that wait start as soon as their quotas have room, until the pod does: nil if it never
// does. Ends says when a pod ends, and false for never. What ended before is noted in a Start that is not nil.
func (s *starter) simulate(ends func(span) (time.Duration, bool), into *Start) *time.Duration {
	tree := s.forest.Tree(s.quota).Clone()
	events := &endings{}
	for i := range s.running {
		if after, known := ends(s.running[i].takes); known {
			heap.Push(events, ending{after, &s.running[i]})
		}
	}
	waiting := slices.Clone(s.waiting)
	now := time.Duration(0)
	var admission quota.Admission
	for {
		left := waiting[:0]
		for i := range waiting {
			each := waiting[i]
			tree.Admission(each.quota, each.holding, s.rules, &admission)
			if !admission.Verdict().Passed() {
				left = append(left, each)
				continue
			}
			if s.own(&each) {
				return &now
			}
			if into != nil && s.holds(&each) {
				into.Before++
			}
			tree.Release(each.quota, each.holding)
			each.holding.Assigned = true
			tree.Hold(each.quota, each.holding)
			if after, known := ends(each.takes); known {
				heap.Push(events, ending{now + max(after, time.Second), &each})
			}
		}
		waiting = left
		if events.Len() == 0 {
			return nil
		}
		next := heap.Pop(events).(ending)
		now = next.after
		tree.Release(next.of.quota, next.of.holding)
		if into != nil && s.holds(next.of) {
			into.Ends = append(into.Ends, End{next.of.pod.Namespace, next.of.pod.Name, next.after})
		}
	}
}

// ending is when a pod ends.
type ending struct {
	after time.Duration
	of    *runner
}

// endings is a heap of them, the first first.
type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].after < e[j].after }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push adds an ending.
func (e *endings) Push(x any) { *e = append(*e, x.(ending)) }

// Pop removes the last.
func (e *endings) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
