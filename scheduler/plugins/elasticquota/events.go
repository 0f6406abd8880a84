package elasticquota

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// QuotaEvents is the resource under which changes of ElasticQuotas reach the scheduling queue.
const QuotaEvents = fwk.EventResource("elasticquotas.v1alpha1.scheduling.sigs.k8s.io")

// EventsToRegister names what may admit a pod that the plugin refused. Each event is judged by the admission itself, on a
// state that knows of the event: a pod is woken only when its quota takes it now.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: QuotaEvents, ActionType: fwk.Add | fwk.Update | fwk.Delete}, QueueingHintFn: p.afterQuota},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodScaleDown | fwk.UpdatePodLabel}, QueueingHintFn: p.afterPod},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable}, QueueingHintFn: p.afterNode},
	}), nil
}

func (p *Plugin) afterQuota(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := queueinghint.Objects[schedulingsigsv1alpha1.ElasticQuota](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	if !p.latest.matters(before, after) {
		return fwk.QueueSkip, nil
	}
	for _, object := range []*schedulingsigsv1alpha1.ElasticQuota{before, after} {
		if object != nil {
			p.state.QuotaChanged(types.NamespacedName{Namespace: object.Namespace, Name: object.Name})
		}
	}
	return p.hint(pod), nil
}

// afterPod wakes pods when another one leaves its quota, shrinks or changes to another quota, or when the pod itself does.
func (p *Plugin) afterPod(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	object := newObject
	if object == nil {
		object = oldObject
	}
	changed, ok := object.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", object)
	}
	p.state.PodChanged(changed)
	if changed.UID == pod.UID {
		pod = changed
	}
	return p.hint(pod), nil
}

func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, _, newObject any) (fwk.QueueingHint, error) {
	node, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	p.state.NodeChanged(node.Name)
	return p.hint(pod), nil
}

func (p *Plugin) hint(pod *corev1.Pod) fwk.QueueingHint {
	if p.state.Judge(pod, p.rules).Verdict.Passed() {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// latestEdit remembers whether the latest edit matters: one event asks once for every pending pod. Most edits are the
// status that the scheduler itself writes, and do not.
type latestEdit struct {
	edit atomic.Pointer[edit]
}

type edit struct {
	before, after *schedulingsigsv1alpha1.ElasticQuota
	matters       bool
}

func (l *latestEdit) matters(before, after *schedulingsigsv1alpha1.ElasticQuota) bool {
	if before == nil || after == nil {
		return true
	}
	if last := l.edit.Load(); last != nil && last.before == before && last.after == after {
		return last.matters
	}
	was, _ := quota.Decode(before)
	is, _ := quota.Decode(after)
	judged := &edit{before: before, after: after, matters: !was.Equal(&is)}
	l.edit.Store(judged)
	return judged.matters
}
