package explain

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// offer changes what nodes of the view have allocatable.
func (r *placementReview) offer(asked []diagnosticsv1alpha1.PlacementReviewOffer) error {
	nodes := make([]*corev1.Node, len(asked))
	for i, offer := range asked {
		info, err := r.view.Get(offer.Node)
		if err != nil {
			return apierrors.NewNotFound(corev1.Resource("nodes"), offer.Node)
		}
		nodes[i] = info.Node().DeepCopy()
		if nodes[i].Status.Allocatable == nil {
			nodes[i].Status.Allocatable = corev1.ResourceList{}
		}
		maps.Copy(nodes[i].Status.Allocatable, offer.Allocatable)
	}
	changed, err := r.view.withNodes(nodes...)
	if err == nil {
		r.view = changed
	}
	return err
}

// join adds the new nodes of a question to the view, and returns their names.
func (r *placementReview) join(asked []diagnosticsv1alpha1.PlacementReviewNodes) ([]string, error) {
	var joined []string
	for _, of := range asked {
		like, err := r.view.Get(of.Like)
		if err != nil {
			return nil, apierrors.NewNotFound(corev1.Resource("nodes"), of.Like)
		}
		for range of.Count {
			name, err := r.joinOne(like)
			if err != nil {
				return nil, fmt.Errorf("add a node like %q: %w", of.Like, err)
			}
			joined = append(joined, name)
		}
	}
	return joined, nil
}

// joinOne adds one node, with the pods that every node like it has.
func (r *placementReview) joinOne(like fwk.NodeInfo) (string, error) {
	node := shape{like: like.Node()}.named(r.newName(like.Node().Name))
	r.view = r.view.withNewNode(node, like.Node().Name, r.engine.config.Now())
	for _, info := range like.GetPods() {
		pod := info.GetPod()
		if !everywhere(pod) {
			continue
		}
		own := replacement(pod)
		own.Name, own.UID, own.Spec.NodeName = pod.Name+"-"+node.Name, types.UID(string(pod.UID)+"-"+node.Name), node.Name
		if err := r.view.addPod(own, node.Name, r.engine.config.Now); err != nil {
			return "", err
		}
	}
	return node.Name, nil
}

// newName is a name that no node has.
func (r *placementReview) newName(like string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-new-%d", like, n)
		if _, err := r.view.Get(name); err != nil {
			return name
		}
	}
}

// everywhere is true for a pod that a new node gets, too: that of a DaemonSet, or a mirror pod.
func everywhere(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || owner != nil && owner.Kind == "DaemonSet"
}
