package cluster

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// writers is how many objects are created or deleted at the same time.
const writers = 16

// ownNodes selects the nodes that the sandbox made.
var ownNodes = metav1.ListOptions{LabelSelector: component.SimulatedNodeLabel + "=true", ResourceVersion: "0"}

// EnsureNodes makes the sandbox's own nodes those that its spec asks for: missing ones are created, surplus ones
// deleted. Nodes of others are left alone.
func (c *Cluster) EnsureNodes(ctx context.Context, spec state.Spec, detail func(string)) error {
	existing, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: ownNodes.LabelSelector})
	if err != nil {
		return fmt.Errorf("list simulated nodes: %w", err)
	}
	have := map[string]bool{}
	for i := range existing.Items {
		have[existing.Items[i].Name] = true
	}
	var registered atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, node := range scenario.Nodes(spec.Nodes) {
		if have[node.Name] {
			delete(have, node.Name)
			registered.Add(1)
			continue
		}
		group.Go(func() error {
			if err := c.createNode(groupCtx, node); err != nil {
				return err
			}
			detail(fmt.Sprintf("%d of %d", registered.Add(1), spec.Nodes))
			return nil
		})
	}
	for name := range have {
		group.Go(func() error { return c.deleteNode(groupCtx, name) })
	}
	return group.Wait()
}

func (c *Cluster) createNode(ctx context.Context, node *corev1.Node) error {
	_, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create node %q: %w", node.Name, err)
	}
	return nil
}

func (c *Cluster) deleteNode(ctx context.Context, name string) error {
	err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete node %q: %w", name, err)
	}
	return nil
}
