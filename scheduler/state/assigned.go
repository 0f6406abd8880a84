package state

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// assignments lists the pods of each node, with the time at which each was assigned to it.
type assignments struct {
	mutex sync.RWMutex
	nodes map[string]*nodePods
	// where is the node of each pod. The events of a pod cannot tell: after a broken watch, the last that is known of a pod
	// that is gone can be from before it was bound.
	where map[types.UID]string
	// versions numbers the lists of all nodes.
	versions atomic.Uint64
	stamps   *stamps
}

type nodePods struct {
	pods map[types.UID]assignment
	// list is pods in order, and is replaced, never changed.
	list    []loadaware.AssignedPod
	version uint64
}

type assignment struct {
	loadaware.AssignedPod
	// bound is true once the API server says so; what is not can be taken back.
	bound bool
}

func newAssignments(stamps *stamps) *assignments {
	return &assignments{nodes: map[string]*nodePods{}, where: map[types.UID]string{}, stamps: stamps}
}

func (a *assignments) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { a.observe(podOf(object)) },
		UpdateFunc: func(before, object any) {
			// After a broken watch, that another pod took the name of one is reported as an update.
			if old, present := podOf(before), podOf(object); old != nil && present != nil && old.UID != present.UID {
				a.remove(old.UID)
			}
			a.observe(podOf(object))
		},
		DeleteFunc: func(object any) {
			if pod := podOf(object); pod != nil {
				a.remove(pod.UID)
			}
		},
	}
}

func podOf(object any) *corev1.Pod {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	pod, _ := object.(*corev1.Pod)
	return pod
}

// observe takes over what the API server says of a pod.
func (a *assignments) observe(pod *corev1.Pod) {
	switch {
	case pod == nil || pod.Spec.NodeName == "":
	case !podrequest.Consumes(pod):
		a.remove(pod.UID)
	default:
		a.put(pod, pod.Spec.NodeName, true, ScheduledAt(pod))
	}
}

// ScheduledAt is when a pod got its node as the API server has it, so that a restarted scheduler does not take old pods
// for new ones. It is the pod's creation where the pod does not say, and zero for a nil pod.
func ScheduledAt(pod *corev1.Pod) time.Time {
	if pod == nil {
		return time.Time{}
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue && !condition.LastTransitionTime.IsZero() {
			return condition.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

func (a *assignments) reserve(pod *corev1.Pod, node string, at time.Time) {
	a.put(pod, node, false, at)
}

func (a *assignments) put(pod *corev1.Pod, node string, bound bool, at time.Time) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if elsewhere, known := a.where[pod.UID]; known && elsewhere != node {
		a.delete(a.nodes[elsewhere], pod.UID, elsewhere)
	}
	a.where[pod.UID] = node
	onNode := a.nodes[node]
	if onNode == nil {
		onNode = &nodePods{pods: map[types.UID]assignment{}}
		a.nodes[node] = onNode
	}
	if before, known := onNode.pods[pod.UID]; known {
		at, bound = before.AssignedAt, bound || before.bound
	}
	onNode.pods[pod.UID] = assignment{AssignedPod: loadaware.AssignedPod{Pod: pod, AssignedAt: at}, bound: bound}
	a.changed(onNode, node)
}

func (a *assignments) unreserve(pod *corev1.Pod, node string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if onNode := a.nodes[node]; onNode != nil && !onNode.pods[pod.UID].bound {
		a.delete(onNode, pod.UID, node)
	}
}

func (a *assignments) remove(uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if node, known := a.where[uid]; known {
		a.delete(a.nodes[node], uid, node)
	}
}

// delete expects the lock to be held.
func (a *assignments) delete(onNode *nodePods, uid types.UID, node string) {
	if _, known := onNode.pods[uid]; !known {
		return
	}
	delete(onNode.pods, uid)
	delete(a.where, uid)
	if len(onNode.pods) == 0 {
		delete(a.nodes, node)
		a.stamps.touch(node)
		return
	}
	a.changed(onNode, node)
}

// changed expects the lock to be held. The list is made when it is asked for.
func (a *assignments) changed(onNode *nodePods, node string) {
	onNode.version = a.versions.Add(1)
	onNode.list = nil
	a.stamps.touch(node)
}

func (a *assignments) list(node string) Assigned {
	a.mutex.RLock()
	onNode := a.nodes[node]
	if onNode == nil {
		a.mutex.RUnlock()
		return Assigned{}
	}
	if onNode.list != nil {
		result := Assigned{Version: onNode.version, Pods: onNode.list}
		a.mutex.RUnlock()
		return result
	}
	a.mutex.RUnlock()
	return a.makeList(node)
}

func (a *assignments) makeList(node string) Assigned {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	onNode := a.nodes[node]
	if onNode == nil {
		return Assigned{}
	}
	if onNode.list == nil {
		list := make([]loadaware.AssignedPod, 0, len(onNode.pods))
		for _, pod := range onNode.pods {
			list = append(list, pod.AssignedPod)
		}
		slices.SortFunc(list, func(x, y loadaware.AssignedPod) int { return cmp.Compare(x.Pod.UID, y.Pod.UID) })
		onNode.list = list
	}
	return Assigned{Version: onNode.version, Pods: onNode.list}
}
