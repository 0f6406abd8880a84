package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/gpu"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var twoSockets = host.Topology{
	CPUs:      []extension.CPUInfo{{ID: 0, Socket: 0, Node: 0}, {ID: 1, Socket: 1, Node: 1}},
	NUMANodes: []host.NUMANode{{ID: 0}, {ID: 1}},
}

// write makes files, and links of those whose content begins with "-> ".
func write(t *testing.T, root string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// cards is a machine with a card of two functions, one of which is down, and a function of the first card as a separate card.
func cards(t *testing.T) string {
	sys := t.TempDir()
	bus := "devices/pci0000:3a/0000:3a:00.0/"
	write(t, sys, map[string]string{
		bus + "0000:3b:00.0/numa_node": "1\n", bus + "0000:3c:00.0/numa_node": "-1\n", bus + "0000:3b:00.1/numa_node": "1\n",
		bus + "0000:3b:00.0/virtfn0":                       "-> ../0000:3b:00.1",
		bus + "0000:3b:00.0/virtfn1":                       "-> ../0000:3b:00.2",
		bus + "0000:3b:00.1/physfn":                        "-> ../0000:3b:00.0",
		bus + "0000:3b:00.0/infiniband/mlx0/ports/1/state": "4: ACTIVE\n",
		bus + "0000:3c:00.0/infiniband/mlx1/ports/1/state": "1: DOWN\n",
		bus + "0000:3b:00.1/infiniband/mlx2/ports/1/state": "4: ACTIVE\n",
		bus + "0000:3b:00.0/infiniband/mlx0/device":        "-> ../../../0000:3b:00.0",
		bus + "0000:3c:00.0/infiniband/mlx1/device":        "-> ../../../0000:3c:00.0",
		bus + "0000:3b:00.1/infiniband/mlx2/device":        "-> ../../../0000:3b:00.1",
		"class/infiniband/mlx0":                            "-> ../../" + bus + "0000:3b:00.0/infiniband/mlx0",
		"class/infiniband/mlx1":                            "-> ../../" + bus + "0000:3c:00.0/infiniband/mlx1",
		"class/infiniband/mlx2":                            "-> ../../" + bus + "0000:3b:00.1/infiniband/mlx2",
		"bus/pci/devices/0000:3b:00.0":                     "-> ../../../" + bus + "0000:3b:00.0",
		"bus/pci/devices/0000:3c:00.0":                     "-> ../../../" + bus + "0000:3c:00.0",
	})
	return sys
}

func TestRDMA(t *testing.T) {
	got, err := RDMA(cards(t), twoSockets)
	if err != nil {
		t.Fatal(err)
	}
	all := corev1.ResourceList{extension.ResourceRDMA: resource.MustParse("100")}
	want := []schedulingv1alpha1.DeviceInfo{
		{
			Type: schedulingv1alpha1.RDMA, UUID: "0000:3b:00.0", Minor: new(int32(0)), Health: true, Resources: all,
			Topology: &schedulingv1alpha1.DeviceTopology{SocketID: 1, NodeID: 1, PCIEID: "pci0000:3a", BusID: "0000:3b:00.0"},
			VFGroups: []schedulingv1alpha1.VirtualFunctionGroup{{VFs: []schedulingv1alpha1.VirtualFunction{{Minor: 0, BusID: "0000:3b:00.1"}, {Minor: 1, BusID: "0000:3b:00.2"}}}},
		},
		{
			Type: schedulingv1alpha1.RDMA, UUID: "0000:3c:00.0", Minor: new(int32(1)), Resources: all,
			Topology:   &schedulingv1alpha1.DeviceTopology{SocketID: -1, NodeID: -1, PCIEID: "pci0000:3a", BusID: "0000:3c:00.0"},
			Conditions: []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse, Reason: "DeviceUnhealthy", Message: `port 1 is "1: DOWN"`}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cards (-want +got):\n%s", diff)
	}
	if got, err := RDMA(t.TempDir(), twoSockets); err != nil || got != nil {
		t.Errorf("a machine without cards has %v, %v", got, err)
	}
}

func TestXPUs(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{
		"npu": `[{"vendor":"huawei","model":"Ascend 910B (64G)","uuid":"u0","minor":"0","resources":{"huawei.com/npu-core":"20","koordinator.sh/gpu-memory":"64Gi"},
			"topology":{"p2pLinks":[],"mustHonorPartition":true,"socketID":"-1","nodeID":1,"pcieID":"0000:c1:00.0","busID":"0000:c1:00.0"},"status":{"healthy":true}},
			{"vendor":"huawei","uuid":"u1","minor":1,"status":{"healthy":false,"errCode":"7","errMessage":"hot"}}]`,
		"broken": `[{"uuid"`, "odd": `[{"uuid":"u2","minor":0},{"uuid":"u3","minor":2,"resources":{"x":"much"}},{"minor":4}]`, ".hidden": "x",
	})
	got, err := XPUs(directory, twoSockets)
	for _, want := range []string{"broken", `"u2"`, `"much"`, "no UUID"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problem %v, want %s", err, want)
		}
	}
	want := []schedulingv1alpha1.DeviceInfo{
		{
			Type: schedulingv1alpha1.GPU, UUID: "u0", Minor: new(int32(0)), Health: true,
			Labels:    map[string]string{extension.LabelGPUVendor: "huawei", extension.LabelGPUModel: "Ascend-910B--64G"},
			Resources: corev1.ResourceList{"huawei.com/npu-core": resource.MustParse("20"), "koordinator.sh/gpu-memory": resource.MustParse("64Gi")},
			Topology:  &schedulingv1alpha1.DeviceTopology{SocketID: -1, NodeID: 1, PCIEID: "0000:c1:00.0", BusID: "0000:c1:00.0"},
		},
		{
			Type: schedulingv1alpha1.GPU, UUID: "u1", Minor: new(int32(1)), Resources: corev1.ResourceList{}, Labels: map[string]string{extension.LabelGPUVendor: "huawei"},
			Conditions: []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse, Reason: "DeviceUnhealthy", Message: "7 hot"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		// the file "npu" comes before "odd", so that the minor number is that of u0
		t.Errorf("accelerators (-want +got):\n%s", diff)
	}
}

