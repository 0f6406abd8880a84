package koordlet

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/device"
	"koordinator.sh/koord/agent/qos/terway"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// nvidiaVersion is in /proc where the driver is loaded.
	nvidiaVersion = "driver/nvidia/version"
	// rdmaCards and rdmaManager are in /sys where there are cards and the kernel's connection manager.
	rdmaCards   = "class/infiniband"
	rdmaManager = "class/misc/rdma_cm"
	// hugePages are in /sys where the kernel has any size of them.
	hugePages = "kernel/mm/hugepages"
	// terwayReader is the image of the daemon that reads Terway's files.
	terwayReader = "terway-qos"
)

// missingHardware says what a feature for devices needs and the node does not have; empty where it has it.
func (e *explainer) missingHardware(gate string) string {
	enforced := e.enforcement
	switch gate {
	case accelerators:
		if listed, err := device.XPUs(e.options.AcceleratorDirectory, host.Topology{}); len(listed) > 0 || err != nil {
			return ""
		}
		if !enforced.proc.Exists(nvidiaVersion) {
			return fmt.Sprintf("no accelerator is listed in %s, and the NVIDIA driver is not loaded", e.options.AcceleratorDirectory)
		}
	case hooks.GPUEnvInject:
		if !enforced.proc.Exists(nvidiaVersion) {
			return "the NVIDIA driver is not loaded"
		}
	case rdmaDevices, hooks.RDMADeviceInject:
		if cards, err := enforced.sys.Directories(rdmaCards); err != nil || len(cards) == 0 {
			return "there is no network card in /sys/" + rdmaCards
		}
		if gate == hooks.RDMADeviceInject && !enforced.sys.Exists(rdmaManager) {
			return "the kernel module rdma_ucm is not loaded"
		}
	case hugePageReport:
		if !enforced.sys.Exists(hugePages) {
			return "the kernel has no huge pages"
		}
	}
	return ""
}

// deviceReportStatus is of devices that are reported in the node's Device.
func (e *explainer) deviceReportStatus(gate string, on bool) diagnostics.FeatureStatus {
	out := e.idleStatus(e.missingHardware(gate))
	report, read := e.measurement.devices.reported(gate)
	switch {
	case !on || out.State != "":
	case !read:
		out.State = "the devices were not read yet"
	default:
		out.State, out.Active, out.Effective = fmt.Sprintf("%d are reported", report.found), yes(report.found > 0), yes(report.found > 0)
	}
	if on && report.problem != nil {
		out.Problems = []string{report.problem.Error()}
		if out.Effective == diagnosticsv1alpha1.FeatureYes {
			out.Effective = diagnosticsv1alpha1.FeaturePartly
		}
	}
	return out
}

// deviceInjectStatus is of devices that containers are given when they are made. What containers have that were made before the agent was
// started is not known.
func (e *explainer) deviceInjectStatus(gate string, on bool) diagnostics.FeatureStatus {
	out := e.idleStatus(e.missingHardware(gate))
	if !on {
		return out
	}
	pods, given := e.allocated(gate), int64(0)
	if e.enforcement.advisor != nil {
		given = e.enforcement.advisor.Injected(gate)
	}
	out.Active, out.Effective = yes(pods > 0), yes(given > 0)
	if pods > 0 && given == 0 {
		out.Effective = diagnosticsv1alpha1.FeatureUnknown
	}
	if out.State == "" {
		out.State = fmt.Sprintf("%d pods have some; %d containers were given them since the agent was started", pods, given)
	}
	return out
}

// allocated counts the node's pods that the scheduler gave devices of a gate to.
func (e *explainer) allocated(gate string) int {
	kind := map[string]schedulingv1alpha1.DeviceType{hooks.GPUEnvInject: schedulingv1alpha1.GPU, hooks.RDMADeviceInject: schedulingv1alpha1.RDMA}[gate]
	pods := 0
	for _, pod := range e.cluster.Pods() {
		if allocated, err := extension.GetDeviceAllocations(pod.Object.Annotations); err == nil && len(allocated[kind]) > 0 {
			pods++
		}
	}
	return pods
}

// hugePageStatus is of huge pages in the zones of the node's NodeResourceTopology.
func (e *explainer) hugePageStatus(on bool) diagnostics.FeatureStatus {
	out := e.idleStatus(e.missingHardware(hugePageReport))
	topology := e.cluster.Topology()
	if !on || out.State != "" || topology == nil {
		return out
	}
	zones := 0
	for i := range topology.Zones {
		for _, resource := range topology.Zones[i].Resources {
			if strings.HasPrefix(resource.Name, corev1.ResourceHugePagesPrefix) && !resource.Capacity.IsZero() {
				zones++
				break
			}
		}
	}
	out.Active, out.Effective = yes(zones > 0), yes(zones > 0)
	if out.State = fmt.Sprintf("%d of %d zones report huge pages", zones, len(topology.Zones)); zones == 0 {
		out.State = "no huge pages are set aside on the node"
	}
	return out
}

// terwayStatus is of the files that a daemon of Terway reads.
func (e *explainer) terwayStatus(on bool) diagnostics.FeatureStatus {
	lacks := ""
	if !e.terwayRuns() {
		lacks = fmt.Sprintf("no container of an image %s runs on the node, which would read %s", terwayReader, terway.Directory)
	}
	out, told := e.idleStatus(lacks), on && e.enforcement.reconcilers.terway.InSync()
	out.Active, out.Effective = yes(told), yes(told && lacks == "")
	if told && lacks == "" {
		out.State = "the files are as they should be; what Terway makes of them does not show here"
	}
	return out
}

// terwayRuns reports whether a daemon of Terway runs on the node.
func (e *explainer) terwayRuns() bool {
	for _, pod := range e.cluster.Pods() {
		for i := range pod.Object.Spec.Containers {
			image, _, _ := strings.Cut(path.Base(pod.Object.Spec.Containers[i].Image), ":")
			if image, _, _ = strings.Cut(image, "@"); image == terwayReader && pod.Running() {
				return true
			}
		}
	}
	return false
}

// idleStatus is the status of a feature that does nothing; what it lacks is empty where the node has all that it needs.
func (*explainer) idleStatus(lacks string) diagnostics.FeatureStatus {
	return diagnostics.FeatureStatus{Supported: yes(lacks == ""), Active: yes(false), Effective: yes(false), State: lacks}
}
