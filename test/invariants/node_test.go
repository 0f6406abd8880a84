package invariants

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	wholeGPU   = `{"gpu":[{"minor":0,"id":"gpu-0","resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100","koordinator.sh/gpu-memory":"16Gi"}}]}`
	halfGPU    = `{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory-ratio":"50","koordinator.sh/gpu-memory":"8Gi"}}]}`
	function   = `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"30"},"extension":{"vfs":[{"minor":1,"busID":"0000:1f:00.2"}]}}]}`
	bothZones  = `[{"node":0,"resources":{"cpu":"1"}},{"node":1,"resources":{"cpu":"1"}}]`
	firstZone  = `[{"node":0,"resources":{"cpu":"2"}}]`
	singleZone = `{"numaTopologyPolicy":"SingleNUMANode"}`
)

var half, nvidia, rdma = []string{"koordinator.sh/gpu", "50"}, []string{"nvidia.com/gpu", "1"}, []string{"koordinator.sh/rdma", "30"}

func TestWhatIsInOrderIsNoViolation(t *testing.T) {
	for name, pods := range map[string][]*corev1.Pod{
		"an empty pod":                       {podOf("a")},
		"pods that fill the node":            {podOf("a", "cpu", "4", "kubernetes.io/batch-cpu", "4k"), podOf("b", "cpu", "2", "memory", "16Gi")},
		"CPUs side by side":                  {lsr("a", "2", "2-3", ""), lsr("b", "2", "4-5", "")},
		"aligned CPUs":                       {with(lsr("a", "2", "2-3", firstZone), extension.AnnotationNUMATopologySpec, singleZone)},
		"aligned on both zones":              {lsr("a", "2", "3-4", bothZones)},
		"whole cores":                        {with(lsr("a", "2", "2-3", ""), extension.AnnotationResourceSpec, `{"requiredCPUBindPolicy":"FullPCPUs"}`)},
		"a CPU of each core":                 {with(lsr("a", "2", "1-2", ""), extension.AnnotationResourceSpec, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`)},
		"burst on the shared CPUs":           {with(lsr("a", "2", "", ""), extension.AnnotationResourceSpec, `{"preferredCPUBindPolicy":"ConstrainedBurst"}`)},
		"a whole GPU and two halves":         {gpu("a", nvidia, wholeGPU), gpu("b", half, halfGPU), gpu("c", half, halfGPU)},
		"a function":                         {gpu("a", rdma, function)},
		"GPUs that the node says nothing of": {podOf("a", "koordinator.sh/fpga", "0")},
	} {
		t.Run(name, func(t *testing.T) {
			if violations := all(nodeOf(pods...)); len(violations) > 0 {
				t.Error(violations)
			}
		})
	}
}

func TestEveryViolationOfANodeIsCaught(t *testing.T) {
	tests := map[string]struct {
		pods            []*corev1.Pod
		change          func(*Node)
		want, wantFacts string
	}{
		"cpu beyond allocatable":   {pods: []*corev1.Pod{podOf("a", "cpu", "4"), podOf("b", "cpu", "2001m")}, want: WithinAllocatable, wantFacts: "request 6001m of cpu"},
		"batch cpu":                {pods: []*corev1.Pod{podOf("a", "kubernetes.io/batch-cpu", "4k"), podOf("b", "kubernetes.io/batch-cpu", "1")}, want: WithinAllocatable, wantFacts: "4001 of kubernetes.io/batch-cpu"},
		"a resource nobody offers": {pods: []*corev1.Pod{podOf("a", "kubernetes.io/mid-cpu", "1")}, want: WithinAllocatable, wantFacts: "mid-cpu, allocatable is 0"},
		"too many pods":            {pods: []*corev1.Pod{podOf("a"), podOf("b"), podOf("c"), podOf("d"), podOf("e"), podOf("f")}, want: WithinAllocatable, wantFacts: "6 of pods"},
		"own CPUs on an amplified node": {
			pods: []*corev1.Pod{lsr("a", "4", "2-5", "")},
			change: func(n *Node) {
				n.Object.Annotations[extension.AnnotationNodeResourceAmplificationRatio] = `{"cpu":1.75}`
			},
			want: WithinAllocatable, wantFacts: "request 7 of cpu",
		},
		"what is reserved": {
			pods: []*corev1.Pod{podOf("a", "cpu", "3")}, want: WithinAllocatable, wantFacts: "request 7 of cpu",
			change: func(n *Node) { n.Reservations = []*schedulingv1alpha1.Reservation{reservation("4")} },
		},
		"a CPU with two owners":        {pods: []*corev1.Pod{lsr("a", "2", "2-3", ""), lsr("b", "2", "3-4", "")}, want: CPUOwnedOnce, wantFacts: "CPUs 3 are owned by ns/a and ns/b"},
		"a CPU that is not there":      {pods: []*corev1.Pod{lsr("a", "1", "8", "")}, want: CPUOwnedOnce, wantFacts: "CPU 8, which the node does not have"},
		"a CPU of the kubelet":         {pods: []*corev1.Pod{lsr("a", "1", "0", "")}, want: CPUOwnedOnce, wantFacts: "CPU 0, which is kept for the kubelet"},
		"a CPU that the node reserves": {pods: []*corev1.Pod{lsr("a", "1", "7", "")}, want: CPUOwnedOnce, wantFacts: "CPU 7, which is kept for the node's reservation"},
		"a CPU of a static pod": {
			pods: []*corev1.Pod{lsr("a", "1", "5", "")}, want: CPUOwnedOnce, wantFacts: "the kubelet's pod kube-system/dns",
			change: func(n *Node) {
				n.Topology.Annotations[extension.AnnotationNodePodCPUAllocs] = `[{"namespace":"kube-system","name":"dns","cpuset":"5","managedByKubelet":true}]`
			},
		},
		"a CPU of SYSTEM pods": {
			pods: []*corev1.Pod{lsr("a", "1", "5", "")}, want: CPUOwnedOnce, wantFacts: "kept for SYSTEM pods",
			change: func(n *Node) { n.Object.Annotations[extension.AnnotationSystemQOSResource] = `{"cpuset":"5-6"}` },
		},
		"CPUs without topology":        {pods: []*corev1.Pod{lsr("a", "1", "5", "")}, change: func(n *Node) { n.Topology = nil }, want: CPUOwnedOnce, wantFacts: "topology is not known"},
		"a GPU over a hundred percent": {pods: []*corev1.Pod{gpu("a", half, halfGPU), gpu("b", half, halfGPU), gpu("c", half, halfGPU)}, want: DeviceWithinCapacity, wantFacts: "gpu 1 gives 150% of koordinator.sh/gpu-core"},
		"a GPU's memory": {
			pods:   []*corev1.Pod{gpu("a", half, halfGPU)},
			change: func(n *Node) { n.Device.Spec.Devices[1].Resources[extension.ResourceGPUMemory] = list("x", "4Gi")["x"] },
			want:   DeviceWithinCapacity, wantFacts: "gives 8Gi of koordinator.sh/gpu-memory and has 4Gi",
		},
		"a function with two owners": {pods: []*corev1.Pod{gpu("a", rdma, function), gpu("b", rdma, function)}, want: DeviceWithinCapacity, wantFacts: "function 0000:1f:00.2 is owned by ns/a and ns/b"},
		"a broken GPU":               {pods: []*corev1.Pod{gpu("a", half, halfGPU)}, change: func(n *Node) { n.Device.Spec.Devices[1].Health = false }, want: DeviceWithinCapacity, wantFacts: "not healthy"},
		"a GPU that is not there":    {pods: []*corev1.Pod{gpu("a", half, halfGPU)}, change: func(n *Node) { n.Device = nil }, want: DeviceWithinCapacity, wantFacts: "does not have"},
		"a GPU that was replaced":    {pods: []*corev1.Pod{gpu("a", nvidia, wholeGPU)}, change: func(n *Node) { n.Device.Spec.Devices[0].UUID = "new" }, want: DeviceWithinCapacity, wantFacts: "its id is new"},
		"a zone by shares": {
			pods: []*corev1.Pod{lsr("a", "2", "2-3", firstZone), with(podOf("b", "cpu", "2"), extension.AnnotationResourceStatus, `{"numaNodeResources":`+firstZone+`}`)},
			want: ZoneWithinCapacity, wantFacts: "4 of cpu from zone 0, which has 3",
		},
		"a zone by the CPUs in it": {
			pods:   []*corev1.Pod{lsr("a", "2", "1-2", ""), lsr("b", "1", "3", "")},
			change: func(n *Node) { n.Topology.Zones[0].Resources[0].Allocatable = list("x", "2")["x"] },
			want:   ZoneWithinCapacity, wantFacts: "3 of cpu from zone 0",
		},
		"a zone that is not there": {pods: []*corev1.Pod{lsr("a", "2", "2-3", `[{"node":2,"resources":{"cpu":"2"}}]`)}, want: ZoneWithinCapacity, wantFacts: "zone 2, which the node does not have"},
		"two zones for one":        {pods: []*corev1.Pod{with(lsr("a", "2", "3-4", bothZones), extension.AnnotationNUMATopologySpec, singleZone)}, want: ZoneWithinCapacity, wantFacts: "on 2 zones"},
		"a node that demands one zone": {
			pods:   []*corev1.Pod{lsr("a", "2", "3-4", "")},
			change: func(n *Node) { n.Object.Labels[extension.LabelNodeNUMATopologyPolicy] = "SingleNUMANode" },
			want:   ZoneWithinCapacity, wantFacts: "on 0 zones",
		},
		"CPUs of another zone": {pods: []*corev1.Pod{lsr("a", "2", "4-5", firstZone)}, want: ZoneWithinCapacity, wantFacts: "CPU 4 of zone 1, from which it took nothing"},
		"a reservation used twice": {
			pods: []*corev1.Pod{owner("a", "1"), owner("b", "1")}, want: ReservationWithinAllocated, wantFacts: "used by ns/a and ns/b",
			change: func(n *Node) { n.Reservations = []*schedulingv1alpha1.Reservation{reservation("4")} },
		},
		"a restricted reservation": {
			pods: []*corev1.Pod{owner("a", "5")}, want: ReservationWithinAllocated, wantFacts: "took 5 of cpu",
			change: func(n *Node) {
				n.Reservations = []*schedulingv1alpha1.Reservation{reservation("4")}
				n.Reservations[0].Spec.AllocatePolicy = schedulingv1alpha1.ReservationAllocatePolicyRestricted
			},
		},
		"fewer CPUs than requested":   {pods: []*corev1.Pod{lsr("a", "3", "2-3", "")}, want: AllocationAgrees, wantFacts: "owns 2 CPUs and requests 3"},
		"no CPUs":                     {pods: []*corev1.Pod{lsr("a", "3", "", "")}, want: AllocationAgrees, wantFacts: "without the CPUs"},
		"CPUs not asked for":          {pods: []*corev1.Pod{with(podOf("a", "cpu", "1"), extension.AnnotationResourceStatus, `{"cpuset":"1"}`)}, want: AllocationAgrees, wantFacts: "asked for none"},
		"CPUs that cannot be read":    {pods: []*corev1.Pod{lsr("a", "1", "3-1", "")}, want: AllocationAgrees, wantFacts: "cannot be read"},
		"parts of cores":              {pods: []*corev1.Pod{with(lsr("a", "2", "1-2", ""), extension.AnnotationResourceSpec, `{"requiredCPUBindPolicy":"FullPCPUs"}`)}, want: AllocationAgrees, wantFacts: "parts of cores"},
		"two CPUs of a core":          {pods: []*corev1.Pod{with(lsr("a", "2", "2-3", ""), extension.AnnotationResourceSpec, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`)}, want: AllocationAgrees, wantFacts: "of 1 cores"},
		"shares of less":              {pods: []*corev1.Pod{lsr("a", "3", "1-3", firstZone)}, want: AllocationAgrees, wantFacts: "took 2 of cpu from zones and requests 3"},
		"shares without memory":       {pods: []*corev1.Pod{with(podOf("a", "cpu", "2", "memory", "1Gi"), extension.AnnotationResourceStatus, `{"numaNodeResources":`+firstZone+`}`)}, want: AllocationAgrees, wantFacts: "1Gi of memory and took none"},
		"a GPU for half of one":       {pods: []*corev1.Pod{gpu("a", half, wholeGPU)}, want: AllocationAgrees, wantFacts: "holds 100 of koordinator.sh/gpu-core and asked for 50"},
		"one GPU for two":             {pods: []*corev1.Pod{gpu("a", []string{"nvidia.com/gpu", "2"}, wholeGPU)}, want: AllocationAgrees, wantFacts: "owns 1 gpu devices in 1 entries and asked for 2"},
		"no GPU":                      {pods: []*corev1.Pod{podOf("a", half...)}, want: AllocationAgrees, wantFacts: "owns 0 gpu devices"},
		"a GPU not asked for":         {pods: []*corev1.Pod{gpu("a", nil, halfGPU)}, want: AllocationAgrees, wantFacts: "1 gpu devices and asked for none"},
		"devices that cannot be read": {pods: []*corev1.Pod{gpu("a", half, "?")}, want: AllocationAgrees, wantFacts: "cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			node := nodeOf(test.pods...)
			if test.change != nil {
				test.change(node)
			}
			expect(t, all(node), test.want, test.wantFacts)
		})
	}
}

func reservation(cpu string) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "r"},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "n1", Allocatable: list("cpu", cpu)},
	}
}

func owner(name, cpu string) *corev1.Pod {
	return with(podOf(name, "cpu", cpu), extension.AnnotationReservationAllocated, `{"name":"r","uid":"r"}`)
}

func TestWhatIsReservedCountsOnce(t *testing.T) {
	node := nodeOf(owner("a", "3"), podOf("b", "cpu", "2"))
	node.Reservations = []*schedulingv1alpha1.Reservation{reservation("4")}
	if violations := node.WithinAllocatable(nil); len(violations) > 0 {
		t.Error(violations)
	}
}

func TestOnlyWhatAPodAsksForIsCompared(t *testing.T) {
	node := nodeOf(podOf("batch", "kubernetes.io/batch-cpu", "5k"), podOf("plain", "cpu", "1"))
	if violations := node.WithinAllocatable(node.Pods[1]); len(violations) > 0 {
		t.Error(violations)
	}
	expect(t, node.WithinAllocatable(nil), WithinAllocatable, "batch-cpu")
}
