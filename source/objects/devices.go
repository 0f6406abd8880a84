package objects

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/deviceview"
)

// DeviceSnapshot is what the overviews of devices are made of.
type DeviceSnapshot struct {
	Devices []schedulingv1alpha1.Device
	// All is true where Devices are those of all nodes: a pod that holds a device of a node without one is then worth an overview.
	All   bool
	Nodes []corev1.Node
	// Pods with a node. Those that have ended do not count.
	Pods         []corev1.Pod
	Reservations []schedulingv1alpha1.Reservation
	// Unseen is true where pods or Reservations are missing.
	Unseen bool
}

// DeviceOverviews are the overviews of the Devices, ordered by name.
func DeviceOverviews(in *DeviceSnapshot) []diagnosticsv1alpha1.DeviceOverview {
	policy := device.NewPolicy(device.DefaultArgs())
	inputs := map[string]*deviceview.Input{}
	for i := range in.Devices {
		inputs[in.Devices[i].Name] = &deviceview.Input{Object: &in.Devices[i], Policy: policy, Unseen: in.Unseen}
	}
	for i := range in.Nodes {
		if of := inputs[in.Nodes[i].Name]; of != nil {
			of.Labels = in.Nodes[i].Labels
		}
	}
	for i := range in.Pods {
		pod := &in.Pods[i]
		of := inputs[pod.Spec.NodeName]
		if of == nil {
			if !in.All {
				continue
			}
			if _, holds := device.HeldBy(pod); !holds {
				continue
			}
			of = &deviceview.Input{Object: &schedulingv1alpha1.Device{}, Policy: policy, Unseen: in.Unseen}
			of.Object.Name = pod.Spec.NodeName
			inputs[pod.Spec.NodeName] = of
		}
		of.Pods = append(of.Pods, pod)
	}
	for i := range in.Reservations {
		if of := inputs[in.Reservations[i].Status.NodeName]; of != nil {
			of.Reservations = append(of.Reservations, &in.Reservations[i])
		}
	}
	out := make([]diagnosticsv1alpha1.DeviceOverview, 0, len(inputs))
	for _, of := range inputs {
		out = append(out, deviceview.Overview(*of))
	}
	slices.SortFunc(out, func(a, b diagnosticsv1alpha1.DeviceOverview) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
