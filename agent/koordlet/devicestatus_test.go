package koordlet

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/test/eventually"
)

// TestDeviceFeaturesDoNothingOnABareNode: one that has neither device nor driver, whatever is switched on.
func TestDeviceFeaturesDoNothingOnABareNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, allOn)
		defer r.stop()
		r.measurement.devices = newDevices(r.options, r.clients, r.cluster, r.machine, r.enforcement.proc)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { r.measurement.devices.run(r.ctx) })
		r.after(5 * time.Second)
		want := map[string]string{
			nodefeature.Accelerators.Name:     "no accelerator is listed in " + r.options.AcceleratorDirectory + ", and the NVIDIA driver is not loaded",
			nodefeature.RDMADevices.Name:      "there is no network card in /sys/class/infiniband",
			nodefeature.GPUEnvInject.Name:     "the NVIDIA driver is not loaded",
			nodefeature.RDMADeviceInject.Name: "there is no network card in /sys/class/infiniband",
			nodefeature.HugePageReport.Name:   "the kernel has no huge pages",
			nodefeature.TerwayQoS.Name:        "no container with image terway-qos runs on the node to read /var/lib/terway/qos",
		}
		for _, feature := range explained(r) {
			state, is := want[feature.Name]
			if !is {
				continue
			}
			delete(want, feature.Name)
			got := diagnostics.FeatureStatus{Supported: feature.Supported, Active: feature.Active, Effective: feature.Effective, State: feature.State}
			if diff := cmp.Diff(diagnostics.FeatureStatus{Supported: "No", Active: "No", Effective: "No", State: state}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", feature.Name, diff)
			}
		}
		if len(want) > 0 {
			t.Errorf("nothing is told of %v", want)
		}
	})
}

func TestDeviceFeaturesOfAnEquippedNode(t *testing.T) {
	const yes, no, unknown = diagnosticsv1alpha1.FeatureYes, diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeatureUnknown
	gates := map[string]bool{}
	for _, gate := range []string{nodefeature.Accelerators.Name, nodefeature.RDMADevices.Name, nodefeature.GPUEnvInject.Name, nodefeature.RDMADeviceInject.Name, nodefeature.HugePageReport.Name, nodefeature.TerwayQoS.Name} {
		gates[gate] = true
	}
	r, devices := newEquippedRig(t, gates)
	r.measurement.devices = devices
	r.file(filepath.Join(r.options.Sys, "class/misc/rdma_cm/dev"), "10:58\n")
	r.file(filepath.Join(r.options.Sys, "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"), "512\n")
	r.put("noderesourcetopologies", &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Zones: topologyv1alpha1.ZoneList{
		{Name: "node-0", Resources: topologyv1alpha1.ResourceInfoList{{Name: "hugepages-2Mi", Capacity: resource.MustParse("1Gi")}}}, {Name: "node-1"},
	}})
	service := r.pod("service", extension.QoSLS, corev1.PodQOSBurstable)
	service.Annotations = map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":[{"minor":1}]}`}
	service.Spec.Containers[0].Image = "registry.example.com/acs/terway-qos:v0.3"
	r.put("pods", service)
	eventually.True(r, "the cluster is known", func() bool {
		given := func(p *state.Pod) bool { return p.Object.Annotations[extension.AnnotationDeviceAllocated] != "" }
		return r.cluster.Known() && r.cluster.Topology() != nil && slices.ContainsFunc(r.cluster.Pods(), given)
	})
	e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
	check := func(when string, want map[string]diagnostics.FeatureStatus) {
		t.Helper()
		got := map[string]diagnostics.FeatureStatus{}
		for gate := range want {
			got[gate] = e.statusOf(gate, true)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("before anything was read", map[string]diagnostics.FeatureStatus{
		nodefeature.Accelerators.Name: {Supported: yes, Active: no, Effective: no, State: "the devices have not been read yet"},
	})
	r.group.Go(func() { devices.run(r.ctx) })
	eventually.True(r, "devices are reported", func() bool { _, read := devices.reported(nodefeature.RDMADevices.Name); return read })
	check("afterwards", map[string]diagnostics.FeatureStatus{
		nodefeature.Accelerators.Name:     {Supported: yes, Active: yes, Effective: yes, State: "2 devices are reported"},
		nodefeature.RDMADevices.Name:      {Supported: yes, Active: yes, Effective: yes, State: "1 devices are reported"},
		nodefeature.GPUEnvInject.Name:     {Supported: yes, Active: yes, Effective: unknown, State: "1 pods have devices allocated; injected into 0 containers since koordlet started"},
		nodefeature.RDMADeviceInject.Name: {Supported: yes, Active: no, Effective: no, State: "0 pods have devices allocated; injected into 0 containers since koordlet started"},
		nodefeature.HugePageReport.Name:   {Supported: yes, Active: yes, Effective: yes, State: "1 of 2 zones report huge pages"},
		nodefeature.TerwayQoS.Name:        {Supported: yes, Active: no, Effective: no},
	})
}

// TestInjectedDevicesAreCounted by the Advisor that gives them.
func TestInjectedDevicesAreCounted(t *testing.T) {
	r := newRig(t, func(o *Options) { o.FeatureGates = map[string]bool{nodefeature.GPUEnvInject.Name: true} })
	t.Cleanup(r.stop)
	r.file(filepath.Join(r.options.Proc, nvidiaVersion), "NVRM version\n")
	train := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "train", Namespace: "ml", Name: "train", Annotations: map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":[{"minor":1}]}`}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
		}}}},
	}
	r.enforcement.advisor.Observe(qos.NodeSnapshot{SLO: &slov1alpha1.NodeSLOSpec{}, Layout: r.options.layout, Tree: r.enforcement.tree, Pods: []*state.Pod{state.PodOf(train)}})
	sandbox := hooks.Sandbox{UID: "train", Namespace: "ml", Name: "train", Annotations: train.Annotations}
	r.enforcement.advisor.Container(t.Context(), sandbox, "main", "")
	r.enforcement.advisor.Container(t.Context(), hooks.Sandbox{UID: "web", Namespace: "shop", Name: "web"}, "main", "")
	e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
	if got := e.statusOf(nodefeature.GPUEnvInject.Name, true); got.Effective != diagnosticsv1alpha1.FeatureYes || e.enforcement.advisor.Injected(nodefeature.GPUEnvInject.Name) != 1 {
		t.Errorf("after one container with a GPU: %+v", got)
	}
}
