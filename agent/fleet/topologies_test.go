package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// testBoundPod is a pending pod of sim-1 that was given CPUs.
func testBoundPod(name string, qos extension.QoSClass, cpus string) *corev1.Pod {
	pod := testService(name, "sim-1")
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	pod.Labels[extension.LabelPodQoS] = string(qos)
	cpu := pod.Spec.Containers[0].Resources.Requests
	cpu[corev1.ResourceCPU] = resource.MustParse("8")
	pod.Annotations = map[string]string{extension.AnnotationResourceStatus: fmt.Sprintf(`{"cpuset":%q}`, cpus)}
	return pod
}

// sharedBy returns the CPUs of the first pool in an annotation.
func (s *apiServer) sharedBy(t *testing.T, read func(map[string]string) ([]extension.CPUSharedPool, error)) string {
	t.Helper()
	topology, _ := s.topologyOf("sim-1")
	if topology == nil {
		return ""
	}
	pools, err := read(topology.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	if len(pools) == 0 {
		return ""
	}
	return pools[0].CPUSet
}

func TestTopologyFollowsThePods(t *testing.T) {
	api := newAPIServer(t)
	node := testNode("sim-1", map[string]string{simulated.AnnotationFreezeMetrics: "true"})
	node.UID = "uid-1"
	api.put("nodes", node)
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	await := func(what, wantServices, wantBatch string) {
		t.Helper()
		eventually(t, what, clock, 0, func() bool {
			return api.sharedBy(t, extension.GetCPUSharedPools) == wantServices && api.sharedBy(t, extension.GetBECPUSharedPools) == wantBatch
		})
	}
	// No NodeMetric is needed, and the node's metrics are frozen.
	await("a topology", "0-15", "0-15")
	topology, writes := api.topologyOf("sim-1")
	wantOwners := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "sim-1", UID: "uid-1", Controller: new(true)}}
	if diff := cmp.Diff(wantOwners, topology.OwnerReferences); diff != "" || writes != 1 {
		t.Errorf("after %d writes the owners are (-want +got):\n%s", writes, diff)
	}

	orders := testBoundPod("orders", extension.QoSLSR, "0-7")
	api.put("pods", orders)
	await("an LSR pod's CPUs only lent to batch", "8-15", "0-15")
	api.put("pods", testBoundPod("ledger", extension.QoSLSE, "8-9"))
	await("an LSE pod's CPUs taken from both", "10-15", "0-7,10-15")

	// Changes that mean nothing: a heartbeat of the node, a pod's phase, a pod without CPUs.
	_, before := api.topologyOf("sim-1")
	node.Annotations["heartbeat"] = "1"
	api.put("nodes", node)
	orders.Status.Phase = corev1.PodRunning
	api.put("pods", orders)
	api.put("pods", testService("web", "sim-1"))
	api.put("nodes", testNode("sim-2", nil))
	eventually(t, "the other node's topology", clock, 0, func() bool { other, _ := api.topologyOf("sim-2"); return other != nil })
	api.remove("pods", "shop/ledger")
	await("the CPUs of a pod that is gone shared again", "8-15", "0-15")
	if _, after := api.topologyOf("sim-1"); after != before+1 {
		t.Errorf("%d writes for one change", after-before)
	}
}

func TestTopologyIsMendedAndRetried(t *testing.T) {
	api := newAPIServer(t)
	api.refuseTopologies = 3
	node := testNode("sim-1", nil)
	node.UID = "uid-1"
	api.put("nodes", node)
	clock, registry := testclock.NewFakeClock(noon), prometheus.NewRegistry()
	running(t, Options{RESTConfig: api.config(), Clock: clock, Registerer: registry})
	exists := func() bool { topology, _ := api.topologyOf("sim-1"); return topology != nil }
	eventually(t, "a topology after three failures", clock, 50*time.Millisecond, exists)
	if got := values(t, registry)["koordlet_simulated_topology_writes_total failed"]; got != 3 {
		t.Errorf("%g failures are counted, want 3", got)
	}
	eventually(t, "the success counted", clock, 0, func() bool { return values(t, registry)["koordlet_simulated_topology_writes_total succeeded"] == 1 })
	if waited := clock.Now().Sub(noon); waited < firstRetry*(1+2+4) {
		t.Errorf("four attempts took %s only", waited)
	}

	api.remove(topologyResource, "/sim-1")
	eventually(t, "a topology that somebody deleted", clock, 50*time.Millisecond, exists)

	foreign, _ := api.topologyOf("sim-1")
	foreign.Annotations = map[string]string{"example.com/mine": "kept", extension.AnnotationNodePodCPUAllocs: "[]"}
	foreign.Zones[0].Resources = append(foreign.Zones[0].Resources[:1], topologyv1alpha1.ResourceInfo{Name: "kubernetes.io/batch-cpu"})
	foreign.Labels = nil
	api.put(topologyResource, foreign)
	again := testNode("sim-1", nil)
	again.UID = "uid-2"
	api.put("nodes", again)
	eventually(t, "a topology that somebody changed, of a node that was made anew", clock, 50*time.Millisecond, func() bool {
		topology, _ := api.topologyOf("sim-1")
		return topology.Labels[extension.LabelManagedBy] == extension.ManagedByKoordinator && len(topology.OwnerReferences) == 1 && topology.OwnerReferences[0].UID == types.UID("uid-2")
	})
	topology, _ := api.topologyOf("sim-1")
	var names []string
	for _, info := range topology.Zones[0].Resources {
		names = append(names, info.Name)
	}
	if diff := cmp.Diff([]string{"cpu", "kubernetes.io/batch-cpu", "memory"}, names); diff != "" || topology.Annotations["example.com/mine"] != "kept" {
		t.Errorf("what others wrote is lost: annotations %v, resources (-want +got):\n%s", topology.Annotations, diff)
	}
	if _, found := topology.Annotations[extension.AnnotationNodePodCPUAllocs]; found {
		t.Error("the list of a kubelet's pods stays without such pods")
	}
}

func TestRealNodesHaveNoTopologyFromHere(t *testing.T) {
	api := newAPIServer(t)
	real := testNode("real-1", nil)
	real.Labels = nil
	api.put("nodes", real)
	api.put(topologyResource, &topologyv1alpha1.NodeResourceTopology{
		TypeMeta: metav1.TypeMeta{APIVersion: "topology.node.k8s.io/v1alpha1", Kind: "NodeResourceTopology"}, ObjectMeta: metav1.ObjectMeta{Name: "real-1"},
	})
	api.put("nodes", testNode("sim-1", nil))
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "the simulated node's topology", clock, 0, func() bool { topology, _ := api.topologyOf("sim-1"); return topology != nil })
	if _, writes := api.topologyOf("real-1"); writes != 0 {
		t.Errorf("%d writes for a node that is not simulated", writes)
	}
}
