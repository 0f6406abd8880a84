package device

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/gpu"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// vendorNVIDIA is the value of the vendor's label.
const vendorNVIDIA = "nvidia"

// GPUs lists what was read, with their places in the tree at /sys.
func GPUs(reading gpu.Reading, sys string, machine host.Topology) []schedulingv1alpha1.DeviceInfo {
	var out []schedulingv1alpha1.DeviceInfo
	for _, g := range reading.Devices {
		device := schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, UUID: g.UUID, Minor: new(g.Minor), Health: true, Labels: labels(vendorNVIDIA, g.Model),
			Topology: place(sys, g.BusID, machine), Resources: amounts(whole, max(g.MemoryTotal, 0), whole),
		}
		if g.Problem != "" {
			unhealthy(&device, g.Problem)
		}
		out = append(out, device)
	}
	return out
}

// Used lists what GPUs do at the moment.
func Used(reading gpu.Reading) []schedulingv1alpha1.DeviceInfo {
	var out []schedulingv1alpha1.DeviceInfo
	for _, g := range reading.Devices {
		out = append(out, used(g, g.CoreUsed, g.MemoryUsed))
	}
	return out
}

// UsedBy lists what the processes of which mine is true do with GPUs; GPUs that they do not use are left out.
func UsedBy(reading gpu.Reading, mine func(pid int32) bool) []schedulingv1alpha1.DeviceInfo {
	var out []schedulingv1alpha1.DeviceInfo
	for _, g := range reading.Devices {
		var core, memory int64
		uses := false
		for _, process := range g.Processes {
			if mine(process.PID) {
				core, memory, uses = core+process.CoreUsed, memory+process.MemoryUsed, true
			}
		}
		if uses {
			out = append(out, used(g, core, memory))
		}
	}
	return out
}

func used(g gpu.Device, core, memory int64) schedulingv1alpha1.DeviceInfo {
	core, memory = min(max(core, 0), whole), min(max(memory, 0), max(g.MemoryTotal, 0))
	ratio := int64(0)
	if g.MemoryTotal > 0 {
		ratio = int64(float64(memory) / float64(g.MemoryTotal) * whole)
	}
	return schedulingv1alpha1.DeviceInfo{
		Type: schedulingv1alpha1.GPU, UUID: g.UUID, Minor: new(g.Minor), Health: g.Problem == "", Resources: amounts(core, memory, ratio),
	}
}

// amounts of a GPU: percent of its cores, bytes of its memory and percent of that.
func amounts(core, memory, ratio int64) corev1.ResourceList {
	return corev1.ResourceList{
		extension.ResourceGPUCore:        *resource.NewQuantity(core, resource.DecimalSI),
		extension.ResourceGPUMemory:      *resource.NewQuantity(memory, resource.BinarySI),
		extension.ResourceGPUMemoryRatio: *resource.NewQuantity(ratio, resource.DecimalSI),
	}
}
