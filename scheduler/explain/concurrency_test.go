package explain

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
)

// TestExplainWhileTheClusterChanges asks from several sides while pods and nodes come and go in the scheduler's cache.
// Its power is the race detector's.
func TestExplainWhileTheClusterChanges(t *testing.T) {
	c := newCluster(t)
	for i := range 20 {
		c.addNode(newNode(i))
		c.addMetric(i, 0, "cpu", fmt.Sprint(i%16), "memory", "1Gi")
	}
	c.addPod(newPod("asked", "cpu", "17"))
	c.addPod(on(3, newPod("bound", "cpu", "1")))
	ctx, cancel := context.WithCancel(t.Context())
	var churn, questions sync.WaitGroup
	churn.Go(func() { c.churn(ctx) })
	for _, name := range []string{"asked", "bound", "asked"} {
		questions.Go(func() {
			for range 20 {
				answer, err := c.engine.Explain(t.Context(), question(name))
				if err != nil {
					t.Error(err)
					return
				}
				if total := answer.Status.NodesTotal; total != 20 {
					t.Errorf("%d nodes were evaluated, want 20", total)
				}
			}
		})
	}
	questions.Wait()
	cancel()
	churn.Wait()
}

// churn binds and removes pods and changes nodes, as the scheduler's event handlers do.
func (c *cluster) churn(ctx context.Context) {
	logger := klog.Background()
	for i := 0; ctx.Err() == nil; i++ {
		pod := on(i%20, newPod(fmt.Sprintf("churn-%d", i), "cpu", "1"))
		if err := c.scheduler.Cache.AddPod(logger, pod); err != nil {
			c.t.Error(err)
			return
		}
		before := newNode(i % 20)
		after := before.DeepCopy()
		after.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse(fmt.Sprintf("%dGi", 32+i%32))
		c.scheduler.Cache.UpdateNode(logger, before, after)
		if err := c.scheduler.Cache.RemovePod(logger, pod); err != nil {
			c.t.Error(err)
			return
		}
	}
}
