package coscheduling

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// putBacks are the pods that are being put back into a queue. The zero value is ready for use, also concurrently.
type putBacks struct {
	mutex    sync.Mutex
	underWay map[types.UID]*putBack
}

// putBack is one pod, which several attempts may put back at the same time.
type putBack struct {
	holders int
	// taken is how often the pod was taken out or deleted since the first of them began.
	taken int
}

// do puts a pod back, and once more if the queue has dropped it. The queue makes a pod available before it notes that the attempt is over. If Pop takes the pod
// in between, the queue takes it for one that is tried twice and drops it: nothing would try it again. In a scheduler without gangs
// most pods are put back by the goroutine that calls Pop; members that are rejected while they wait are put back beside it.
func (p *putBacks) do(logger klog.Logger, queue internalqueue.SchedulingQueue, pod *framework.QueuedPodInfo, cycle int64) error {
	begun := p.begin(pod.Pod.UID)
	// A pod that is not in flight is not dropped. One that was put back a second time may be so: Pop took it, and the end of the
	// attempt before, which comes after that, ended the new one in the queue's books.
	tracked := inFlight(queue, pod.Pod.UID)
	err := queue.AddUnschedulableIfNotPresent(logger, pod, cycle)
	// In this order: a pod that leaves the queue is in flight, and is known to be taken before it is in flight no more.
	dropped := err == nil && tracked && !queued(queue, pod.Pod) && !inFlight(queue, pod.Pod.UID)
	if taken := p.end(pod.Pod.UID, begun); dropped && !taken {
		return queue.AddUnschedulableIfNotPresent(logger, pod, cycle)
	}
	return err
}

func (p *putBacks) begin(uid types.UID) (taken int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.underWay == nil {
		p.underWay = map[types.UID]*putBack{}
	}
	one := p.underWay[uid]
	if one == nil {
		one = &putBack{}
		p.underWay[uid] = one
	}
	one.holders++
	return one.taken
}

// end says whether the pod was taken since a begin.
func (p *putBacks) end(uid types.UID, begun int) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	one := p.underWay[uid]
	if one.holders--; one.holders == 0 {
		delete(p.underWay, uid)
	}
	return one.taken != begun
}

// take notes that a pod was taken out or deleted.
func (p *putBacks) take(uid types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if one := p.underWay[uid]; one != nil {
		one.taken++
	}
}

func queued(queue internalqueue.SchedulingQueue, pod *corev1.Pod) bool {
	_, found := queue.GetPod(pod.Name, pod.Namespace)
	return found
}

func inFlight(queue internalqueue.SchedulingQueue, uid types.UID) bool {
	return slices.ContainsFunc(queue.InFlightPods(), func(pod *corev1.Pod) bool { return pod.UID == uid })
}
