package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/sandboxtest"
)

// podKeys are the annotations that the scheduler reads of pods.
var podKeys = []string{
	extension.AnnotationResourceSpec, extension.AnnotationResourceStatus, extension.AnnotationNUMATopologySpec,
	extension.AnnotationDeviceAllocated, extension.AnnotationDeviceAllocateHint, extension.AnnotationDeviceJointAllocate,
	extension.AnnotationGPUPartitionSpec, extension.AnnotationReservationAllocated, extension.AnnotationReservationAffinity,
	extension.AnnotationExactMatchReservation, extension.AnnotationReservationOwners, extension.AnnotationReservationRestrictedOptions,
	extension.AnnotationPodPreAllocatablePriority, extension.AnnotationEstimatedScalingFactors,
	extension.AnnotationEstimatedSecondsAfterPodScheduled, extension.AnnotationEstimatedSecondsAfterInitialized,
	extension.AnnotationSchedulingHint, extension.AnnotationGangName, extension.AnnotationGangMinAvailable,
	extension.AnnotationGangTotalNumber, extension.AnnotationGangWaitingTime, extension.AnnotationGangGroups,
	extension.AnnotationGangMode, extension.AnnotationGangNetworkTopologySpec, extension.AnnotationGangNetworkTopologyIndex,
	extension.AnnotationExtendedResourceSpec, extension.AnnotationSoftEviction,
}

// nodeKeys, topologyKeys, deviceKeys and quotaKeys are those of the other objects.
var (
	nodeKeys = []string{
		extension.AnnotationNodeResourceAmplificationRatio, extension.AnnotationNodeRawAllocatable, extension.AnnotationNodeReservation,
		extension.AnnotationSystemQOSResource, extension.AnnotationCustomUsageThresholds, extension.AnnotationCPUNormalizationRatio,
		extension.AnnotationNodeColocationStrategy, extension.AnnotationNodeThirdPartyAllocations,
		extension.AnnotationNodeOriginExtendedAllocatable,
	}
	topologyKeys = []string{
		extension.AnnotationNodeCPUTopology, extension.AnnotationNodePodCPUAllocs, extension.AnnotationKubeletCPUManagerPolicy,
		extension.AnnotationNodeCPUSharedPools, extension.AnnotationNodeReservation, extension.AnnotationSystemQOSResource,
	}
	deviceKeys = []string{extension.AnnotationGPUPartitions}
	quotaKeys  = []string{
		extension.AnnotationQuotaSharedWeight, extension.AnnotationQuotaTotalResource, extension.AnnotationQuotaNamespaces,
		extension.AnnotationQuotaRuntime, extension.AnnotationQuotaAdmission, extension.AnnotationQuotaResourceKeys,
	}
)

// garbage is what no component of the system would write.
func garbage() []string {
	random := rand.New(rand.NewPCG(7, 8))
	bytes := make([]rune, 1024)
	for i := range bytes {
		bytes[i] = rune(random.IntN(256))
	}
	return []string{
		string(bytes),
		"null", "-1", "9223372036854775808", `"\u0000"`, "../../../etc/passwd",
		strings.Repeat("[", 10_000), strings.Repeat(`{"a":`, 2_000),
		`[null,{},[],-1,1e999]`,
		`{"cpuset":"0-999999999","reservedCPUs":"7-3","detail":[null,{"id":-1,"core":-1,"node":-1},{"id":2147483647,"node":2147483647}],"policy":"static"}`,
		`{"cpuset":"","numaNodeResources":[{"node":-1,"resources":{"cpu":"-1","memory":"1e999"}},{"node":2147483647}]}`,
		`{"gpu":[null,{"minor":-1},{"minor":2147483647,"resources":{"koordinator.sh/gpu-core":"-100","koordinator.sh/gpu-memory":"1e-99999999"}}],"rdma":null}`,
		`{"cpu":1e-99999999,"memory":"-8E","usageThresholds":{"cpu":-5},"resources":{"cpu":"1e99999999"}}`,
		`{"1":[{"minors":[-1,64,2147483647],"allocationScore":-9223372036854775808}],"-1":null,"99999999":[{}]}`,
	}
}

// steady is the scheduler's process, which garbage must not end.
func steady(t *testing.T) {
	t.Helper()
	before := componentOf(t, "koord-scheduler")
	t.Cleanup(func() {
		status, err := control.NewClient(state.At(shared.Directory())).Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range status.Components {
			if after.Name == before.Name && (after.PID != before.PID || after.Restarts != before.Restarts) {
				t.Errorf("koord-scheduler restarted: %+v, before %+v", after, before)
			}
		}
	})
}

