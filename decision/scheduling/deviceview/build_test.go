package deviceview

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// machine has 4 GPUs with 64 GiB and 2 network cards on 2 PCIe switches, one on each NUMA node.
func machine() *schedulingv1alpha1.Device {
	d := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{}, Annotations: map[string]string{}}}
	for i := range int32(4) {
		add(d, schedulingv1alpha1.GPU, i, i/2, list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "64Gi", "koordinator.sh/gpu-memory-ratio", "100"))
	}
	for i := range int32(2) {
		add(d, schedulingv1alpha1.RDMA, i, i, list("koordinator.sh/rdma", "100"))
	}
	return d
}

func add(d *schedulingv1alpha1.Device, kind schedulingv1alpha1.DeviceType, minor, zone int32, resources corev1.ResourceList) {
	d.Spec.Devices = append(d.Spec.Devices, schedulingv1alpha1.DeviceInfo{
		Type: kind, UUID: fmt.Sprintf("%s-%d", kind, minor), Minor: &minor, Health: true, Resources: resources,
		Topology: &schedulingv1alpha1.DeviceTopology{NodeID: zone, SocketID: zone, PCIEID: fmt.Sprintf("pcie-%d", zone)},
	})
}

func infoOf(d *schedulingv1alpha1.Device, kind schedulingv1alpha1.DeviceType, minor int32) *schedulingv1alpha1.DeviceInfo {
	for i := range d.Spec.Devices {
		if info := &d.Spec.Devices[i]; info.Type == kind && *info.Minor == minor {
			return info
		}
	}
	return nil
}

// pod runs on the node and requests a percentage of GPUs.
func pod(name, gpu string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name), Annotations: map[string]string{}, Labels: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if gpu != "" {
		p.Spec.Containers[0].Resources.Requests = list("koordinator.sh/gpu", gpu)
	}
	return p
}

// holding is the pod with a percentage of each of some GPUs.
func holding(t testing.TB, p *corev1.Pod, percent int, minors ...int32) *corev1.Pod {
	t.Helper()
	allocations := extension.DeviceAllocations{}
	for _, minor := range minors {
		allocations[schedulingv1alpha1.GPU] = append(allocations[schedulingv1alpha1.GPU], &extension.DeviceAllocation{
			Minor: minor, Resources: list("koordinator.sh/gpu-core", fmt.Sprint(percent), "koordinator.sh/gpu-memory-ratio", fmt.Sprint(percent)),
		})
	}
	if err := extension.SetDeviceAllocations(p, allocations); err != nil {
		t.Fatal(err)
	}
	return p
}

// nic is a pod with a percentage of a network card.
func nic(t testing.TB, name string, percent int, minor int32) *corev1.Pod {
	t.Helper()
	p := pod(name, "")
	p.Spec.Containers[0].Resources.Requests = list("koordinator.sh/rdma", fmt.Sprint(percent))
	err := extension.SetDeviceAllocations(p, extension.DeviceAllocations{schedulingv1alpha1.RDMA: {
		{Minor: minor, Resources: list("koordinator.sh/rdma", fmt.Sprint(percent))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reserved is a Reservation of whole GPUs on the node.
func reserved(t testing.TB, name string, minors ...int32) *schedulingv1alpha1.Reservation {
	t.Helper()
	holder := holding(t, pod(name, fmt.Sprint(100*len(minors))), 100, minors...)
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Annotations: holder.Annotations},
		Spec:       schedulingv1alpha1.ReservationSpec{Template: &corev1.PodTemplateSpec{Spec: holder.Spec}},
		Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "node"},
	}
}

// operating has a pod stand for a Reservation of its name.
func operating(p *corev1.Pod) *corev1.Pod {
	p.UID = types.UID("uid-" + p.Name)
	p.Labels[extension.LabelPodOperatingMode] = string(extension.PodOperatingModeReservation)
	return p
}

// using has a pod use a Reservation.
func using(p *corev1.Pod, reservation string) *corev1.Pod {
	p.Annotations[extension.AnnotationReservationAllocated] = fmt.Sprintf(`{"name":%q,"uid":"uid-%s"}`, reservation, reservation)
	return p
}
