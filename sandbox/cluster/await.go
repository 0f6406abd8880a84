package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/scenario"
)

// awaitInterval is how often the nodes are looked at while the start waits for them.
const awaitInterval = 300 * time.Millisecond

// AwaitBatchResources waits until every node of the sandbox that is healthy, simulated or real, offers batch cpu: the whole
// chain from usage to node status has then run once.
func (c *Cluster) AwaitBatchResources(ctx context.Context, detail func(string)) error {
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		offering, healthy, err := c.countBatch(ctx)
		if err == nil {
			detail(fmt.Sprintf("%d of %d nodes", offering, healthy))
			if healthy > 0 && offering >= healthy {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%d of %d nodes have batch resources: %w", offering, healthy, ctx.Err()), err)
		case <-tick.C:
		}
	}
}

func (c *Cluster) countBatch(ctx context.Context) (offering, healthy int, err error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return 0, 0, fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if !isOwn(node) || scenario.IsFrozen(node) {
			continue
		}
		healthy++
		if _, ok := node.Status.Allocatable[extension.BatchCPU]; ok {
			offering++
		}
	}
	return offering, healthy, nil
}

// isOwn reports whether a node is the sandbox's, and not one that its user made.
func isOwn(node *corev1.Node) bool {
	return node.Labels[component.SimulatedNodeLabel] == "true" || node.Labels[realnode.Label] == "true"
}
