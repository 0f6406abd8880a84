package workers

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
)

// fleet is a cluster of nodes with ten pods each, and pods that wait.
func fleet(nodes, pending int) *Cluster {
	c := &Cluster{Outlooks: map[string][]diagnosticsv1alpha1.OfferOutlook{}}
	pod := func(name, node, cpu string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: name, UID: types.UID(name)}}
		p.Spec.NodeName = node
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			extension.BatchCPU: resource.MustParse(cpu), extension.BatchMemory: resource.MustParse("1Gi"),
		}}}}
		return p
	}
	for i := range nodes {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{"zone": fmt.Sprint(i % 3)}}}
		node.Status.Allocatable = corev1.ResourceList{
			extension.BatchCPU: resource.MustParse(fmt.Sprint(16000 + 500*(i%7))), extension.BatchMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		c.Nodes = append(c.Nodes, node)
		c.Outlooks[node.Name] = []diagnosticsv1alpha1.OfferOutlook{
			{Resource: string(extension.BatchCPU), Offered: 16000, Steps: []diagnosticsv1alpha1.OfferStep{{Offered: 14000}}},
		}
		for j := range 10 {
			c.Bound = append(c.Bound, pod(fmt.Sprintf("job-%d-%d", i, j), node.Name, "1000"))
		}
	}
	for i := range pending {
		c.Pending = append(c.Pending, pod(fmt.Sprintf("waiting-%d", i), "", "2500"))
	}
	return c
}

// BenchmarkPass is what one pass over all engines costs in a large cluster in which pods wait.
func BenchmarkPass(b *testing.B) {
	const engines = 20
	for _, size := range []struct{ nodes, pending int }{{1000, 100}, {5000, 0}, {5000, 500}} {
		b.Run(fmt.Sprintf("nodes=%d/pending=%d", size.nodes, size.pending), func(b *testing.B) {
			cluster := fleet(size.nodes, size.pending)
			now := time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)
			for b.Loop() {
				cluster.claims, cluster.held = nil, nil
				for i := range engines {
					sample := &cluster.Bound[i]
					in := Input{Now: now, Current: 40, Request: map[corev1.ResourceName]int64{
						extension.BatchCPU: 4000, extension.BatchMemory: amount.Of(extension.BatchMemory, resource.MustParse("8Gi")), corev1.ResourcePods: 1,
					}}
					in.Spec.Max, in.Spec.Horizon = 100, 15*time.Minute
					cluster.Read(&in, sample, map[types.UID]bool{sample.UID: true})
					verdict := Decide(in, &Trace{})
					cluster.Claim(&in, sample, verdict.Desired-in.Current)
				}
			}
		})
	}
}
