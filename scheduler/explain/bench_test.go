package explain

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// crowded is a cluster where every node refuses the pod "asked": most lack batch CPU, some are tainted, hot or stale.
func crowded(b *testing.B, nodes int) *cluster {
	c := newCluster(b)
	for i := range nodes {
		node := newNode(i)
		if i%7 == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
		}
		c.addNode(node)
		used, ago := "4", 10*time.Second
		if i%5 == 0 {
			used = "14"
		}
		if i%11 == 0 {
			ago = time.Hour
		}
		c.addMetric(i, ago, "cpu", used, "memory", "20Gi")
		for j := range 20 {
			c.addPod(on(i, newPod(fmt.Sprintf("p-%d-%d", i, j), "cpu", "500m", "memory", "1Gi", "kubernetes.io/batch-cpu", "100")))
		}
	}
	pod := newPod("asked", "kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "1Gi")
	pod.Spec.Priority = new(int32(5500))
	c.addPod(pod)
	return c
}

// hot is a cluster where only load keeps the pod "asked" off every node, so that every node is worth a fix.
func hot(b *testing.B, nodes int) *cluster {
	c := newCluster(b)
	for i := range nodes {
		c.addNode(newNode(i))
		c.addMetric(i, 10*time.Second, "cpu", fmt.Sprintf("%dm", 3000+i%3000), "memory", "20Gi")
		for j := range 20 {
			c.addPod(on(i, newPod(fmt.Sprintf("p-%d-%d", i, j), "cpu", "500m", "memory", "1Gi")))
		}
	}
	c.addPod(newPod("asked", "cpu", "1", "memory", "1Gi"))
	return c
}

func BenchmarkExplainHotCluster(b *testing.B) {
	c := hot(b, 5000)
	for b.Loop() {
		answer, err := c.engine.Explain(context.Background(), question("asked"))
		if err != nil || answer.Status.NodesFeasible != 0 || answer.Status.Fix == nil {
			b.Fatal(err, answer)
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		c := crowded(b, nodes)
		for _, skip := range []bool{true, false} {
			b.Run(fmt.Sprintf("nodes=%d/fix=%v", nodes, !skip), func(b *testing.B) {
				ask := question("asked")
				ask.Spec.SkipFix = skip
				for b.Loop() {
					answer, err := c.engine.Explain(context.Background(), ask)
					if err != nil {
						b.Fatal(err)
					}
					if answer.Status.NodesTotal != int32(nodes) || answer.Status.NodesFeasible != 0 {
						b.Fatal(answer.Status.Summary)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("nodes=%d/bound", nodes), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.engine.Explain(context.Background(), question("p-1-1")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
