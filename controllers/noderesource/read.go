package noderesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// PodNodeIndex is the name of the index that finds the pods of a node.
const PodNodeIndex = "spec.nodeName"

// uncopied reads from the cache without copying; what is read must not be modified.
var uncopied = &client.GetOptions{UnsafeDisableDeepCopy: new(true)}

// read collects what the offer of a node depends on. The reader must be able to look pods up by PodNodeIndex. An absent
// NodeMetric is no error; an absent node is, and satisfies IsNotFound.
func read(ctx context.Context, reader client.Reader, name string) (overcommit.NodeInput, error) {
	in := overcommit.NodeInput{Node: &corev1.Node{}}
	key := types.NamespacedName{Name: name}
	if err := reader.Get(ctx, key, in.Node, uncopied); err != nil {
		return in, fmt.Errorf("get node %q: %w", name, err)
	}
	metric := &slov1alpha1.NodeMetric{}
	switch err := reader.Get(ctx, key, metric, uncopied); {
	case err == nil:
		in.Metric = metric
	case !apierrors.IsNotFound(err):
		return in, fmt.Errorf("get nodemetric %q: %w", name, err)
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.MatchingFields{PodNodeIndex: name}, client.UnsafeDisableDeepCopy); err != nil {
		return in, fmt.Errorf("list pods of node %q: %w", name, err)
	}
	in.Pods = make([]*corev1.Pod, 0, len(pods.Items))
	for i := range pods.Items {
		in.Pods = append(in.Pods, &pods.Items[i])
	}
	return in, nil
}
