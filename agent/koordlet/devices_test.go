package koordlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/test/eventually"
)

// gpuAnswer is what the program that reads GPUs says of a machine with two: a service has a process on both, a batch pod on the second,
// beside processes of the machine and one that has ended.
const gpuAnswer = `{"reading":{"driver":"555.42","devices":[
{"minor":0,"uuid":"GPU-a","model":"A100","busID":"0000:3b:00.0","memoryTotal":1073741824,"memoryUsed":536870912,"coreUsed":50,
"processes":[{"pid":11,"memoryUsed":268435456,"coreUsed":30},{"pid":13,"memoryUsed":1048576,"coreUsed":20}]},
{"minor":1,"uuid":"GPU-b","model":"A100","memoryTotal":1073741824,"memoryUsed":1073741824,"coreUsed":100,
"processes":[{"pid":11,"memoryUsed":268435456,"coreUsed":10},{"pid":12,"memoryUsed":805306368,"coreUsed":90},{"pid":14,"coreUsed":1}]}]}}`

// newEquippedRig is a rig in real time whose machine has two GPUs and a network card.
func newEquippedRig(t *testing.T, gates map[string]bool) (*rig, *devices) {
	r := newRig(t, func(o *Options) {
		directory := t.TempDir()
		o.ReadOnly, o.FeatureGates, o.AcceleratorDirectory = true, gates, filepath.Join(directory, "none")
		o.GPUReader = filepath.Join(directory, "reader")
	})
	t.Cleanup(r.stop)
	r.file(r.options.GPUReader, "#!/bin/sh\nwhile read question; do echo "+"'"+strings.ReplaceAll(gpuAnswer, "\n", " ")+"'; done\n")
	if err := os.Chmod(r.options.GPUReader, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  555.42\n",
		"11/cgroup":             "4:memory:/kubepods/burstable/podservice/0123\n2:cpu,cpuacct:/kubepods/burstable/podservice/0123\n",
		"12/cgroup":             "2:cpu,cpuacct:/kubepods/besteffort/podbatch/0123\n",
		"14/cgroup":             "2:cpu,cpuacct:/system.slice/gpu-monitor.service\n",
	} {
		r.file(filepath.Join(r.options.Proc, name), content)
	}
	bus := filepath.Join(r.options.Sys, "devices/pci0000:3a/0000:3b:00.0")
	r.file(filepath.Join(bus, "numa_node"), "1\n")
	card := filepath.Join(r.options.Sys, "class/infiniband/mlx0")
	r.file(filepath.Join(card, "ports/1/state"), "4: ACTIVE\n")
	r.file(filepath.Join(r.options.Sys, "bus/pci/devices/x"), "")
	for link, target := range map[string]string{filepath.Join(card, "device"): bus, filepath.Join(r.options.Sys, "bus/pci/devices/0000:3b:00.0"): bus} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	return r, newDevices(r.options, r.clients, r.cluster, r.machine, r.enforcement.proc)
}

func TestDevicesAreReportedByGate(t *testing.T) {
	type found struct {
		Type schedulingv1alpha1.DeviceType
		UUID string
		Node int32
	}
	gpus := []found{{schedulingv1alpha1.GPU, "GPU-a", 1}, {schedulingv1alpha1.GPU, "GPU-b", -1}}
	card := found{schedulingv1alpha1.RDMA, "0000:3b:00.0", 1}
	for name, test := range map[string]struct {
		gates      map[string]bool
		want       []found
		wantDriver string
	}{
		"none":               {},
		"GPUs":               {map[string]bool{nodefeature.Accelerators.Name: true}, gpus, "555.42"},
		"network cards":      {map[string]bool{nodefeature.RDMADevices.Name: true}, []found{card}, ""},
		"GPUs and cards":     {map[string]bool{nodefeature.Accelerators.Name: true, nodefeature.RDMADevices.Name: true}, append(gpus, card), "555.42"},
		"switched off again": {gates: map[string]bool{nodefeature.Accelerators.Name: false, nodefeature.RDMADevices.Name: false}},
	} {
		t.Run(name, func(t *testing.T) {
			r, devices := newEquippedRig(t, test.gates)
			if len(test.want) == 0 {
				devices.run(r.ctx) // and it returns
				if _, reported, err := r.reported(); reported || err != nil {
					t.Errorf("devices are reported: %t, %v", reported, err)
				}
				return
			}
			r.group.Go(func() { devices.run(r.ctx) })
			var object schedulingv1alpha1.Device
			eventually.True(r, "a Device is reported", func() (reported bool) {
				object, reported, _ = r.reported()
				return reported
			})
			var got []found
			for _, one := range object.Spec.Devices {
				got = append(got, found{one.Type, one.UUID, one.Topology.NodeID})
				if !one.Health {
					t.Errorf("%+v is not healthy", one)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || object.Labels[extension.LabelGPUDriverVersion] != test.wantDriver {
				t.Errorf("devices (-want +got):\n%s driver %q, want %q", diff, object.Labels[extension.LabelGPUDriverVersion], test.wantDriver)
			}
		})
	}
}

// reported is the node's Device in the cluster.
func (r *rig) reported() (schedulingv1alpha1.Device, bool, error) {
	var object schedulingv1alpha1.Device
	found, err := r.server.Read("devices", nodeName, &object)
	return object, found, err
}

// TestTheNodeMetricTellsWhoUsesGPUs by the cgroups of their processes, while the reading is fresh.
func TestTheNodeMetricTellsWhoUsesGPUs(t *testing.T) {
	r, devices := newEquippedRig(t, map[string]bool{nodefeature.Accelerators.Name: true})
	t.Cleanup(devices.probe.Close)
	r.measurement.devices = devices
	machine, err := r.machine.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := devices.accelerators(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	eventually.True(r, "the cluster is known", func() bool { return r.cluster.Known() && len(r.cluster.Pods()) == 2 })
	var status *slov1alpha1.NodeMetricStatus
	eventually.True(r, "the node and its pods are reported", func() bool {
		if err := r.measurement.sample(t.Context()); err != nil {
			t.Fatal(err)
		}
		status = r.measurement.status(time.Now())
		return status != nil && status.NodeMetric != nil && len(status.PodsMetric) == 2
	})
	const mebi = 1 << 20
	type use struct {
		UUID         string
		Core, Memory int64
	}
	usesOf := func(all []schedulingv1alpha1.DeviceInfo) (out []use) {
		for _, one := range all {
			core, memory := one.Resources[extension.ResourceGPUCore], one.Resources[extension.ResourceGPUMemory]
			out = append(out, use{one.UUID, core.Value(), memory.Value() / mebi})
		}
		return out
	}
	got := map[string][]use{"node": usesOf(status.NodeMetric.NodeUsage.Devices)}
	for _, pod := range status.PodsMetric {
		got[pod.Name] = usesOf(pod.PodUsage.Devices)
	}
	want := map[string][]use{
		"node": {{"GPU-a", 50, 512}, {"GPU-b", 100, 1024}}, "service": {{"GPU-a", 30, 256}, {"GPU-b", 10, 256}}, "batch": {{"GPU-b", 90, 768}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("use of GPUs (-want +got):\n%s", diff)
	}
	if old, ofOld := devices.used(time.Now().Add(time.Minute)); old != nil || ofOld != nil {
		t.Errorf("a reading that is a minute old tells %+v", old)
	}
}
