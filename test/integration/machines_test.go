package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/test/invariants"
)

var (
	topologyResource = topologyv1alpha1.GroupVersion.WithResource("noderesourcetopologies")
	deviceResource   = schedulingv1alpha1.GroupVersion.WithResource("devices")
	metricResource   = schema.GroupVersionResource{Group: "slo.koordinator.sh", Version: "v1alpha1", Resource: "nodemetrics"}
)

// A machine of these tests has two NUMA nodes of four cores with two threads each. CPUs 0 and 1 are the kubelet's.
const (
	machineCPUs  = 16
	keptCPUs     = 2
	machineGPUs  = 4
	poolTaint    = "integration.koordinator.sh/pool"
	gpuMemoryGiB = 80
)

// observe checks the invariants at every event from now to the end of the test.
func observe(t *testing.T) *invariants.Watcher {
	t.Helper()
	config, err := shared.Config()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	watcher, err := invariants.Watch(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := watcher.Settle(ctx); err != nil {
			t.Error(err)
		}
		watcher.Stop()
		for i, violation := range watcher.Violations() {
			if i == 20 {
				t.Error("and more")
				break
			}
			t.Error(violation)
		}
		t.Logf("checked: %+v", watcher.Seen())
	})
	return watcher
}

// machines registers nodes that only pods of their pool go to, and writes about them what koordlets would, for as long as the
// test runs. They are none of the sandbox's simulated ones: nothing runs the pods that are bound to them, and nobody but the
// test says what they have. It returns their names.
func machines(t *testing.T, pool string, count int, change ...func(*corev1.Node)) []string {
	t.Helper()
	var names []string
	for i := range count {
		node := machine(pool, i)
		for _, f := range change {
			f(node)
		}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		names = append(names, node.Name)
		t.Cleanup(func() { scrap(t, node.Name) })
		create(t, topologyResource, topologyOf(node.Name))
		if err := measure(t.Context(), node.Name); err != nil {
			t.Fatal(err)
		}
	}
	keepMeasuring(t, names)
	return names
}

// measure reports an idle machine, so that load-aware scheduling does not take it for one whose koordlet is gone.
func measure(ctx context.Context, node string) error {
	metrics := dynamicClient.Resource(metricResource)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": metricResource.GroupVersion().String(), "kind": "NodeMetric", "metadata": map[string]any{"name": node}, "spec": map[string]any{},
	}}
	if _, err := metrics.Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create NodeMetric %s: %w", node, err)
	}
	patch := fmt.Sprintf(`{"status":{"updateTime":%q,"nodeMetric":{"nodeUsage":{"resources":{"cpu":"100m","memory":"1Gi"}}}}}`, time.Now().Format(time.RFC3339))
	if _, err := metrics.Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("report NodeMetric %s: %w", node, err)
	}
	return nil
}

// keepMeasuring reports machines every minute until the test ends, as a measurement counts for three. A report that fails
// while the API server is down is made a minute later.
func keepMeasuring(t *testing.T, nodes []string) {
	var reporting sync.WaitGroup
	reporting.Go(func() {
		tick := time.NewTicker(time.Minute)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
			for _, node := range nodes {
				if err := measure(t.Context(), node); err != nil && t.Context().Err() == nil {
					t.Log(err)
				}
			}
		}
	})
	t.Cleanup(reporting.Wait)
}

// scrap removes a machine and what is about it.
func scrap(t *testing.T, name string) {
	ctx := context.Background()
	errs := []error{client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})}
	for _, kind := range []schema.GroupVersionResource{topologyResource, deviceResource, metricResource} {
		errs = append(errs, dynamicClient.Resource(kind).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	for _, err := range errs {
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

func machine(pool string, i int) *corev1.Node {
	name := fmt.Sprintf("%s-%d", pool, i)
	has := corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(machineCPUs, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourcePods:              resource.MustParse("110"),
		extension.ResourceGPU:            *resource.NewQuantity(machineGPUs*100, resource.DecimalSI),
		extension.ResourceGPUCore:        *resource.NewQuantity(machineGPUs*100, resource.DecimalSI),
		extension.ResourceGPUMemoryRatio: *resource.NewQuantity(machineGPUs*100, resource.DecimalSI),
		extension.ResourceGPUMemory:      *resource.NewQuantity(machineGPUs*gpuMemoryGiB<<30, resource.BinarySI),
		extension.ResourceNvidiaGPU:      *resource.NewQuantity(machineGPUs, resource.DecimalSI),
		extension.ResourceRDMA:           resource.MustParse("200"),
	}
	offers := has.DeepCopy()
	offers[corev1.ResourceCPU] = *resource.NewQuantity(machineCPUs-keptCPUs, resource.DecimalSI)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{corev1.LabelHostname: name, "pool": pool},
			// These tests fill machines to the last CPU, which is not what load-aware scheduling wants.
			Annotations: map[string]string{extension.AnnotationCustomUsageThresholds: `{"usageThresholds":{"cpu":0,"memory":0}}`},
		},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: poolTaint, Value: pool, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: has, Allocatable: offers,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Test"}},
		},
	}
}

