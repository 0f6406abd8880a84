package explain

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// filtered is a cluster where every node refuses the pod "asked": most lack batch CPU, some are tainted, hot or stale.
func filtered(c *cluster, nodes int) *cluster {
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
	began := processorTime(b)
	for b.Loop() {
		answer, err := c.engine.Explain(context.Background(), question("asked"))
		if err != nil || answer.Status.NodesFeasible != 0 || answer.Status.Fix == nil {
			b.Fatal(err, answer)
		}
	}
	b.ReportMetric(float64((processorTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// BenchmarkExplainHotClusterForTenant searches twice: the smallest change is one of a node.
func BenchmarkExplainHotClusterForTenant(b *testing.B) {
	c := hot(b, 5000)
	for b.Loop() {
		answer, err := c.engine.ExplainFor(context.Background(), question("asked"), tenantOf("default"))
		if err != nil || answer.Status.NodesFeasible != 0 {
			b.Fatal(err, answer)
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		c := filtered(newCluster(b), nodes)
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

// shipped is that cluster with the shipped profile, topologies on all nodes, a fifth of them bound, and a tree of quotas.
func shipped(b *testing.B, nodes int) *cluster {
	c := newShippedCluster(b)
	org := newQuota("org", "", 1000, 1000000)
	org.Labels[extension.LabelQuotaIsParent] = "true"
	c.addQuota(org)
	for i := range 50 {
		c.addQuota(newQuota(fmt.Sprint("team-", i), "org", 10, 100000))
	}
	for i := range nodes {
		c.addReport(newReport(fmt.Sprint("node-", i)))
	}
	filtered(c, nodes)
	for i := range nodes / 5 {
		c.addPod(on(5*i, holdingCPUs(newPod(fmt.Sprint("bound-", i), "cpu", "4"), "0-3")))
	}
	// No node takes this one, whatever is evicted: several changes of the pod itself are needed.
	refused := newPod("refused", "cpu", "17", "memory", "1Gi", "nvidia.com/gpu", "8")
	refused.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLSR), extension.LabelQuotaName: "team-1"}
	refused.Annotations = map[string]string{
		extension.AnnotationSchedulingHint: `{"nodeNames":["gone"]}`, extension.AnnotationReservationAffinity: `{"name":"gone"}`,
		extension.AnnotationNUMATopologySpec: `{"numaTopologyPolicy":"SingleNUMANode"}`,
	}
	c.addPod(refused)
	pod := newPod("pinned", "cpu", "14", "memory", "1Gi")
	pod.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLSR), extension.LabelQuotaName: "team-1"}
	c.addPod(pod)
	return c
}

// BenchmarkExplainShipped also reports the processor time, which other work on the machine does not change.
func BenchmarkExplainShipped(b *testing.B) {
	c := shipped(b, 5000)
	for _, name := range []string{"asked", "pinned", "refused", "p-1-1"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				answer, err := c.engine.Explain(context.Background(), question(name))
				if err != nil {
					b.Fatal(err)
				}
				if answer.Status.NodesTotal != 5000 {
					b.Fatal(answer.Status.Summary)
				}
			}
			b.ReportMetric(float64((processorTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkReviewCopies places copies of a pod by the shipped profile on nodes with ten pods each, of which every one takes another.
func BenchmarkReviewCopies(b *testing.B) {
	const count = 100
	for _, nodes := range []int{1000, 5000} {
		c := newShippedCluster(b)
		for i := range nodes {
			c.addNode(newNode(i))
			c.addMetric(i, 10*time.Second, "cpu", "4", "memory", "20Gi")
			for j := range 10 {
				c.addPod(on(i, newPod(fmt.Sprintf("p-%d-%d", i, j), "cpu", "500m", "memory", "1Gi")))
			}
		}
		c.addPod(newPod("like", "cpu", "100m", "memory", "64Mi"))
		spec := diagnosticsv1alpha1.PlacementReviewSpec{Copies: []diagnosticsv1alpha1.PlacementReviewCopies{{Namespace: "default", Like: "like", Count: count}}}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			began := processorTime(b)
			for b.Loop() {
				answer, err := c.engine.ReviewPlacements(context.Background(), &diagnosticsv1alpha1.PlacementReview{Spec: spec})
				if err != nil || answer.Status.Copies[0].Placed != count {
					b.Fatal(err, answer.Status.Copies[0].Summary)
				}
			}
			b.ReportMetric(float64((processorTime(b)-began).Milliseconds())/float64(b.N)/count, "cpu-ms/copy")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
