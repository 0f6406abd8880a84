package device

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
)

func TestScoreOnNodesWithoutGPUs(t *testing.T) {
	tests := map[string]struct {
		machine *machine
		held    []Held
		pairs   []string
		want    int64
	}{
		"a NIC of a node without GPUs":   {machine: only(rdmaType, 2), pairs: []string{"koordinator.sh/rdma", "100"}, want: 50},
		"an FPGA of a node without GPUs": {machine: only(fpgaType, 1), pairs: []string{"koordinator.sh/fpga", "50"}, want: 50},
		"more NICs than GPUs":            {machine: mixed(1, 4, 0), held: []Held{whole(t, rdmaType, 0)}, pairs: []string{"koordinator.sh/rdma", "100"}, want: 50},
		"a node with no devices":         {machine: newMachine(), pairs: []string{"koordinator.sh/rdma", "100"}, want: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: test.machine.ledger(test.held...), Request: mustParse(t, podOf(test.pairs...)), Policy: defaults}
			if got := Score(in); got != test.want {
				t.Errorf("score %d, want %d", got, test.want)
			}
		})
	}
}

// mixed is a machine with as many devices of each type, two to a PCIe switch.
func mixed(gpus, nics, fpgas int) *machine {
	m := newMachine()
	place := func(i int) (zone int32, pcie string) { return int32(i / 4), fmt.Sprintf("pcie-%d", i/2) }
	for i := range gpus {
		zone, pcie := place(i)
		m.gpu(int32(i), zone, pcie)
	}
	for i := range nics {
		zone, pcie := place(i)
		m.nic(int32(i), zone, pcie)
	}
	for i := range fpgas {
		zone, pcie := place(i)
		m.add(fpgaType, int32(i), zone, pcie, list("koordinator.sh/fpga", "100"))
	}
	return m
}

func only(kind schedulingv1alpha1.DeviceType, count int) *machine {
	if kind == rdmaType {
		return mixed(0, count, 0)
	}
	return mixed(0, 0, count)
}

// FuzzMixes asks nodes with any mix of devices, and with none, for any mix of devices: filter, score, allocation, hints and advice
// must agree on whether the node can serve the request, and none may panic.
func FuzzMixes(f *testing.F) {
	f.Add(uint8(0), uint8(2), uint8(0), uint32(0), uint32(0), int64(0), int64(100), int64(0), "", "", "")
	f.Add(uint8(8), uint8(4), uint8(1), uint32(1), uint32(2), int64(2), int64(100), int64(100), samePCIe, `{"rdma":{"requiredTopologyScope":"PCIe"}}`, `{"2":[{"minors":[0,1]}]}`)
	f.Add(uint8(1), uint8(0), uint8(3), uint32(7), uint32(1), int64(1), int64(0), int64(200), `{"deviceTypes":["fpga","gpu"]}`, `{"fpga":{"exclusivePolicy":"PCIeLevel"}}`, `{}`)
	f.Add(uint8(0), uint8(0), uint8(0), uint32(0), uint32(0), int64(1), int64(1), int64(1), `{"deviceTypes":["rdma","fpga"]}`, `{"rdma":{"vfSelector":{}}}`, ``)
	f.Fuzz(func(t *testing.T, gpus, nics, fpgas uint8, broken, busy uint32, askGPU, askRDMA, askFPGA int64, joint, hint, table string) {
		m := mixed(int(gpus%9), int(nics%9), int(fpgas%9)).table(table)
		for i := range m.object.Spec.Devices {
			m.object.Spec.Devices[i].Health = broken&(1<<(i%32)) == 0
			if broken&(1<<31) != 0 {
				m.object.Spec.Devices[i].Topology = nil
			}
		}
		var held []Held
		for i, info := range m.object.Spec.Devices {
			if busy&(1<<(i%32)) != 0 {
				held = append(held, whole(t, info.Type, *info.Minor))
			}
		}
		pod := hinted(joined(podOf(), joint), hint)
		for name, asked := range map[corev1.ResourceName]int64{"nvidia.com/gpu": askGPU, "koordinator.sh/rdma": askRDMA, "koordinator.sh/fpga": askFPGA} {
			if asked != 0 {
				pod.Spec.Containers[0].Resources.Requests[name] = *resource.NewQuantity(asked, resource.DecimalSI)
			}
		}
		request, refusal := ParseRequest(pod, defaults, nil)
		if refusal != nil || request == nil {
			return
		}
		in := Input{Ledger: m.ledger(held...), Request: request, Policy: defaults}
		for _, zones := range []numa.Mask{0, numa.MaskOf(0), numa.MaskOf(0, 1, 2)} {
			in.Zones = zones
			fits, score := Fits(in, nil), Score(in)
			if _, unfit := Allocate(in, nil); (fits == nil) != (unfit == nil) {
				t.Errorf("zones %v: Fits says %v, Allocate says %v", zones, fits, unfit)
			}
			if score < 0 || score > MaxScore || fits != nil && score != 0 {
				t.Errorf("zones %v: score %d, Fits says %v", zones, score, fits)
			}
			_ = Hints(in, zones)
			_ = Relaxations(pod, in, nil)
		}
	})
}