// sound submits a plain pod, one with exclusive CPUs and one with half a GPU, and waits until they are bound.
func sound(t *testing.T, namespace, pool, name string) {
	t.Helper()
	pods := []*corev1.Pod{
		demand(namespace, name+"-plain", pool, "cpu", "100m"),
		binding(demand(namespace, name+"-cpus", pool, "cpu", "2"), ""),
		demand(namespace, name+"-gpu", pool, "cpu", "100m", "koordinator.sh/gpu", "50"),
	}
	mustSubmit(t, pods...)
	for _, pod := range pods {
		sandboxtest.Eventually(t, patience, func() error {
			present, err := client.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
			if err == nil && present.Spec.NodeName == "" {
				err = fmt.Errorf("%s is not bound%s", pod.Name, why([]corev1.Pod{*present}))
			}
			return err
		})
	}
	for _, pod := range pods {
		if err := remove(t.Context(), namespace, pod.Name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGarbageOnPodsHurtsNobodyElse(t *testing.T) {
	steady(t)
	observe(t)
	const pool = "garbage"
	gpuMachines(t, pool, 3)
	namespace, others := space(t, "inv-garbage"), space(t, "inv-sound")
	for v, value := range garbage() {
		for k, key := range podKeys {
			pod := demand(namespace, fmt.Sprintf("garbage-%02d-%02d", v, k), pool, "cpu", "1", "koordinator.sh/gpu", "10")
			if k%2 == 0 {
				pod = demand(namespace, pod.Name, pool, "cpu", "1")
			}
			binding(pod, "").Annotations[key] = value
			mustSubmit(t, pod)
		}
		sound(t, others, pool, fmt.Sprintf("sound-%02d", v))
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
		if err := client.CoreV1().Pods(namespace).DeleteCollection(t.Context(), now, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGarbageOnNodesHurtsNobodyElse(t *testing.T) {
	steady(t)
	observe(t)
	const pool = "garbage-nodes"
	names := gpuMachines(t, pool, 2)
	quotas, others := space(t, "inv-garbage-quota"), space(t, "inv-sound-nodes")
	elastic(t, quotas, quotas, "", "1", "4")
	victim := func(kind schema.GroupVersionResource, namespace, name string, keys []string, value *string) {
		values := map[string]*string{}
		for _, key := range keys {
			values[key] = value
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": values}})
		if err != nil {
			t.Fatal(err)
		}
		// Of nodes, by the way that admission does not look at: what is there already, or came while it was away, is the point.
		var subresources []string
		if kind.Resource == "nodes" {
			subresources = []string{"status"}
		}
		_, err = dynamicClient.Resource(kind).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
		if err != nil {
			t.Fatal(err)
		}
	}
	spoil := func(value *string) {
		victim(corev1.SchemeGroupVersion.WithResource("nodes"), "", names[0], nodeKeys, value)
		victim(topologyResource, "", names[0], topologyKeys, value)
		victim(deviceResource, "", names[0], deviceKeys, value)
		victim(quotaResource, quotas, quotas, quotaKeys, value)
	}
	for v, value := range garbage() {
		spoil(&value)
		mustSubmit(t, demand(quotas, fmt.Sprintf("in-quota-%02d", v), pool, "cpu", "100m"))
		sound(t, others, pool, fmt.Sprintf("sound-%02d", v))
	}
	awaitBound(t, patience, quotas, len(garbage()), 0)

	// What is right again is used again.
	spoil(nil)
	good := topologyOf(names[0])
	for key, value := range good.Annotations {
		victim(topologyResource, "", names[0], []string{key}, &value)
	}
	pod := binding(demand(others, "back", pool, "cpu", "2"), "")
	pod.Spec.NodeSelector[corev1.LabelHostname] = names[0]
	mustSubmit(t, pod)
	awaitBound(t, patience, others, 1, 0)
}

// TestPretendedAllocationsHoldNothing lets a small plain pod claim every CPU and every GPU of a machine by its own annotations.
func TestPretendedAllocationsHoldNothing(t *testing.T) {
	const pool = "pretenders"
	gpuMachines(t, pool, 1)
	namespace := space(t, "inv-pretenders")
	pod := demand(namespace, "pretender", pool, "cpu", "100m")
	pod.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"2-15"}`
	pod.Annotations[extension.AnnotationDeviceAllocated] = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},` +
		`{"minor":1,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},` +
		`{"minor":2,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},` +
		`{"minor":3,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`
	mustSubmit(t, pod)
	awaitBound(t, patience, namespace, 1, 0)
	sound(t, namespace, pool, "sound")
}
