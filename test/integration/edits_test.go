package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// edit is a change of an object and the change back.
type edit struct {
	kind            schema.GroupVersionResource
	namespace, name string
	there, back     string
}

// TestObjectsMayChangeUnderLoad changes what the scheduler counts with while it places pods: CPUs are kept and given back,
// devices break and are repaired, max falls and rises, nodes are cordoned.
func TestObjectsMayChangeUnderLoad(t *testing.T) {
	const cpuPool, gpuPool, alive, rounds = "edit-cpus", "edit-gpus", 5, 8
	watcher := observe(t)
	nodes, gpuNodes := machines(t, cpuPool, 3), gpuMachines(t, gpuPool, churnGPUNodes)
	cpus, gpus := space(t, "inv-edit-cpus"), space(t, "inv-edit-gpus")
	elastic(t, cpus, cpus, "", "4", "40")
	annotated := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value) }
	broken := devicesOf(gpuNodes[0])
	broken.Spec.Devices[3].Health = false
	core := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	edits := []edit{
		{topologyResource, "", nodes[0], annotated(extension.AnnotationKubeletCPUManagerPolicy, `{"reservedCPUs":"0-5"}`), annotated(extension.AnnotationKubeletCPUManagerPolicy, `{"reservedCPUs":"0-1"}`)},
		{core, "", nodes[1], annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"8-9"}`), `{"metadata":{"annotations":{"` + extension.AnnotationNodeReservation + `":null}}}`},
		{core, "", nodes[2], `{"spec":{"unschedulable":true}}`, `{"spec":{"unschedulable":null}}`},
		{deviceResource, "", gpuNodes[0], specOf(t, broken), specOf(t, devicesOf(gpuNodes[0]))},
		{quotaResource, cpus, cpus, `{"spec":{"max":{"cpu":"6"}}}`, `{"spec":{"max":{"cpu":"40"}}}`},
	}

	stop, failures := make(chan struct{}), make(chan error, 2)
	var churning sync.WaitGroup
	for _, c := range []churn{{cpus, cpuPool, alive, cpuPod, "cpu"}, {gpus, gpuPool, alive, gpuPod, "gpu"}} {
		churning.Go(func() { failures <- c.run(t.Context(), stop) })
	}
	for round := range 2 * rounds {
		before := watcher.Seen().Bindings
		for _, e := range edits {
			patch := e.there
			if round%2 == 1 {
				patch = e.back
			}
			_, err := dynamicClient.Resource(e.kind).Namespace(e.namespace).Patch(t.Context(), e.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		sandboxtest.Eventually(t, patience, func() error {
			if watcher.Seen().Bindings < before+3 {
				return fmt.Errorf("fewer than 3 pods were bound after the %d-th round of changes", round)
			}
			return nil
		})
	}
	close(stop)
	churning.Wait()
	for range cap(failures) {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
	}
	awaitBound(t, patience, cpus, alive, 0)
	awaitBound(t, patience, gpus, alive, 0)
	if err := watcher.Settle(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	toTheLastCPU(t, nodes, cpuPool)
}
