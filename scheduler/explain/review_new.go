package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// placeWaiting places the first of the pods that wait for a node.
func (r *placementReview) placeWaiting(ctx context.Context, most int) ([]diagnosticsv1alpha1.PodPlacement, error) {
	waiting, err := r.waiting()
	if err != nil {
		return nil, err
	}
	var placements []diagnosticsv1alpha1.PodPlacement
	for i, pod := range waiting {
		if left := len(waiting) - i; i >= most || r.late() {
			r.note(fmt.Sprintf("%d of %d waiting pods were not placed: a review takes at most %d pods and %s", left, len(waiting), diagnosticsv1alpha1.MaxPlacementReviewPods, reviewBudget))
			break
		}
		placement := diagnosticsv1alpha1.PodPlacement{Namespace: pod.Namespace, Name: pod.Name}
		if err := r.placeNew(ctx, pod, &placement); err != nil {
			return nil, fmt.Errorf("review waiting pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		placements = append(placements, placement)
	}
	return placements, nil
}

// waiting are the pods of the scheduler's profiles that wait for a node, in the order of its queue.
func (r *placementReview) waiting() ([]*corev1.Pod, error) {
	all, err := r.engine.pods.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var queue []*framework.QueuedPodInfo
	for _, pod := range all {
		if !r.waits(pod) {
			continue
		}
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			r.note(fmt.Sprintf("pod %s/%s was not placed: %v", pod.Namespace, pod.Name, err))
			continue
		}
		queue = append(queue, &framework.QueuedPodInfo{PodInfo: info, Timestamp: pod.CreationTimestamp.Time})
	}
	slices.SortFunc(queue, func(a, b *framework.QueuedPodInfo) int { // of pods that the queue does not order
		return cmp.Or(strings.Compare(a.Pod.Namespace, b.Pod.Namespace), strings.Compare(a.Pod.Name, b.Pod.Name))
	})
	slices.SortStableFunc(queue, func(a, b *framework.QueuedPodInfo) int {
		less := r.engine.simulations[a.Pod.Spec.SchedulerName].framework.QueueSortFunc() // all profiles have the same
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	})
	pods := make([]*corev1.Pod, len(queue))
	for i, queued := range queue {
		pods[i] = queued.Pod
	}
	return pods, nil
}

// waits is true for a pod that this scheduler has to find a node for.
func (r *placementReview) waits(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || r.engine.simulations[pod.Spec.SchedulerName] == nil {
		return false
	}
	_, assumed := r.engine.assumed(pod)
	return !assumed && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// placeNew finds a node for a pod that has none, unless it may not be tried yet.
func (r *placementReview) placeNew(ctx context.Context, pod *corev1.Pod, answer *diagnosticsv1alpha1.PodPlacement) error {
	sim := r.engine.simulations[pod.Spec.SchedulerName]
	r.noteExtenders(sim)
	sim.simulated.show(r.view)
	gate := &diagnosticsv1alpha1.PodExplanationStatus{}
	if gated(ctx, sim, pod, gate) {
		answer.Verdict, answer.Summary, answer.Groups = diagnosticsv1alpha1.PlacementGated, gate.Summary, gate.Groups
		return nil
	}
	return r.find(ctx, sim, r.view, pod, nil, answer)
}

// placeCopies places copies of a pod until one is refused.
func (r *placementReview) placeCopies(ctx context.Context, asked diagnosticsv1alpha1.PlacementReviewCopies) (diagnosticsv1alpha1.CopiesPlacement, error) {
	answer := diagnosticsv1alpha1.CopiesPlacement{Namespace: asked.Namespace, Like: asked.Like, Asked: asked.Count}
	like, err := r.engine.pods.Pods(asked.Namespace).Get(asked.Like)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return answer, err
	case err != nil || asked.UID != "" && asked.UID != like.UID:
		answer.Verdict, answer.Summary = diagnosticsv1alpha1.PlacementGone, "the pod does not exist"
		return answer, nil
	case r.engine.simulations[like.Spec.SchedulerName] == nil:
		answer.Verdict = diagnosticsv1alpha1.PlacementOtherScheduler
		answer.Summary = fmt.Sprintf("scheduler %q is not a profile of koord-scheduler", like.Spec.SchedulerName)
		return answer, nil
	}
	return answer, r.copyUntilRefused(ctx, like, &answer)
}

// copyUntilRefused places one copy after the other.
func (r *placementReview) copyUntilRefused(ctx context.Context, like *corev1.Pod, answer *diagnosticsv1alpha1.CopiesPlacement) error {
	on := map[string]int32{}
	answer.Verdict = diagnosticsv1alpha1.PlacementFound
	for answer.Placed < answer.Asked {
		if r.late() {
			r.note(fmt.Sprintf("%d of %d copies of pod %s/%s were not placed within %s", answer.Asked-answer.Placed, answer.Asked, like.Namespace, like.Name, reviewBudget))
			break
		}
		var one diagnosticsv1alpha1.PodPlacement
		if err := r.placeNew(ctx, r.copied(like, answer.Placed+1), &one); err != nil {
			return err
		}
		if one.Verdict != diagnosticsv1alpha1.PlacementFound {
			answer.Verdict, answer.Summary, answer.Groups = diagnosticsv1alpha1.PlacementNone, one.Summary, one.Groups
			break
		}
		answer.Placed++
		on[one.Node]++
	}
	for _, node := range slices.Sorted(maps.Keys(on)) {
		answer.Nodes = append(answer.Nodes, diagnosticsv1alpha1.CopiesOnNode{Name: node, Copies: on[node]})
	}
	if answer.Verdict == diagnosticsv1alpha1.PlacementFound {
		answer.Summary = fmt.Sprintf("%d of %d copies get nodes", answer.Placed, answer.Asked)
	}
	return nil
}

// copied is the nth pod like another one, without its volumes of PersistentVolumeClaims: those of the copy are not known.
func (r *placementReview) copied(like *corev1.Pod, n int32) *corev1.Pod {
	made := replacement(like)
	made.Name, made.UID = fmt.Sprintf("%s-copy-%d", like.Name, n), types.UID(fmt.Sprintf("%s-copy-%d", like.UID, n))
	made.CreationTimestamp.Time = r.engine.config.Now()
	claims := func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }
	if slices.ContainsFunc(made.Spec.Volumes, claims) {
		made.Spec.Volumes = slices.DeleteFunc(made.Spec.Volumes, claims)
		r.note(fmt.Sprintf("PersistentVolumeClaims of copies of pod %s/%s are not considered", like.Namespace, like.Name))
	}
	return made
}

// late is true when no further pod is placed.
func (r *placementReview) late() bool { return r.engine.config.Now().After(r.until) }
