package resctrl

import (
	"slices"
	"time"

	"koordinator.sh/koord/agent/host/resctrl"
	decision "koordinator.sh/koord/decision/nodeqos/resctrl"
)

// State is what is known of cache and memory bandwidth.
type State struct {
	// At is when the groups were last reconciled.
	At time.Time
	// Unavailable says why nothing can be divided; empty where something can.
	Unavailable string
	// Groups that there are, by name, the root group first under the empty name; those of others are among them.
	Groups []GroupState
	// Pods by UID, and the group that each is in; the root group where it is missing.
	Pods map[string]string
	// Problems say what is wanted and cannot be.
	Problems []string
}

// GroupState is one group.
type GroupState struct {
	Name string
	// Own is true for a group that the agent has made or set.
	Own bool
	// Schemata as the kernel shows them.
	Schemata string
	// Monitored is true where the processor counts what the group uses, and counters are read.
	Monitored bool
	Counters  resctrl.Counters
	// TotalBandwidth and LocalBandwidth in bytes per second since the previous pass; Measured is false for the first one.
	TotalBandwidth, LocalBandwidth float64
	Measured                       bool
}

// State returns what was seen last. It may be called at any time; what it returns must not be changed.
func (r *Reconciler) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *Reconciler) unavailable(at time.Time, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = State{At: at, Unavailable: why}
}

// setState records what a round came to.
func (r *Reconciler) setState(pass *round, plan decision.Plan, notes []string) {
	before := r.State()
	out := State{At: pass.in.Now, Pods: plan.Pods, Problems: append(notes, plan.Problems...)}
	names, err := pass.groups()
	if err != nil {
		out.Problems = append(out.Problems, err.Error())
	}
	for _, name := range append([]string{""}, names...) {
		content, err := pass.tree.Read(name+"/schemata", nil)
		if err != nil {
			continue // it went
		}
		group := GroupState{Name: name, Own: r.managed[name] != nil, Schemata: oneLine(string(content))}
		if r.options.Counters {
			group.Counters, group.Monitored = resctrl.ReadCounters(pass.tree, name, pass.in.Now)
		}
		if last := slices.IndexFunc(before.Groups, func(g GroupState) bool { return g.Name == name }); last >= 0 && group.Monitored {
			group.TotalBandwidth, group.LocalBandwidth, group.Measured = resctrl.Bandwidth(before.Groups[last].Counters, group.Counters)
		}
		out.Groups = append(out.Groups, group)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = out
}
