package deviceresource

import (
	"math"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/ownership"
)

// whole is one device, in percent.
const whole = 100

// published are the resources of each type of device that nodes show. Others are not Koordinator's to publish.
var published = map[schedulingv1alpha1.DeviceType][]corev1.ResourceName{
	schedulingv1alpha1.GPU: {extension.ResourceGPUCore, extension.ResourceGPUMemory, extension.ResourceGPUMemoryRatio,
		extension.ResourceHuaweiNPUCore, extension.ResourceHuaweiNPUCPU, extension.ResourceHuaweiNPUDVPP},
	schedulingv1alpha1.RDMA: {extension.ResourceRDMA},
	schedulingv1alpha1.FPGA: {extension.ResourceFPGA},
}

// Resources are the names this package computes, in order.
func Resources() []corev1.ResourceName {
	names := []corev1.ResourceName{extension.ResourceGPU, extension.ResourceGPUShared}
	for _, ofType := range published {
		names = append(names, ofType...)
	}
	slices.Sort(names)
	return names
}

// labels maps each label of a node to the labels of a Device that it is taken from, the first that is there.
var labels = []struct {
	name string
	from []string
}{
	{extension.LabelGPUVendor, []string{extension.LabelGPUVendor}},
	{extension.LabelGPUModel, []string{extension.LabelGPUModel, extension.DeprecatedLabelGPUModel}},
	{extension.DeprecatedLabelGPUModel, []string{extension.LabelGPUModel, extension.DeprecatedLabelGPUModel}},
	{extension.LabelGPUDriverVersion, []string{extension.LabelGPUDriverVersion, extension.LabelGPUDriver, extension.DeprecatedLabelGPUDriver}},
	{extension.LabelGPUDriver, []string{extension.LabelGPUDriver, extension.LabelGPUDriverVersion, extension.DeprecatedLabelGPUDriver}},
	{extension.DeprecatedLabelGPUDriver, []string{extension.LabelGPUDriver, extension.LabelGPUDriverVersion, extension.DeprecatedLabelGPUDriver}},
}

// Verdict is what the node gets, and what is to change about it.
type Verdict struct {
	// Offers by resource, in the order of Resources.
	Offers []Offer
	// Withdrawn are resources that koord-manager published and the node no longer has.
	Withdrawn []corev1.ResourceName
	// Labels that differ, with the value they are to have.
	Labels map[string]string
	// Unlabelled are labels that koord-manager wrote and the Device does not have.
	Unlabelled []string
}

// Offer is one resource of a node.
type Offer struct {
	Resource corev1.ResourceName
	// Value in percent of a device, bytes, or a count, as the resource has it.
	Value int64
	// Devices are the positions in the Device's list of those that it is the sum of.
	Devices []int
	// Unhealthy counts devices that would have added to it.
	Unhealthy int
}

// Decide adds up the healthy devices. A node whose devices are all unhealthy offers zero of them; one that does not have any
// of a type, or has no Device, gets back what koord-manager published, and keeps what others did.
func Decide(in Input) Verdict {
	out := Verdict{}
	sums := map[corev1.ResourceName]*Offer{}
	for _, i := range distinct(in.Device) {
		addDevice(sums, &in.Device.Spec.Devices[i], i, in.Shared)
	}
	// Managed fields are long, and seldom asked for.
	fields := sync.OnceValue(func() ownership.Fields { return ownership.Of(in.Node, overcommit.FieldManager) })
	for _, name := range Resources() {
		if offer, ok := sums[name]; ok {
			out.Offers = append(out.Offers, *offer)
			continue
		}
		if shows(in.Node, name) && fields().Has("status", "allocatable", string(name)) {
			out.Withdrawn = append(out.Withdrawn, name)
		}
	}
	out.label(in, fields)
	return out
}

func shows(node *corev1.Node, name corev1.ResourceName) bool {
	_, capacity := node.Status.Capacity[name]
	_, allocatable := node.Status.Allocatable[name]
	return capacity || allocatable
}

