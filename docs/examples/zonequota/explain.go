package zonequota

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/reason"
)

// costOfEviction is the loss of running work.
const costOfEviction = 100

var (
	_ reason.Explainer = &Plugin{}
	_ reason.Adviser   = &Plugin{}
)

// ExplainRefusal repeats the decision with a trace.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ string) (reason.Subject, bool) {
	trace := &Trace{}
	in := p.input(state, pod, info)
	verdict := Filter(in, trace)
	if verdict.Passed() {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: verdict.Code, Key: in.Zone, Phrase: fmt.Sprintf("had enough pods of team %[2]s in zone %[1]s", in.Zone, in.Team),
		Distance: float64(in.Taken-in.Max+1) / float64(in.Max),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands() },
	}, true
}

// Advise proposes to evict the least important pod of the team in the zone, on whatever node it is. The engine tries
// each proposal and publishes those that work.
func (p *Plugin) Advise(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil
	}
	victims := victimsIn(zoneOf(info), pod, nodes)
	if len(victims) == 0 {
		return nil
	}
	victim := slices.MinFunc(victims, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(a), corev1helpers.PodPriority(b)), cmp.Compare(a.Name, b.Name))
	})
	return []reason.Change{{
		Cost: costOfEviction, Evict: []*corev1.Pod{victim},
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "evictPod", Node: info.Node().Name,
			Description: fmt.Sprintf("evict pod %s/%s of team %s from zone %s", victim.Namespace, victim.Name, teamOf(pod), zoneOf(info)),
			Steps:       []diagnosticsv1alpha1.FixStep{reason.Eviction(victim)},
		},
	}}
}

// victimsIn lists the team's pods of a lower priority in a zone.
func victimsIn(zone string, pod *corev1.Pod, nodes []fwk.NodeInfo) []*corev1.Pod {
	var victims []*corev1.Pod
	for _, info := range nodes {
		if zoneOf(info) != zone {
			continue
		}
		for _, held := range info.GetPods() {
			other := held.GetPod()
			if belongs(other, pod) && corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod) {
				victims = append(victims, other)
			}
		}
	}
	return victims
}
