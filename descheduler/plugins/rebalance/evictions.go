package rebalance

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// evictedByAPI is the reason of the condition DisruptionTarget that the API server sets on pods that are evicted. Kubernetes declares no
// constant for it.
const evictedByAPI = "EvictionByEvictionAPI"

// Bounds of what is remembered of evictions.
const (
	evictionsKept = 720 * time.Hour // the longest history window
	maxEvictions  = 10000
)

// EvictionLog remembers which pods were evicted from which nodes by another component than koord-descheduler: by koordlet, or by a drain. A
// workload that was evicted from a node left it, by any component. The log lives as long as the process. Safe for concurrent use.
type EvictionLog struct {
	// Client reads the owners of pods.
	Client client.Client
	// Now is the clock; nil is the one of the machine.
	Now func() time.Time

	mutex sync.Mutex
	seen  map[types.UID]bool
	// order of evictions, the oldest first.
	order []evicted
}

// evicted is one pod that was evicted.
type evicted struct {
	pod  *corev1.Pod // its metadata and node
	uid  types.UID
	at   time.Time
	from string
	// own is true for the eviction of a PodMigrationJob.
	own bool
}

// Handler observes the pods of an informer.
func (l *EvictionLog) Handler() cache.ResourceEventHandler {
	observe := func(object any) {
		if gone, unknown := object.(cache.DeletedFinalStateUnknown); unknown {
			object = gone.Obj
		}
		if pod, ok := object.(*corev1.Pod); ok {
			l.Observe(pod)
		}
	}
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, now any) { observe(now) }, DeleteFunc: observe}
}

// Observe a pod. Only one that is bound, has a controller and was evicted is remembered.
func (l *EvictionLog) Observe(pod *corev1.Pod) {
	at, ok := evictedAt(pod)
	controller := metav1.GetControllerOfNoCopy(pod)
	if !ok || controller == nil || pod.Spec.NodeName == "" {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.seen[pod.UID] {
		return
	}
	if l.seen == nil {
		l.seen = map[types.UID]bool{}
	}
	l.seen[pod.UID] = true
	named := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, OwnerReferences: []metav1.OwnerReference{*controller}}}
	l.order = append(l.order, evicted{pod: named, uid: pod.UID, at: at, from: pod.Spec.NodeName})
	if len(l.order) > maxEvictions {
		l.drop(1)
	}
}

func evictedAt(pod *corev1.Pod) (time.Time, bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue && condition.Reason == evictedByAPI {
			return condition.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// drop the oldest evictions. The mutex is held.
func (l *EvictionLog) drop(count int) {
	for _, one := range l.order[:count] {
		delete(l.seen, one.uid)
	}
	clear(l.order[:count])
	l.order = l.order[count:]
}

// Moves are the evictions that no PodMigrationJob made.
func (l *EvictionLog) Moves(ctx context.Context, jobs []schedulingv1alpha1.PodMigrationJob) ([]loopguard.Move, error) {
	own := map[types.UID]bool{}
	for i := range jobs {
		if ref := jobs[i].Spec.PodRef; ref != nil {
			own[ref.UID] = true
		}
	}
	owners := newWorkloads(l.Client)
	var moves []loopguard.Move
	for _, one := range l.others(own) {
		at := owners.index(ctx, one.pod)
		moves = append(moves, loopguard.Move{
			Workload: owners.found[at].Key, Pod: one.pod.Namespace + "/" + one.pod.Name, From: one.from, At: one.at, By: loopguard.ByOther,
		})
	}
	return moves, ctx.Err()
}

// others are the evictions of pods that had no job. Jobs are deleted some time after they ended, so what was one's is remembered.
func (l *EvictionLog) others(jobs map[types.UID]bool) []evicted {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	oldest, expired := now().Add(-evictionsKept), 0
	var found []evicted
	for i := range l.order {
		one := &l.order[i]
		one.own = one.own || jobs[one.uid]
		switch {
		case one.at.Before(oldest) && expired == i:
			expired++
		case !one.own:
			found = append(found, *one)
		}
	}
	l.drop(expired)
	return found
}
