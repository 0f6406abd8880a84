package coscheduling

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// Queue is the queue of a scheduler with gangs. When a waiting member gives its node back, the scheduler notifies its queue as if a
// pod had been deleted, which wakes the pods that were refused for lack of room, and among them the member for which the node was
// given back. The two would take turns for ever, because the queue does not let a pod wait out its backoff when it has no other.
// Queue passes on such an event only to pods that may use the room. It also keeps the pods that the queue would drop when they are put
// back beside Pop. It is safe for concurrent use.
type Queue struct {
	internalqueue.SchedulingQueue
	gangs    *gangs.State
	putBacks putBacks

	mutex sync.Mutex
	// trying is the pod for which a node is being looked for, if any: there is one at a time.
	trying types.UID
	// late are events to be passed on when that is over. The queue keeps events for a pod that is being tried without asking
	// whether they are news, and a member that finds no node would be tried again because of those that it made give theirs back.
	late []func()
}

// Seams make a scheduler use its own Queue instead, and count all nodes where members of a gang are rejected.
func Seams(state *gangs.State) frameworkext.Seams {
	return frameworkext.Seams{
		FailureHandler: func(built *scheduler.Scheduler, next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
			return ofAllNodes(next, func() int { return built.Cache.NodeCount() })
		},
		Queue: func(inner internalqueue.SchedulingQueue) internalqueue.SchedulingQueue {
			return &Queue{SchedulingQueue: inner, gangs: state}
		},
	}
}

// Pop returns the next pod to find a node for. It waits until there is one.
func (q *Queue) Pop(logger klog.Logger) (*framework.QueuedPodInfo, error) {
	q.over()
	pod, err := q.SchedulingQueue.Pop(logger)
	if pod != nil {
		q.putBacks.take(pod.Pod.UID)
		q.mutex.Lock()
		q.trying = pod.Pod.UID
		q.mutex.Unlock()
	}
	return pod, err
}

// MoveAllToActiveOrBackoffQueue wakes the pods that an event may make schedulable.
func (q *Queue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, before, after any, preCheck internalqueue.PreEnqueueCheck) {
	pod, ended := before.(*corev1.Pod)
	if ended = ended && after == nil; ended {
		if room, given := q.gangs.TakeReleased(pod.UID); given {
			q.pass(func() {
				q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, before, after, func(other *corev1.Pod) bool {
					return q.gangs.MayUseReleased(room, other.UID) && (preCheck == nil || preCheck(other))
				})
			})
			return
		}
	}
	q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, before, after, preCheck)
}

// pass passes an event on at once, or late.
func (q *Queue) pass(event func()) {
	q.mutex.Lock()
	if q.trying != "" {
		q.late = append(q.late, event)
		q.mutex.Unlock()
		return
	}
	q.mutex.Unlock()
	event()
}

// AddUnschedulableIfNotPresent puts a pod back that was not placed.
func (q *Queue) AddUnschedulableIfNotPresent(logger klog.Logger, pod *framework.QueuedPodInfo, cycle int64) error {
	uid := pod.Pod.UID
	err := q.putBacks.do(logger, q.SchedulingQueue, pod, cycle)
	q.back(uid)
	return err
}

// PopSpecificPod takes out one pod, nil if it is not there.
func (q *Queue) PopSpecificPod(logger klog.Logger, pod *corev1.Pod) *framework.QueuedPodInfo {
	popped := q.SchedulingQueue.PopSpecificPod(logger, pod)
	if popped != nil {
		q.putBacks.take(pod.UID)
	}
	return popped
}

// Delete drops a pod that is gone.
func (q *Queue) Delete(pod *corev1.Pod) {
	q.putBacks.take(pod.UID)
	q.SchedulingQueue.Delete(pod)
}

// Done ends the attempt of a pod.
func (q *Queue) Done(uid types.UID) {
	q.SchedulingQueue.Done(uid)
	q.back(uid)
}

// back notes that a pod is in the queue again, or out of it for good.
func (q *Queue) back(uid types.UID) {
	q.mutex.Lock()
	tried := q.trying == uid
	q.mutex.Unlock()
	if tried {
		q.over()
	}
}

// over passes on what came late.
func (q *Queue) over() {
	q.mutex.Lock()
	late := q.late
	q.trying, q.late = "", nil
	q.mutex.Unlock()
	for _, event := range late {
		event()
	}
}
