package evictors

import (
	"cmp"
	"slices"
)

// State says whether an evictor could evict the pod.
type State string

// The states, in the order in which evictors are listed.
const (
	// Now: nothing keeps it from evicting the pod.
	Now State = "now"
	// Possible: it takes the pod when something happens that has not.
	Possible State = "possible"
	// Protected: it does not take the pod, whatever happens on the node.
	Protected State = "protected"
)

// Evictor is one that evicts pods, and what it could do to the pod.
type Evictor struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Needs is what has to happen before it evicts the pod.
	Needs []string `json:"needs,omitempty"`
	// Protections are what keeps it from evicting the pod, or holds it back.
	Protections []string `json:"protections,omitempty"`
	// IgnoresBudgets is true when PodDisruptionBudgets do not hold it back.
	IgnoresBudgets bool `json:"ignoresBudgets,omitempty"`
}

// The evictors, the least restrained first.
const (
	Kubelet     = "kubelet"
	Preempting  = "preemption"
	NodeAgent   = "agent"
	Revoking    = "quota"
	Descheduled = "descheduler"
	Drain       = "drain"
)

// rank of states in the answer.
var rank = map[State]int{Now: 0, Possible: 1, Protected: 2}

// Decide lists all evictors: those that could evict the pod now first, then those that wait for something, then the others.
func Decide(in Input) []Evictor {
	all := []Evictor{kubelet(&in), preemption(&in), agent(&in), quota(&in), descheduler(&in), drained(&in)}
	for i := range all {
		all[i].State = Now
		switch {
		case len(all[i].Protections) > 0:
			all[i].State = Protected
		case len(all[i].Needs) > 0:
			all[i].State = Possible
		}
	}
	slices.SortStableFunc(all, func(a, b Evictor) int { return cmp.Compare(rank[a.State], rank[b.State]) })
	return all
}

func (e *Evictor) needs(what string)   { e.Needs = append(e.Needs, what) }
func (e *Evictor) protected(by string) { e.Protections = append(e.Protections, by) }
func (e *Evictor) budgets(refused string) {
	if refused != "" {
		e.protected(refused)
	}
}
