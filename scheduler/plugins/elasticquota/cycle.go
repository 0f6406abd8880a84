package elasticquota

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// cycle is what a refused pod was judged by. Dry runs of preemption change their copy of it.
type cycle struct {
	// quota whose pods may give way; empty when none may.
	quota     string
	admission *quota.Admission
	// shared is the same for all copies.
	shared *explained
}

// explained is made once for all nodes.
type explained struct {
	once    sync.Once
	subject reason.Subject
	found   bool
}

// Clone implements StateData.
func (c *cycle) Clone() fwk.StateData {
	return &cycle{quota: c.quota, admission: c.admission.Clone(), shared: c.shared}
}

// read returns nil for a pod that was not refused.
func read(state fwk.CycleState) *cycle {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	found, _ := data.(*cycle)
	return found
}

// PreFilterExtensions lets dry runs take pods away.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

// RemovePod supposes that a pod is gone. Only pods that may be preempted for the quota make room in it.
func (p *Plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *corev1.Pod, gone fwk.PodInfo, _ fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.RemovePod, pod, &status)
	if c := read(state); c != nil {
		if held, found := p.state.Held(gone.GetPod().UID); found && held.Quota == c.quota && !held.Holding.NonPreemptible {
			c.admission.Remove(held.Quota, held.Ancestors, held.Holding)
		}
	}
	return nil
}

// AddPod supposes that a pod is there: one that RemovePod took away, or one that is nominated.
func (p *Plugin) AddPod(_ context.Context, state fwk.CycleState, pod *corev1.Pod, added fwk.PodInfo, _ fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.AddPod, pod, &status)
	if c := read(state); c != nil {
		if held, found := p.state.Held(added.GetPod().UID); found && held.Quota == c.quota && !held.Holding.NonPreemptible {
			c.admission.Add(held.Quota, held.Ancestors, held.Holding)
		}
	}
	return nil
}

// Filter repeats the verdict on a refused pod with the pods that a dry run took away. It keeps every preemption, also that
// of other plugins, from evicting pods without making room in the quota.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	c := read(state)
	if c == nil {
		return nil
	}
	verdict := c.admission.Verdict()
	if verdict.Passed() {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, c.admission.Reason(verdict))
}
