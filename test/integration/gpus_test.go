package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// gpuMachines are machines whose devices are known to the scheduler.
func gpuMachines(t *testing.T, pool string, count int) []string {
	t.Helper()
	names := machines(t, pool, count)
	for _, name := range names {
		create(t, deviceResource, devicesOf(name))
	}
	return names
}

// gpuDemands are the ways to ask for devices: whole, shared, by percent, by bytes, several, and with network cards.
var gpuDemands = [][]string{
	{"nvidia.com/gpu", "1"},
	{"nvidia.com/gpu", "2"},
	{"koordinator.sh/gpu", "50"},
	{"koordinator.sh/gpu", "200"},
	{"koordinator.sh/gpu-core", "30", "koordinator.sh/gpu-memory-ratio", "40"},
	{"koordinator.sh/gpu-core", "20", "koordinator.sh/gpu-memory", "16Gi"},
	{"koordinator.sh/gpu-memory-ratio", "25"},
	{"koordinator.sh/gpu", "50", "koordinator.sh/rdma", "25"},
	{"koordinator.sh/rdma", "20"},
}

// gpuPod is the i-th of a mix of pods with devices. Pods with a share of a network card take one of its functions.
func gpuPod(random *rand.Rand, namespace, pool string, i int) *corev1.Pod {
	pairs := gpuDemands[random.IntN(len(gpuDemands))]
	pod := demand(namespace, fmt.Sprintf("gpu-%03d", i), pool, append([]string{"cpu", "500m", "memory", "1Gi"}, pairs...)...)
	if pairs[len(pairs)-2] == "koordinator.sh/rdma" {
		pod.Annotations[extension.AnnotationDeviceAllocateHint] = `{"rdma":{"vfSelector":{"matchLabels":{"type":"general"}}}}`
	}
	return pod
}

func TestDevicesAreSharedWithinTheirCapacity(t *testing.T) {
	const total, alive, left = 60, 9, 4
	watcher := observe(t)
	pool := "gpus"
	gpuMachines(t, pool, 3)
	namespace := space(t, "inv-gpus")
	random := rand.New(rand.NewPCG(3, 4))
	for i := range total {
		mustSubmit(t, gpuPod(random, namespace, pool, i))
		if i < alive {
			continue
		}
		old := fmt.Sprintf("gpu-%03d", i-alive)
		if i%4 != 0 {
			decided(t, namespace, old)
		}
		if err := remove(t.Context(), namespace, old); err != nil {
			t.Fatal(err)
		}
	}
	// What is left fits wherever the others went: of three pods one machine has none, or each one has two GPUs free.
	for i := total - alive; i < total-left; i++ {
		if err := remove(t.Context(), namespace, fmt.Sprintf("gpu-%03d", i)); err != nil {
			t.Fatal(err)
		}
	}
	awaitBound(t, patience, namespace, left, 0)
	if got := watcher.Seen(); got.Allocations < total/2 {
		t.Errorf("the watcher saw %d allocations of %d pods", got.Allocations, total)
	}
}

func TestEveryGPUIsGivenToTheLastPercent(t *testing.T) {
	observe(t)
	pool := "gpu-fill"
	gpuMachines(t, pool, 1)
	namespace := space(t, "inv-gpu-fill")
	mustSubmit(t, demand(namespace, "whole", pool, "cpu", "500m", "nvidia.com/gpu", "2"))
	awaitBound(t, patience, namespace, 1, 0)
	for i := range 8 {
		mustSubmit(t, demand(namespace, fmt.Sprintf("quarter-%d", i), pool, "cpu", "500m", "koordinator.sh/gpu", "25"))
	}
	awaitBound(t, patience, namespace, 9, 0)
	mustSubmit(t, demand(namespace, "one-more", pool, "cpu", "500m", "koordinator.sh/gpu-memory-ratio", "1"))
	sandboxtest.Eventually(t, patience, func() error { return refusedWith(t, namespace, "one-more", "KOORD1132") })
	if err := remove(t.Context(), namespace, "quarter-3"); err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, namespace, 9, 0)
}
