package reservepods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// holder shows reserve pods in the scheduler's cache.
type holder struct {
	cache internalcache.Cache
	freed workqueue.TypedInterface[*corev1.Pod]
}

// Hold implements reservations.Holder. Pods never change their node; the cache ends the process when one does.
func (h *holder) Hold(before, after *corev1.Pod) {
	logger := klog.Background()
	if before != nil && after != nil && before.Spec.NodeName != after.Spec.NodeName {
		h.Hold(before, nil)
		before = nil
	}
	shown := before
	if shown == nil {
		shown = after
	}
	known, err := h.cache.GetPod(shown)
	if err != nil {
		known = nil // not in the cache
	}
	switch {
	case after == nil:
		h.remove(logger, known)
	case known == nil && !decision.IsReservePod(after):
		// An operating-mode pod that the scheduler has not seen yet; it is shown as it is when that happens.
	case known == nil:
		report(logger, h.cache.AddPod(logger, after), after)
	default:
		h.replace(logger, known, after)
	}
}

// remove expects a pod of the cache, or nil. An assumed pod may be removed: the cycle that assumed it forgives that.
func (h *holder) remove(logger klog.Logger, known *corev1.Pod) {
	if known == nil {
		return
	}
	report(logger, h.cache.RemovePod(logger, known), known)
	h.freed.Add(known)
}

func (h *holder) replace(logger klog.Logger, known, after *corev1.Pod) {
	assumed, err := h.cache.IsAssumedPod(known)
	switch {
	case err != nil:
		report(logger, err, after)
	case assumed:
		report(logger, h.cache.AddPod(logger, after), after) // which confirms it
	case known.Spec.NodeName != after.Spec.NodeName:
		report(logger, h.cache.RemovePod(logger, known), known)
		report(logger, h.cache.AddPod(logger, after), after)
	default:
		report(logger, h.cache.UpdatePod(logger, known, after), after)
	}
}

func report(logger klog.Logger, err error, pod *corev1.Pod) {
	if err != nil {
		logger.Error(err, "Failed to update the reserved resources in the scheduler cache", "reservation", decision.NameOf(pod), "node", pod.Spec.NodeName)
	}
}

// showingCache is the scheduler's cache, in which operating-mode pods that are used request nothing, and in which the room of a
// user that leaves is held by its reservation before it is free.
type showingCache struct {
	internalcache.Cache
	state *reservations.State
}

// AddPod implements Cache.
func (c *showingCache) AddPod(logger klog.Logger, pod *corev1.Pod) (err error) {
	c.state.Showing(pod, func(shown *corev1.Pod) { err = c.Cache.AddPod(logger, shown) })
	return err
}

// UpdatePod implements Cache.
func (c *showingCache) UpdatePod(logger klog.Logger, before, after *corev1.Pod) (err error) {
	c.state.Showing(after, func(shown *corev1.Pod) { err = c.Cache.UpdatePod(logger, before, shown) })
	return err
}

// RemovePod implements Cache.
func (c *showingCache) RemovePod(logger klog.Logger, pod *corev1.Pod) error {
	c.state.Leave(pod.UID)
	return c.Cache.RemovePod(logger, pod)
}
