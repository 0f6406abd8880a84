package coscheduling

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/recovery"
)

// Less orders pods by priority, then by the age of their gangs, so that the members of a gang come one after the other. Pods
// without a gang stand in line with the time at which they were queued. A profile enables it in the place of PrioritySort;
// without it gangs are formed all the same, with more members waiting at a time.
func (p *Plugin) Less(a, b fwk.QueuedPodInfo) bool {
	defer recovery.Ignore(Name, recovery.QueueSort, a.GetPodInfo().GetPod())
	podA, podB := a.GetPodInfo().GetPod(), b.GetPodInfo().GetPod()
	if priorityA, priorityB := corev1helpers.PodPriority(podA), corev1helpers.PodPriority(podB); priorityA != priorityB {
		return priorityA > priorityB
	}
	return p.rank(a, podA).Compare(p.rank(b, podB)) < 0
}

func (p *Plugin) rank(queued fwk.QueuedPodInfo, pod *corev1.Pod) gang.Rank {
	rank := gang.Rank{At: queued.GetTimestamp(), Queued: queued.GetTimestamp(), Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}}
	if key, belongs := gang.KeyOf(pod); belongs {
		if seen, known := p.state.Seen(key); known {
			rank.At, rank.Gang = seen, key
		}
	}
	return rank
}

// EventsToRegister names what can lift a refusal of this plugin and is not seen by it otherwise: the pod joins another gang, and
// for gangs that have to be close together, more room. Everything else, such as a change of a PodGroup or another member, comes
// from the state, which wakes exactly the members that may be tried because of it.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	events := []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}, QueueingHintFn: afterPod},
	}
	if *p.args.AwareNetworkTopology {
		events = append(events,
			fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint}, QueueingHintFn: p.afterRoom},
			fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodScaleDown}, QueueingHintFn: p.afterRoom},
		)
	}
	return recovery.Hints(Name, events), nil
}

// afterRoom wakes the members that no part of the network had room for.
func (p *Plugin) afterRoom(_ klog.Logger, pod *corev1.Pod, _, _ any) (fwk.QueueingHint, error) {
	if key, belongs := gang.KeyOf(pod); belongs && p.gathers(key) != nil && p.state.Admit(key, pod.UID).Passed() {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

func afterPod(_ klog.Logger, pod *corev1.Pod, _, object any) (fwk.QueueingHint, error) {
	changed, ok := object.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", object)
	}
	if changed.UID == pod.UID {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}
