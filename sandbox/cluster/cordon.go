package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cordonedAnnotation marks the nodes that the sandbox cordoned itself: it uncordons no others.
const cordonedAnnotation = "simulation.koordinator.sh/cordoned"

// cordonAllBut cordons the simulated nodes but some, and leaves those alone that are cordoned.
func (c *Cluster) cordonAllBut(ctx context.Context, names []string) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, ownNodes)
	if err != nil {
		return fmt.Errorf("list simulated nodes: %w", err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range nodes.Items {
		if node := &nodes.Items[i]; !node.Spec.Unschedulable && !slices.Contains(names, node.Name) {
			group.Go(func() error { return c.setCordoned(groupCtx, node.Name, true) })
		}
	}
	return group.Wait()
}

// uncordon uncordons the nodes that cordonAllBut cordoned, in this run of the sandbox or an earlier one.
func (c *Cluster) uncordon(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: ownNodes.LabelSelector})
	if err != nil {
		return fmt.Errorf("list simulated nodes: %w", err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range nodes.Items {
		if node := &nodes.Items[i]; node.Annotations[cordonedAnnotation] != "" {
			group.Go(func() error { return c.setCordoned(groupCtx, node.Name, false) })
		}
	}
	return group.Wait()
}

func (c *Cluster) setCordoned(ctx context.Context, name string, cordoned bool) error {
	mark := any(nil) // removes it
	if cordoned {
		mark = "true"
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{cordonedAnnotation: mark}},
		"spec":     map[string]any{"unschedulable": cordoned},
	})
	if err != nil {
		return fmt.Errorf("encode the patch of node %q: %w", name, err)
	}
	if _, err := c.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch node %q: %w", name, err)
	}
	return nil
}
