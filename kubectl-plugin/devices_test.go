package kubectlplugin

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// makeDevice is the Device of a node with GPUs of 80 GiB and network cards, two GPUs and a card on each PCIe switch and NUMA node.
func makeDevice(node string, gpus, cards int32) schedulingv1alpha1.Device {
	d := schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{
		Name: node, Labels: map[string]string{extension.LabelGPUModel: "A100", "pool": "training"}, Annotations: map[string]string{},
	}}
	place := func(i, zone int32) *schedulingv1alpha1.DeviceTopology {
		return &schedulingv1alpha1.DeviceTopology{SocketID: zone, NodeID: zone, PCIEID: fmt.Sprintf("pcie-%d", zone), BusID: fmt.Sprintf("0000:%02x:00.0", i)}
	}
	for i := range gpus {
		d.Spec.Devices = append(d.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, Minor: &i, UUID: fmt.Sprintf("GPU-%d", i), Health: true, Topology: place(i, i/2),
			Resources: list(string(extension.ResourceGPUCore), "100", string(extension.ResourceGPUMemory), "80Gi", string(extension.ResourceGPUMemoryRatio), "100"),
		})
	}
	for i := range cards {
		card := schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.RDMA, Minor: &i, UUID: fmt.Sprintf("mlx5_%d", i), Health: true, Topology: place(32+i, i), Resources: list(string(extension.ResourceRDMA), "100"),
			VFGroups: []schedulingv1alpha1.VirtualFunctionGroup{{VFs: []schedulingv1alpha1.VirtualFunction{{Minor: 0, BusID: fmt.Sprintf("0000:%02x:00.1", i)}, {Minor: 1, BusID: fmt.Sprintf("0000:%02x:00.2", i)}}}},
		}
		d.Spec.Devices = append(d.Spec.Devices, card)
	}
	return d
}

// devicePod holds devices as the annotation says; it requests a percentage of GPUs.
func devicePod(name, node, gpu, allocated string) corev1.Pod {
	pod := makePod("shop", name, node, list(string(extension.ResourceGPU), gpu))
	pod.Annotations = map[string]string{extension.AnnotationDeviceAllocated: allocated}
	return pod
}

// gpuShare is an allocation of a percentage of one GPU.
func gpuShare(minor, percent int) string {
	return fmt.Sprintf(`{"gpu":[{"minor":%d,"resources":{"koordinator.sh/gpu-core":"%d","koordinator.sh/gpu-memory-ratio":"%d"}}]}`, minor, percent, percent)
}

// deviceCluster has a node that is half full, one with a broken GPU that a pod holds, and one without pods.
func deviceCluster() *livetest.Server {
	server := cluster()
	half, broken := makeDevice("worker-1", 4, 2), makeDevice("worker-2", 2, 0)
	half.Annotations[extension.AnnotationGPUPartitions] = `{"2":[{"minors":[0,1],"gpuLinkType":"NVLink","allocationScore":1},{"minors":[2,3],"gpuLinkType":"NVLink","allocationScore":1}]}`
	broken.Spec.Devices[1].Health = false
	server.Devices = []schedulingv1alpha1.Device{half, broken, makeDevice("worker-3", 2, 1)}
	card := makePod("shop", "store-0", "worker-1", list(string(extension.ResourceRDMA), "20"))
	card.Annotations = map[string]string{
		extension.AnnotationDeviceAllocated: `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"20"},"extension":{"vfs":[{"minor":0,"busID":"0000:00:00.1"}]}}]}`,
	}
	server.Pods = append(server.Pods, devicePod("train-0", "worker-1", "100", gpuShare(0, 100)), devicePod("infer-0", "worker-1", "30", gpuShare(1, 30)),
		devicePod("infer-1", "worker-1", "50", gpuShare(1, 50)), devicePod("train-1", "worker-2", "100", gpuShare(1, 100)), card)
	held := devicePod("night", "", "100", gpuShare(2, 100))
	server.Reservations = []schedulingv1alpha1.Reservation{{
		ObjectMeta: metav1.ObjectMeta{Name: "night", UID: "night-uid", Annotations: held.Annotations},
		Spec:       schedulingv1alpha1.ReservationSpec{Template: &corev1.PodTemplateSpec{Spec: held.Spec}},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "worker-1"},
	}}
	return server
}

