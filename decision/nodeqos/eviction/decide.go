package eviction

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/core/waterfall"
)

// Outcome is what one demand comes to.
type Outcome struct {
	Demand
	// Pending is what pods that are already leaving release, in the unit of the demand.
	Pending int64 `json:"pending,omitempty"`
	// Held says why nothing, or no more, is evicted although more is wanted; empty otherwise.
	Held string `json:"held,omitempty"`
	// Released by what is pending and the victims together.
	Released int64 `json:"released,omitempty"`
}

// Victim is a pod to evict.
type Victim struct {
	Pod Ref `json:"pod"`
	// Feature that evicts it, and why it wants something released.
	Feature Feature `json:"feature"`
	Reason  string  `json:"reason"`
	// Frees is what it releases, in Unit.
	Frees int64  `json:"frees"`
	Unit  string `json:"unit"`
	// Keys by which it came first.
	Keys []Key `json:"keys"`
	// Override says why it is taken although a PodDisruptionBudget protects it; empty when that is not meant.
	Override string `json:"override,omitempty"`
	// DeleteOptions of an eviction that was requested with some, without preconditions; nil for the others.
	DeleteOptions *metav1.DeleteOptions `json:"deleteOptions,omitempty"`
}

// EventReason is the reason of the event about the eviction.
func (v Victim) EventReason() string { return ReasonPrefix + string(v.Feature) }

// Plan is the evictions of one node.
type Plan struct {
	// Victims in the order in which they are evicted, each once.
	Victims []Victim `json:"victims,omitempty"`
	// Outcomes of the demands in the order in which they were decided.
	Outcomes []Outcome `json:"outcomes"`
}

// Decide decides the evictions of one node. It is deterministic: pods that are equal in every key go by their names, whatever
// order they come in. A nil trace records nothing.
func Decide(in Input, trace *Trace) Plan {
	trace.begin()
	e := engine{in: in, trace: trace, gone: make([]bool, len(in.Pods)), left: in.Budget.allowance(in.Now)}
	wanted := demands(&in, trace)
	e.plan.Outcomes = make([]Outcome, 0, len(wanted))
	for _, demand := range wanted {
		e.meet(demand)
	}
	return e.plan
}

// engine is one call of Decide.
type engine struct {
	in    Input
	trace *Trace
	// gone are the victims so far, by their index in Input.Pods.
	gone []bool
	left allowance
	plan Plan
}

// meet chooses the victims of one demand.
func (e *engine) meet(demand Demand) {
	out := Outcome{Demand: demand}
	if demand.State != Triggered && e.trace == nil {
		e.plan.Outcomes = append(e.plan.Outcomes, out)
		return
	}
	s := newSelector(e.in, demand)
	candidates, excluded := s.candidates(e.in.Pods, e.gone)
	if demand.State == Triggered {
		out.Pending = e.pending(s)
		out.Released = out.Pending
		candidates = e.choose(s, candidates, &out)
	}
	e.trace.considered(candidates, excluded)
	e.plan.Outcomes = append(e.plan.Outcomes, out)
}

// pending is what pods that are leaving release. Those that have been leaving for too long are not waited for any more, and
// yet no candidates: a second eviction would not help.
func (e *engine) pending(s selector) int64 {
	total := int64(0)
	for i := range e.in.Pods {
		pod := &e.in.Pods[i]
		if !pod.Leaving && !e.gone[i] || !s.counts(pod) {
			continue
		}
		if !e.gone[i] && e.in.LeavingFor > 0 && !pod.LeavingSince.IsZero() && e.in.Now.Sub(pod.LeavingSince) > e.in.LeavingFor {
			continue
		}
		total = waterfall.Add(total, max(s.frees(pod), 0))
	}
	return total
}

// choose takes candidates in order until enough is released. It returns those that were considered.
func (e *engine) choose(s selector, candidates []Candidate, out *Outcome) []Candidate {
	if out.Released >= out.Release {
		return candidates
	}
	if out.Held = e.cooling(out.Feature.Resource()); out.Held != "" {
		return candidates
	}
	for i := range candidates {
		candidate := &candidates[i]
		if out.Released >= out.Release {
			return candidates
		}
		if !e.left.take() {
			out.Held = e.left.reason
			return candidates
		}
		out.Released = waterfall.Add(out.Released, candidate.Frees)
		candidate.Victim, candidate.Released = true, out.Released
		e.gone[candidate.index] = true
		e.plan.Victims = append(e.plan.Victims, Victim{
			Pod: candidate.Pod, Feature: out.Feature, Reason: out.Reason, Frees: candidate.Frees, Unit: string(out.Unit), Keys: candidate.Keys,
		})
	}
	if out.Released < out.Release {
		out.Held = "no more pods may be evicted"
		if len(candidates) == 0 {
			return e.override(s, out)
		}
	}
	return candidates
}

// cooling says why the last eviction has to take effect first; empty when it has.
func (e *engine) cooling(resource Resource) string {
	last, evicted := e.in.LastEviction[resource]
	cooldown := cooldownOf(e.in.Cooldown, resource)
	// An eviction that lies further ahead than a cool-down was timed by a clock that was set back since.
	if since := e.in.Now.Sub(last); !evicted || last.IsZero() || since >= cooldown || since <= -cooldown {
		return ""
	}
	return fmt.Sprintf("the last eviction for %s was less than %s ago", resource.word(), cooldown)
}

func cooldownOf(given map[Resource]time.Duration, resource Resource) time.Duration {
	if cooldown, ok := given[resource]; ok {
		return cooldown
	}
	if resource == CPU {
		return CPUCooldown
	}
	return MemoryCooldown
}
