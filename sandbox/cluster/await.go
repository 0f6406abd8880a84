package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/scenario"
)

// awaitInterval is how often the nodes are looked at while the start waits for them.
const awaitInterval = 300 * time.Millisecond

// AwaitBatchResources waits until every simulated node that is healthy offers batch cpu: the whole chain from usage to
// node status has then run once.
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
			return errors.Join(fmt.Errorf("%d of %d nodes offer batch resources: %w", offering, healthy, ctx.Err()), err)
		case <-tick.C:
		}
	}
}

func (c *Cluster) countBatch(ctx context.Context) (offering, healthy int, err error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, ownNodes)
	if err != nil {
		return 0, 0, fmt.Errorf("list simulated nodes: %w", err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if scenario.IsFrozen(node) {
			continue
		}
		healthy++
		if _, ok := node.Status.Allocatable[corev1.ResourceName(extension.BatchCPU)]; ok {
			offering++
		}
	}
	return offering, healthy, nil
}