// distinct are the positions of the devices that the scheduler knows: of two with one minor number, it knows the first.
func distinct(device *schedulingv1alpha1.Device) []int {
	if device == nil {
		return nil
	}
	type identity struct {
		kind  schedulingv1alpha1.DeviceType
		minor int32
	}
	seen := map[identity]bool{}
	var positions []int
	for i := range device.Spec.Devices {
		info := &device.Spec.Devices[i]
		id := identity{kind: info.Type}
		if info.Minor != nil {
			id.minor = *info.Minor
		}
		if id.minor >= 0 && !seen[id] {
			seen[id] = true
			positions = append(positions, i)
		}
	}
	return positions
}

// addDevice adds one device to the sums.
func addDevice(sums map[corev1.ResourceName]*Offer, info *schedulingv1alpha1.DeviceInfo, position int, shared bool) {
	add := func(name corev1.ResourceName, value int64) {
		offer, ok := sums[name]
		if !ok {
			offer = &Offer{Resource: name}
			sums[name] = offer
		}
		if !info.Health {
			offer.Unhealthy++
			return
		}
		offer.Value = saturatingAdd(offer.Value, value)
		offer.Devices = append(offer.Devices, position)
	}
	amounts := amountsOf(info)
	for _, name := range published[info.Type] {
		if _, ok := amounts[name]; ok {
			add(name, valueOf(info, name))
		}
	}
	if info.Type != schedulingv1alpha1.GPU {
		return
	}
	if _, ok := amounts[extension.ResourceGPUCore]; ok {
		add(extension.ResourceGPU, valueOf(info, extension.ResourceGPU))
	}
	if shared {
		add(extension.ResourceGPUShared, valueOf(info, extension.ResourceGPUShared))
	}
}

// valueOf is what a device adds to a resource of its node.
func valueOf(info *schedulingv1alpha1.DeviceInfo, name corev1.ResourceName) int64 {
	switch name {
	case extension.ResourceGPUShared:
		return whole
	case extension.ResourceGPU:
		name = extension.ResourceGPUCore
	}
	return max(amountsOf(info)[name], 0)
}

// amountsOf are the resources of a device; the older names count where the present ones are absent.
func amountsOf(info *schedulingv1alpha1.DeviceInfo) map[corev1.ResourceName]int64 {
	amounts := map[corev1.ResourceName]int64{}
	for name, quantity := range info.Resources {
		present := extension.CanonicalResourceName(name)
		if _, stated := info.Resources[present]; present == name || !stated {
			amounts[present] = quantity.Value()
		}
	}
	return amounts
}

func saturatingAdd(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxInt64
}

// label decides about the labels. Those of a Device that has no GPU say nothing about the node.
func (v *Verdict) label(in Input, fields func() ownership.Fields) {
	for _, label := range labels {
		current, exists := in.Node.Labels[label.name]
		wanted := ""
		if in.Device != nil && hasGPU(in.Device) {
			wanted = first(in.Device.Labels, label.from)
		}
		switch {
		case wanted != "" && wanted != current:
			if v.Labels == nil {
				v.Labels = map[string]string{}
			}
			v.Labels[label.name] = wanted
		case wanted == "" && exists && fields().Has("metadata", "labels", label.name):
			v.Unlabelled = append(v.Unlabelled, label.name)
		}
	}
}

func hasGPU(device *schedulingv1alpha1.Device) bool {
	return slices.ContainsFunc(device.Spec.Devices, func(info schedulingv1alpha1.DeviceInfo) bool { return info.Type == schedulingv1alpha1.GPU })
}

func first(values map[string]string, names []string) string {
	for _, name := range names {
		if value := values[name]; value != "" {
			return value
		}
	}
	return ""
}

// Changes are the resources whose amount in a list is not what it is to be, with that amount.
func (v Verdict) Changes(list corev1.ResourceList) map[corev1.ResourceName]resource.Quantity {
	out := map[corev1.ResourceName]resource.Quantity{}
	for _, offer := range v.Offers {
		if current, ok := list[offer.Resource]; !ok || current.CmpInt64(offer.Value) != 0 {
			out[offer.Resource] = *resource.NewQuantity(offer.Value, formatOf(offer.Resource))
		}
	}
	return out
}

func formatOf(name corev1.ResourceName) resource.Format {
	if name == extension.ResourceGPUMemory {
		return resource.BinarySI
	}
	return resource.DecimalSI
}
