package coscheduling

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// allowRetryInterval is the time after which members that are to wait, but are not known to the framework yet, are looked for again.
const allowRetryInterval = 20 * time.Millisecond

// Permit has a member wait until every gang of its group is complete, and then lets all of them go.
func (p *Plugin) Permit(_ context.Context, state fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status, wait time.Duration) {
	defer recovery.Status(Name, recovery.Permit, pod, &status)
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil, 0
	}
	permission := p.state.Permit(key, pod, node)
	if !permission.Refused.Passed() {
		p.activate(permission.Try) // a cycle that fails activates no pods at its end
		return fwk.NewStatus(fwk.Unschedulable, permission.Refused.Reason), 0
	}
	activateLater(state, permission.Try)
	if permission.Wait > 0 {
		return fwk.NewStatus(fwk.Wait), permission.Wait
	}
	p.planned.drop(key)
	p.allow(permission.Allow)
	return nil, 0
}

func (p *Plugin) allow(members []types.UID) {
	for _, uid := range members {
		if waiting := p.handle.GetWaitingPod(uid); waiting != nil {
			waiting.Allow(Name)
		}
	}
}

// reject has waiting members give their nodes back. Members that are not found wait since a moment ago, for another attempt
// than the one that failed.
func (p *Plugin) reject(rejection gang.Rejection) {
	try := rejection.Try
	for _, uid := range rejection.Release {
		waiting := p.handle.GetWaitingPod(uid)
		if waiting == nil {
			continue
		}
		released, again := p.state.Release(uid)
		if released {
			waiting.Reject(Name, rejection.Reason)
		}
		if again != nil {
			try = append(try, again)
		}
	}
	p.activate(try)
}

// changed acts on events that open or complete gangs.
func (p *Plugin) changed(change gangs.Change) {
	p.activate(change.Wake)
	for _, key := range change.Complete {
		p.allowWaiting(key)
	}
}

// allowWaiting lets the members of a group go that a change has completed.
func (p *Plugin) allowWaiting(key gang.Key) {
	select {
	case <-p.done:
		return
	default:
	}
	allowed, told := p.state.AllowWaiting(key, func(uid types.UID) bool { return p.handle.GetWaitingPod(uid) != nil })
	if !told {
		time.AfterFunc(allowRetryInterval, func() { p.allowWaiting(key) })
		return
	}
	p.allow(allowed)
}

// activate moves pods to the queue of those to be tried, without waiting for their backoff.
func (p *Plugin) activate(pods []*corev1.Pod) {
	if len(pods) == 0 {
		return
	}
	named := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		named[pod.Namespace+"/"+pod.Name] = pod
	}
	p.handle.Activate(klog.Background(), named)
}

// activateLater does the same at the end of the scheduling cycle.
func activateLater(state fwk.CycleState, pods []*corev1.Pod) {
	if len(pods) == 0 {
		return
	}
	data, err := state.Read(framework.PodsToActivateKey)
	found, ok := data.(*framework.PodsToActivate)
	if err != nil || !ok {
		return
	}
	found.Lock()
	defer found.Unlock()
	for _, pod := range pods {
		found.Map[pod.Namespace+"/"+pod.Name] = pod
	}
}
