package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// policies that pods with exclusive CPUs ask for.
var policies = []string{
	"", `{"requiredCPUBindPolicy":"FullPCPUs"}`, `{"preferredCPUBindPolicy":"SpreadByPCPUs"}`,
	`{"preferredCPUBindPolicy":"SpreadByPCPUs","preferredCPUExclusivePolicy":"PCPULevel"}`, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`,
}

// cpuPod is the i-th of a mix of pods with exclusive CPUs: of two CPUs or four, aligned or not.
func cpuPod(random *rand.Rand, namespace, pool string, i int) *corev1.Pod {
	count := 2 * (1 + random.IntN(2))
	pod := demand(namespace, fmt.Sprintf("cpu-%03d", i), pool, "cpu", fmt.Sprint(count), "memory", "1Gi")
	if random.IntN(3) == 0 {
		pod.Annotations[extension.AnnotationNUMATopologySpec] = `{"numaTopologyPolicy":"SingleNUMANode"}`
	}
	return binding(pod, policies[random.IntN(len(policies))])
}

// decided waits until the scheduler has bound a pod, or said why not.
func decided(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				return nil
			}
		}
		return fmt.Errorf("nothing is said of %s", name)
	})
}

func TestCPUsAreOwnedOnceUnderChurn(t *testing.T) {
	// So many pods at a time that they compete for the last CPUs; so few in the end that all must find some.
	const total, alive, last = 200, 16, 4
	watcher := observe(t)
	pool := "cpus"
	machines(t, pool, 4)
	namespace := space(t, "inv-cpus")
	random := rand.New(rand.NewPCG(1, 2))
	drop := func(i int) {
		if err := remove(t.Context(), namespace, fmt.Sprintf("cpu-%03d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range total {
		mustSubmit(t, cpuPod(random, namespace, pool, i))
		if i < alive {
			continue
		}
		if i%4 != 0 { // every fourth is deleted wherever it is: in the queue, on its way, or bound
			decided(t, namespace, fmt.Sprintf("cpu-%03d", i-alive))
		}
		drop(i - alive)
	}
	for i := total - alive; i < total-last; i++ {
		drop(i)
	}
	awaitBound(t, patience, namespace, last, 0)
	if got := watcher.Seen(); got.Allocations < total/2 {
		t.Errorf("the watcher saw %d allocations of %d pods", got.Allocations, total)
	}
}