func TestDevicesPrint(t *testing.T) {
	denied := func(what ...string) func(*livetest.Server) { return func(s *livetest.Server) { s.Denied = what } }
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"top-devices":                      {line: "top devices"},
		"top-devices-wide":                 {line: "top dev -o wide"},
		"top-devices-node":                 {line: "top devices worker-1"},
		"top-devices-node-ascii":           {line: "top device worker-2 --ascii"},
		"top-devices-largest":              {line: "top devices --sort-by=largest"},
		"top-devices-by-state":             {line: "top devices --sort-by=state -o name"},
		"top-devices-selected":             {line: "top devices -l pool=none"},
		"top-devices-yaml":                 {line: "top devices worker-3 -o yaml"},
		"top-devices-jsonpath":             {line: "top devices worker-1 -o jsonpath={.items[0].types[0].minors[*].freePercent}"},
		"top-devices-columns":              {line: "top devices -o custom-columns=NODE:.metadata.name,FREE:.types[0].freePercent"},
		"top-devices-unknown":              {line: "top devices worker-11"},
		"top-devices-bad-order":            {line: "top devices --sort-by=size"},
		"top-devices-none":                 {line: "top devices", edit: func(s *livetest.Server) { s.Devices, s.Pods = nil, nil }},
		"top-devices-gone":                 {line: "top devices", edit: func(s *livetest.Server) { s.Devices = s.Devices[:1] }},
		"top-devices-without-pods":         {line: "top devices", edit: denied("list pods")},
		"top-devices-node-without-pods":    {line: "top devices worker-1 --strict", edit: denied("list pods")},
		"top-devices-without-reservations": {line: "top devices", edit: denied("list reservations")},
		"top-devices-without-nodes":        {line: "top devices", edit: denied("list nodes")},
		"top-devices-not-permitted":        {line: "top devices", edit: denied("list devices")},
		"top-devices-failing":              {line: "top devices", edit: func(s *livetest.Server) { s.Failing = []string{"list pods"} }},
		"top-devices-without-crds":         {line: "top devices", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"top-devices-other-kinds-missing":  {line: "top devices", edit: func(s *livetest.Server) { s.NotInstalled = []string{"reservations"} }},
		"top-devices-overheld": {line: "top devices worker-3", edit: func(s *livetest.Server) {
			s.Pods = append(s.Pods, devicePod("a", "worker-3", "100", gpuShare(0, 100)), devicePod("b", "worker-3", "50", gpuShare(0, 50)))
		}},
		"top-devices-garbage": {line: "top devices worker-1", edit: func(s *livetest.Server) {
			s.Devices[0].Annotations[extension.AnnotationGPUPartitions] = "{"
			for i := range s.Pods {
				s.Pods[i].Annotations = map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":7}`}
			}
		}},
		"top-devices-hostile": {line: "top devices -o wide", edit: func(s *livetest.Server) {
			d := &s.Devices[0]
			d.Annotations = nil
			for i := range d.Spec.Devices {
				info := &d.Spec.Devices[i]
				info.UUID, info.Topology.PCIEID, info.Topology.BusID = "\x1b[31mred\x1b[0m", "pcie\nerror: forged", "\x1b]0;owned\x07"
			}
			d.Spec.Devices = append(d.Spec.Devices, schedulingv1alpha1.DeviceInfo{Type: "\x1b[2Jxpu\n", Minor: new(int32(0))})
		}},
		"top-devices-unmanaged": {line: "top devices", edit: func(s *livetest.Server) {
			s.Devices[1].Spec.Devices = []schedulingv1alpha1.DeviceInfo{{Type: schedulingv1alpha1.XPU, Minor: new(int32(0)), Health: true}}
		}},
		"top-devices-hostile-model": {line: "top devices", edit: func(s *livetest.Server) {
			s.Devices[0].Labels[extension.LabelGPUModel] = "\x1b[31mred\x1b[0m\nerror: forged"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := deviceCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
	for _, width := range []int{80, 160} {
		for name, line := range map[string]string{"top-devices": "top devices", "top-devices-node": "top devices worker-1"} {
			golden(t, fmt.Sprintf("%s-%d", name, width), line, run(t, deviceCluster(), line, func(o *Options) { o.Terminal = Terminal{Output: true, Width: width} }))
		}
	}
}

func TestNamesOfDevicesComplete(t *testing.T) {
	if got, want := run(t, deviceCluster(), "__complete top devices worker-1 w").stdout, "worker-2\nworker-3\n:4\n"; got != want {
		t.Errorf("the names complete to %q, want %q", got, want)
	}
}
