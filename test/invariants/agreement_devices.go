package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// wholeGPUs are the names under which vendors count GPUs.
var wholeGPUs = []corev1.ResourceName{extension.ResourceNvidiaGPU, extension.ResourceAMDGPU, extension.ResourceHygonDCU}

// asked is what a pod wants of the devices of one type: the sums over all of them, and how many.
type asked struct {
	sums  map[corev1.ResourceName]resource.Quantity
	count int64
}

// askedOf reads the requests for devices in their combinations.
func askedOf(pod *corev1.Pod) map[schedulingv1alpha1.DeviceType]asked {
	wants := map[schedulingv1alpha1.DeviceType]asked{}
	requests := corev1.ResourceList{}
	for name, quantity := range requestsOf(pod) {
		if quantity.Sign() > 0 {
			requests[extension.CanonicalResourceName(name)] = quantity
		}
	}
	gpus := asked{sums: map[corev1.ResourceName]resource.Quantity{}}
	percent := func(value int64) {
		quantity := *resource.NewQuantity(value, resource.DecimalSI)
		gpus.sums[extension.ResourceGPUCore], gpus.sums[extension.ResourceGPUMemoryRatio] = quantity, quantity
	}
	for _, name := range wholeGPUs {
		if quantity, has := requests[name]; has {
			percent(quantity.Value() * 100)
		}
	}
	if quantity, has := requests[extension.ResourceGPU]; has {
		percent(quantity.Value())
	}
	for _, name := range []corev1.ResourceName{extension.ResourceGPUCore, extension.ResourceGPUMemory, extension.ResourceGPUMemoryRatio} {
		if quantity, has := requests[name]; has {
			gpus.sums[name] = quantity
		}
	}
	if len(gpus.sums) > 0 {
		ratio := gpus.sums[extension.ResourceGPUMemoryRatio]
		shared := requests[extension.ResourceGPUShared]
		gpus.count = max(shared.Value(), ratio.Value()/100, 1)
		wants[schedulingv1alpha1.GPU] = gpus
	}
	for kind, name := range map[schedulingv1alpha1.DeviceType]corev1.ResourceName{
		schedulingv1alpha1.RDMA: extension.ResourceRDMA, schedulingv1alpha1.FPGA: extension.ResourceFPGA,
	} {
		if quantity, has := requests[name]; has {
			wants[kind] = asked{sums: corev1.ResourceList{name: quantity}, count: max(quantity.Value()/100, 1)}
		}
	}
	return wants
}

// DevicesAgree checks the devices of a pod against what it asked for. Requests that a hint spreads over devices by another
// rule are checked for being there only.
func (n *Node) DevicesAgree(pod *corev1.Pod) []Violation {
	out := &found{invariant: AllocationAgrees, subject: "pod " + nameOf(pod)}
	if _, err := extension.GetDeviceAllocations(pod.Annotations); err != nil {
		out.add("its allocation cannot be read: %v", err)
		return out.list
	}
	wants, held := askedOf(pod), devicesOf(pod)
	hints, err := extension.GetDeviceAllocateHints(pod.Annotations)
	for kind, want := range wants {
		if !n.has(kind) {
			continue
		}
		if hint := hints[kind]; err == nil && hint != nil && hint.AllocateStrategy != "" && len(held[kind]) > 0 {
			continue
		}
		compare(out, kind, want, held[kind])
	}
	for kind := range held {
		if _, wanted := wants[kind]; !wanted {
			out.add("it owns %d %s devices and asked for none", len(held[kind]), kind)
		}
	}
	return out.sorted()
}

func compare(out *found, kind schedulingv1alpha1.DeviceType, want asked, held []*extension.DeviceAllocation) {
	sum, minors := amounts{}, map[int32]bool{}
	for _, allocation := range held {
		if allocation != nil {
			sum.add(allocation.Resources)
			minors[allocation.Minor] = true
		}
	}
	if int64(len(minors)) != want.count || len(minors) != len(held) {
		out.add("it owns %d %s devices in %d entries and asked for %d", len(minors), kind, len(held), want.count)
	}
	for name, quantity := range want.sums {
		if got := sum[name]; got.Cmp(quantity) != 0 {
			out.add("it holds %s of %s and asked for %s", got.String(), name, quantity.String())
		}
	}
}

// has reports whether the node reports devices of a type.
func (n *Node) has(kind schedulingv1alpha1.DeviceType) bool {
	for key := range n.reported() {
		if key.kind == kind {
			return true
		}
	}
	return false
}