func topologyOf(node string) *topologyv1alpha1.NodeResourceTopology {
	cpus := extension.CPUTopology{}
	for id := range int32(machineCPUs) {
		cpus.Detail = append(cpus.Detail, extension.CPUInfo{ID: id, Core: id / 2, Socket: 0, Node: id / (machineCPUs / 2)})
	}
	detail, _ := json.Marshal(cpus) // plain numbers
	zone := func(number int, cpu int64) topologyv1alpha1.Zone {
		amount := func(name corev1.ResourceName, capacity, allocatable resource.Quantity) topologyv1alpha1.ResourceInfo {
			return topologyv1alpha1.ResourceInfo{Name: string(name), Capacity: capacity, Allocatable: allocatable, Available: allocatable}
		}
		memory := resource.MustParse("32Gi")
		return topologyv1alpha1.Zone{
			Name: fmt.Sprintf("node-%d", number), Type: "Node",
			Resources: topologyv1alpha1.ResourceInfoList{
				amount(corev1.ResourceCPU, resource.MustParse("8"), *resource.NewQuantity(cpu, resource.DecimalSI)),
				amount(corev1.ResourceMemory, memory, memory),
			},
		}
	}
	return &topologyv1alpha1.NodeResourceTopology{
		TypeMeta: metav1.TypeMeta{APIVersion: topologyv1alpha1.GroupVersion.String(), Kind: "NodeResourceTopology"},
		ObjectMeta: metav1.ObjectMeta{
			Name: node, Labels: map[string]string{extension.LabelManagedBy: extension.ManagedByKoordinator},
			Annotations: map[string]string{
				extension.AnnotationNodeCPUTopology:         string(detail),
				extension.AnnotationKubeletCPUManagerPolicy: `{"policy":"none","reservedCPUs":"0-1"}`,
			},
		},
		TopologyPolicies: []string{"None"},
		Zones:            topologyv1alpha1.ZoneList{zone(0, machineCPUs/2-keptCPUs), zone(1, machineCPUs/2)},
	}
}

// devicesOf are four GPUs and two network cards with four functions each, half of either on each NUMA node.
func devicesOf(node string) *schedulingv1alpha1.Device {
	device := &schedulingv1alpha1.Device{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "Device"},
		ObjectMeta: metav1.ObjectMeta{Name: node},
	}
	place := func(minor, perZone int32) *schedulingv1alpha1.DeviceTopology {
		return &schedulingv1alpha1.DeviceTopology{NodeID: minor / perZone, PCIEID: fmt.Sprint(minor / perZone)}
	}
	for minor := range int32(machineGPUs) {
		device.Spec.Devices = append(device.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, Health: true, Minor: &minor, UUID: fmt.Sprintf("%s-gpu-%d", node, minor), Topology: place(minor, 2),
			Resources: corev1.ResourceList{
				extension.ResourceGPUCore: resource.MustParse("100"), extension.ResourceGPUMemoryRatio: resource.MustParse("100"),
				extension.ResourceGPUMemory: *resource.NewQuantity(gpuMemoryGiB<<30, resource.BinarySI),
			},
		})
	}
	for minor := range int32(2) {
		var functions []schedulingv1alpha1.VirtualFunction
		for f := range int32(4) {
			functions = append(functions, schedulingv1alpha1.VirtualFunction{Minor: f, BusID: fmt.Sprintf("0000:%02d:00.%d", minor, f)})
		}
		device.Spec.Devices = append(device.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.RDMA, Health: true, Minor: &minor, UUID: fmt.Sprintf("0000:%02d:00.0", minor), Topology: place(minor, 1),
			Resources: corev1.ResourceList{extension.ResourceRDMA: resource.MustParse("100")},
			VFGroups:  []schedulingv1alpha1.VirtualFunctionGroup{{Labels: map[string]string{"type": "general"}, VFs: functions}},
		})
	}
	return device
}

// create makes a custom resource.
func create(t *testing.T, kind schema.GroupVersionResource, object metav1.Object) {
	t.Helper()
	if err := insist(t.Context(), kind, object); err != nil {
		t.Fatal(err)
	}
}

// insist creates a custom resource, through outages.
func insist(ctx context.Context, kind schema.GroupVersionResource, object metav1.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	return persist(ctx, func() error {
		_, err := dynamicClient.Resource(kind).Namespace(object.GetNamespace()).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier attempt was lost
			return nil
		}
		return err
	})
}

// withdraw deletes a custom resource, through outages.
func withdraw(ctx context.Context, kind schema.GroupVersionResource, namespace, name string) error {
	return persist(ctx, func() error {
		err := dynamicClient.Resource(kind).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// specOf is a merge patch with the spec of a Device.
func specOf(t *testing.T, device *schedulingv1alpha1.Device) string {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": device.Spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(patch)
}