func TestGPUs(t *testing.T) {
	sys := cards(t)
	reading := gpu.Reading{Devices: []gpu.Device{
		{Minor: 0, UUID: "a", Model: "NVIDIA A100-SXM4", BusID: "0000:3b:00.0", MemoryTotal: 80 << 30, MemoryUsed: 20 << 30, CoreUsed: 40, Processes: []gpu.Process{
			{PID: 1, MemoryUsed: 8 << 30, CoreUsed: 30}, {PID: 2, MemoryUsed: 8 << 30, CoreUsed: 5}, {PID: 3},
		}},
		{Minor: 1, UUID: "b", BusID: "../../etc", Problem: "it is lost"},
	}}
	got := GPUs(reading, sys, twoSockets)
	if a := got[0]; !a.Health || a.Labels[extension.LabelGPUModel] != "NVIDIA-A100-SXM4" || a.Topology.PCIEID != "pci0000:3a" || a.Topology.SocketID != 1 ||
		new(a.Resources[extension.ResourceGPUMemory]).Cmp(resource.MustParse("80Gi")) != 0 {
		t.Errorf("the first GPU is %+v", a)
	}
	if b := got[1]; b.Health || len(b.Conditions) != 1 || b.Topology.NodeID != -1 {
		t.Errorf("the second GPU is %+v", b)
	}
	by := UsedBy(reading, func(pid int32) bool { return pid < 3 })
	want := corev1.ResourceList{
		extension.ResourceGPUCore: resource.MustParse("35"), extension.ResourceGPUMemory: resource.MustParse("16Gi"), extension.ResourceGPUMemoryRatio: resource.MustParse("20"),
	}
	if diff := cmp.Diff(want, by[0].Resources); diff != "" || len(by) != 1 {
		t.Errorf("used by two processes (-want +got):\n%s", diff)
	}
	if all := Used(reading); len(all) != 2 || new(all[0].Resources[extension.ResourceGPUMemoryRatio]).Cmp(resource.MustParse("25")) != 0 {
		t.Errorf("used by all: %+v", all)
	}
}

func FuzzXPU(f *testing.F) {
	f.Add([]byte(`[{"vendor":"v","uuid":"u","minor":"0","resources":{"a":"1"}}]`))
	f.Fuzz(func(t *testing.T, content []byte) {
		directory := t.TempDir()
		if err := os.WriteFile(filepath.Join(directory, "x"), content, 0o600); err != nil {
			t.Skip(err)
		}
		devices, _ := XPUs(directory, twoSockets)
		for _, device := range devices {
			if device.UUID == "" || *device.Minor < 0 {
				t.Errorf("device %+v", device)
			}
		}
	})
}
