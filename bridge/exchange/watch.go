package exchange

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"koordinator.sh/koord/api/extension"
)

// WatchNodes wakes the exchange when a node changes in what matters: what it offers in batch, whether it takes work, and its annotations.
func (x *Exchange) WatchNodes(ctx context.Context, informers cache.Informers) error {
	nodes, err := informers.GetInformer(ctx, &corev1.Node{})
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	_, err = nodes.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { x.Wake() },
		DeleteFunc: func(any) { x.Wake() },
		UpdateFunc: func(before, after any) {
			b, is := before.(*corev1.Node)
			a, isToo := after.(*corev1.Node)
			if !is || !isToo || matters(b, a) {
				x.Wake()
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	return nil
}

func matters(before, after *corev1.Node) bool {
	for _, name := range []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory} {
		b, a := before.Status.Allocatable[name], after.Status.Allocatable[name]
		if b.Cmp(a) != 0 {
			return true
		}
	}
	return before.Spec.Unschedulable != after.Spec.Unschedulable || !maps.Equal(before.Annotations, after.Annotations)
}
