package explain

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
)

// small is an amount that brute force can count through: milliCPU for cpu, bytes for memory.
func small(name corev1.ResourceName, amount int) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(int64(amount), resource.DecimalSI)
	}
	return *resource.NewQuantity(int64(amount), resource.BinarySI)
}

func smallList(cpu, memory int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: small(corev1.ResourceCPU, cpu), corev1.ResourceMemory: small(corev1.ResourceMemory, memory)}
}

// drawSmall fills the cluster with up to three nodes of a few dozen milliCPU and bytes, and one pending pod.
func (c *cluster) drawSmall(t *rapid.T) *corev1.Pod {
	c.clear()
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		node := newNode(i)
		node.Status.Allocatable = smallList(rapid.IntRange(5, 60).Draw(t, "cpu"), rapid.IntRange(5, 60).Draw(t, "memory"))
		node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		c.addNode(node)
		if rapid.IntRange(0, 3).Draw(t, "measured") > 0 {
			metric := c.addMetric(i, rapid.SampledFrom([]time.Duration{0, 0, 0, time.Hour}).Draw(t, "age"))
			metric.Status.NodeMetric.NodeUsage = slov1alpha1.ResourceMap{ResourceList: smallList(rapid.IntRange(0, 40).Draw(t, "cpu used"), rapid.IntRange(0, 40).Draw(t, "memory used"))}
		}
		if rapid.Bool().Draw(t, "shared") {
			neighbour := on(i, newPod(fmt.Sprintf("p-%d", i)))
			neighbour.Spec.Containers[0].Resources.Requests = smallList(rapid.IntRange(1, 20).Draw(t, "cpu held"), rapid.IntRange(1, 20).Draw(t, "memory held"))
			c.addPod(neighbour)
		}
	}
	pod := newPod("asked")
	pod.Spec.Containers[0].Resources.Requests = smallList(rapid.IntRange(1, 90).Draw(t, "cpu asked"), rapid.IntRange(1, 90).Draw(t, "memory asked"))
	if rapid.IntRange(0, 2).Draw(t, "guaranteed") == 0 {
		pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests.DeepCopy()
	}
	if rapid.IntRange(0, 2).Draw(t, "has overhead") == 0 {
		pod.Spec.Overhead = smallList(rapid.IntRange(1, 10).Draw(t, "cpu overhead"), rapid.IntRange(1, 10).Draw(t, "memory overhead"))
	}
	c.addPod(pod)
	return pod
}

// asking is the pod with another request in its only container.
func asking(pod *corev1.Pod, name corev1.ResourceName, amount int) *corev1.Pod {
	edited := pod.DeepCopy()
	resources := &edited.Spec.Containers[0].Resources
	if _, limited := resources.Limits[name]; limited {
		resources.Limits[name] = small(name, amount)
	}
	resources.Requests[name] = small(name, amount)
	return edited
}

// TestShrinkingIsMinimal holds the search against counting down from the request, one unit at a time.
func TestShrinkingIsMinimal(t *testing.T) {
	c := newCluster(t)
	kinds := map[string]int{}
	check := func(t *rapid.T) {
		pod := c.drawSmall(t)
		sim := c.engine.simulations[schedulerName]
		w, err := c.engine.refresh()
		if err != nil {
			t.Fatal(err)
		}
		e, err := sim.evaluate(t.Context(), w, pod)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []string
		for i, info := range e.nodes {
			if sim.shrinkable(e.refusals[i]) {
				nodes = append(nodes, info.Node().Name)
			}
		}
		candidates, err := sim.shrinkings(t.Context(), w, e)
		if err != nil {
			t.Fatal(err)
		}
		got := map[corev1.ResourceName]int64{}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			for _, candidate := range candidates {
				if request := requestOf(candidate.pod, name); request != requestOf(pod, name) {
					got[name] = request
				}
			}
			want := sim.countDown(t.Context(), t, w, pod, name, nodes)
			if got[name] != want {
				t.Errorf("the largest %s request that passes is %d, not %d", name, want, got[name])
			}
			if want > 0 {
				kinds["a smaller request"]++
			} else if len(nodes) > 0 {
				kinds["a request that no node takes"]++
			}
		}
	}
	for range rounds(8) { // of as many clusters as rapid draws at a time
		rapid.Check(t, check)
	}
	expectKinds(t, kinds, "a smaller request", "a request that no node takes")
}

// countDown is the largest request, overhead included, with which one of the nodes passes; 0 when none does.
func (s *simulation) countDown(ctx context.Context, t *rapid.T, w *clusterView, pod *corev1.Pod, name corev1.ResourceName, nodes []string) int64 {
	if len(nodes) == 0 {
		return 0
	}
	own := pod.Spec.Containers[0].Resources.Requests[name]
	for asked := int(amount.Of(name, own)) - 1; asked >= 0; asked-- {
		edited := asking(pod, name, asked)
		if requestOf(edited, name) == 0 {
			break // a request of nothing is not proposed
		}
		e, err := s.evaluate(ctx, w, edited, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.feasible()) > 0 {
			return requestOf(edited, name)
		}
	}
	return 0
}

func TestShrinkingDividesOverContainers(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addMetric(0, 0, "cpu", "8", "memory", "1Gi")
	pod := newPod("asked", "cpu", "9")
	sidecar := *pod.Spec.Containers[0].DeepCopy()
	sidecar.Name, sidecar.Resources.Requests = "sidecar", list("cpu", "1")
	pod.Spec.Containers = append(pod.Spec.Containers, sidecar)
	c.addPod(pod)
	// 65 % of 16 CPUs, rounded, is up to 10.479 CPUs; 8 are used, so that 2.479 are left for 85 % of the request, rounded.
	want := "reduce the pod's cpu request from 10 to 2.917 (by 7.083)"
	if fix := c.explain("asked").Fix; fix == nil || fix.Description != want {
		t.Errorf("fix %+v, want %q", fix, want)
	}
}

func TestSharesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		denominator := rapid.Int64Range(1, 1<<62).Draw(t, "asked")
		numerator := rapid.Int64Range(0, denominator).Draw(t, "total")
		amount := rapid.Int64Range(0, 1<<62).Draw(t, "amount")
		want := new(big.Int).Mul(big.NewInt(amount), big.NewInt(numerator))
		want.Div(want, big.NewInt(denominator))
		if got := (share{numerator, denominator}).of(amount); got != want.Int64() {
			t.Errorf("%d/%d of %d is %d, want %s", numerator, denominator, amount, got, want)
		}
	})
	if got := (share{-1, 5}).of(10); got != 0 {
		t.Errorf("a negative share is %d", got)
	}
}
