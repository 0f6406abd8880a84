package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// churnGPUNodes are the nodes on which six pods of gpuPod always find a place: one that wants two of the four GPUs of a node is refused by
// nodes with at least two other pods only. On two nodes, small pods that were there first may keep it out.
const churnGPUNodes = 3

// churn creates pods, and deletes old ones, until it is stopped; from then on all that are left must find a place.
type churn struct {
	namespace, pool string
	alive           int
	make            func(random *rand.Rand, namespace, pool string, i int) *corev1.Pod
	name            string
}

func (c churn) run(ctx context.Context, stop <-chan struct{}) error {
	random := rand.New(rand.NewPCG(5, uint64(len(c.name))))
	tick := time.NewTicker(80 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		if err := submit(ctx, c.make(random, c.namespace, c.pool, i)); err != nil {
			return fmt.Errorf("create the %d-th %s pod: %w", i, c.name, err)
		}
		if i >= c.alive {
			if err := remove(ctx, c.namespace, fmt.Sprintf("%s-%03d", c.name, i-c.alive)); err != nil {
				return fmt.Errorf("delete the %d-th %s pod: %w", i-c.alive, c.name, err)
			}
		}
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func TestNothingIsLostWhenComponentsAreKilled(t *testing.T) {
	watcher := observe(t)
	const name, cpuPool, gpuPool, alive = "it-outage", "outage-cpus", "outage-gpus", 5
	nodes, gpuNodes := machines(t, cpuPool, 3), gpuMachines(t, gpuPool, churnGPUNodes)
	cpus, gpus := space(t, "inv-outage-cpus"), space(t, "inv-outage-gpus")
	elastic(t, cpus, cpus, "", "4", "40")
	own := startScheduler(t, name)

	stop := background(t, churn{cpus, cpuPool, alive, cpuPod, "cpu"}.placedBy(name).run, churn{gpus, gpuPool, alive, gpuPod, "gpu"}.placedBy(name).run)
	awaitSome(t, cpus)
	own.kill(t)
	awaitSome(t, cpus)
	kill(t, "kube-apiserver")
	awaitSome(t, gpus)
	stop()
	awaitBound(t, patience, cpus, alive, 0)
	awaitBound(t, patience, gpus, alive, 0)
	quotaCounts(t, cpus)
	agrees(t, watcher, own, cpus, nodes)
	agrees(t, watcher, own, gpus, gpuNodes)
	toTheLastCPU(t, nodes, cpuPool, own.places)
}

// awaitSome waits until three pods are bound that were not when it was called: the scheduler works.
func awaitSome(t *testing.T, namespace string) {
	t.Helper()
	known := map[string]bool{}
	first := true
	sandboxtest.Eventually(t, patience, func() error {
		bound, _, err := boundIn(t.Context(), namespace)
		if err != nil {
			return err
		}
		fresh := 0
		for _, pod := range bound {
			if first {
				known[pod.Name] = true
			} else if !known[pod.Name] {
				fresh++
			}
		}
		first = false
		if fresh < 3 {
			return fmt.Errorf("%d pods of %s were bound anew, want 3", fresh, namespace)
		}
		return nil
	})
}

// quotaCounts checks that what the scheduler says a quota uses is what its bound pods request.
func quotaCounts(t *testing.T, namespace string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		bound, _, err := boundIn(t.Context(), namespace)
		if err != nil {
			return err
		}
		var want int64
		for _, pod := range bound {
			want += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
		quota, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Get(t.Context(), namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		used, _, err := unstructuredCPU(quota.Object, "status", "used", "cpu")
		if err == nil && used != want {
			err = fmt.Errorf("quota %s uses %d thousandths of a CPU, its pods request %d", namespace, used, want)
		}
		return err
	})
}

// toTheLastCPU asks for exactly the CPUs that no pod owns by the annotations on pods, and for one more: if the scheduler
// had forgotten a free CPU, the former would not fit; if it had forgotten an owner, the latter would. Pods may be changed
// before they are created.
func toTheLastCPU(t *testing.T, nodes []string, pool string, change ...func(*corev1.Pod) *corev1.Pod) {
	t.Helper()
	namespace := space(t, "inv-last-"+pool)
	free := len(nodes) * (machineCPUs - keptCPUs)
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeSelector["pool"] != pool || pod.Spec.NodeName == "" {
			continue
		}
		status, err := extension.GetResourceStatus(pod.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		owned, err := status.CPUs()
		if err != nil {
			t.Fatal(err)
		}
		free -= len(owned)
	}
	one := func(name string) {
		t.Helper()
		pod := binding(demand(namespace, name, pool, "cpu", "1"), policies[2])
		for _, f := range change {
			pod = f(pod)
		}
		mustSubmit(t, pod)
	}
	for i := range free {
		one(fmt.Sprintf("one-%02d", i))
	}
	awaitBound(t, patience, namespace, free, 0)
	one("too-many")
	decided(t, namespace, "too-many")
	awaitBound(t, time.Second, namespace, free, 1)
}
