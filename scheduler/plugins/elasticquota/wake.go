package elasticquota

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/recovery"
)

// wakeDelay gathers what is freed at about the same time.
const wakeDelay = 100 * time.Millisecond

var _ frameworkext.RefusalObserver = &Plugin{}

// refused remembers the pods that the quota refused. The zero value is ready for use; it is safe for concurrent use.
type refused struct {
	mutex sync.Mutex
	pods  map[types.UID]*corev1.Pod
}

func (r *refused) add(pod *corev1.Pod) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.pods == nil {
		r.pods = map[types.UID]*corev1.Pod{}
	}
	r.pods[pod.UID] = pod
}

func (r *refused) remove(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.pods, uid)
}

func (r *refused) list() map[types.UID]*corev1.Pod {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return maps.Clone(r.pods)
}

// Refused implements frameworkext.RefusalObserver.
func (p *Plugin) Refused(state fwk.CycleState, pod *corev1.Pod) {
	defer recovery.Ignore(Name, recovery.PostFilter, pod)
	if read(state) != nil {
		p.refused.add(pod)
	}
}

// wake activates refused pods that a pending pod kept out which has gone: the share it asked for is lent to others now, and
// the scheduler has no event for the end of a pod that was never bound.
func (p *Plugin) wake(ctx context.Context) {
	freed := p.state.Freed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-freed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wakeDelay):
		}
		freed = p.state.Freed() // before looking, so that nothing is missed meanwhile
		if pods := p.admitted(); len(pods) > 0 {
			p.handle.Activate(klog.FromContext(ctx), pods)
		}
	}
}

// admitted are the refused pods that fit now. Those that are gone or have a node are forgotten.
func (p *Plugin) admitted() map[string]*corev1.Pod {
	pods := map[string]*corev1.Pod{}
	for uid, pod := range p.refused.list() {
		held, found := p.state.Held(uid)
		if !found || held.Holding.Assigned {
			p.refused.remove(uid)
			continue
		}
		if p.state.Judge(pod, p.rules).Verdict.Passed() {
			p.refused.remove(uid)
			pods[pod.Namespace+"/"+pod.Name] = pod
		}
	}
	return pods
}
