package device

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// ByMinor are amounts of the devices of one type, by minor.
type ByMinor map[string]corev1.ResourceList

// Summary is the ledger of one node, in upstream's fields.
type Summary struct {
	// DeviceTotal, DeviceFree and DeviceUsed are sums over all devices. What is not healthy has nothing free.
	DeviceTotal corev1.ResourceList `json:"deviceTotal"`
	DeviceFree  corev1.ResourceList `json:"deviceFree"`
	DeviceUsed  corev1.ResourceList `json:"deviceUsed"`

	DeviceTotalDetail map[schedulingv1alpha1.DeviceType]ByMinor `json:"deviceTotalDetail"`
	DeviceFreeDetail  map[schedulingv1alpha1.DeviceType]ByMinor `json:"deviceFreeDetail"`
	DeviceUsedDetail  map[schedulingv1alpha1.DeviceType]ByMinor `json:"deviceUsedDetail"`

	// AllocateSet is what each pod, NAMESPACE/NAME, holds of each device.
	AllocateSet map[schedulingv1alpha1.DeviceType]map[string]ByMinor `json:"allocateSet"`
	// Orphans are allocations on devices that are gone, replaced or not healthy.
	Orphans []Orphan `json:"strays,omitempty"`
	// Problems of the Device object.
	Problems []string `json:"problems,omitempty"`
}

// Summary of the ledger; held is what it was made from.
func (l *Ledger) Summary(held []Held) Summary {
	s := Summary{
		DeviceTotal: corev1.ResourceList{}, DeviceFree: corev1.ResourceList{}, DeviceUsed: corev1.ResourceList{},
		DeviceTotalDetail: map[schedulingv1alpha1.DeviceType]ByMinor{}, DeviceFreeDetail: map[schedulingv1alpha1.DeviceType]ByMinor{},
		DeviceUsedDetail: map[schedulingv1alpha1.DeviceType]ByMinor{}, AllocateSet: map[schedulingv1alpha1.DeviceType]map[string]ByMinor{},
		Orphans: l.orphans, Problems: l.node.problems,
	}
	for k, name := range typeNames {
		if len(l.node.devices[k]) == 0 {
			continue
		}
		total, free, used := ByMinor{}, ByMinor{}, ByMinor{}
		for i := range l.node.devices[k] {
			device := &l.node.devices[k][i]
			minor := strconv.Itoa(int(device.minor))
			total[minor], free[minor], used[minor] = device.total.list(), l.free[k][i].list(), l.used[k][i].list()
			sum(s.DeviceTotal, total[minor])
			sum(s.DeviceFree, free[minor])
			sum(s.DeviceUsed, used[minor])
		}
		s.DeviceTotalDetail[name], s.DeviceFreeDetail[name], s.DeviceUsedDetail[name] = total, free, used
	}
	for i := range held {
		s.allocated(&held[i])
	}
	return s
}

func (s *Summary) allocated(held *Held) {
	pod := held.Pod.Namespace + "/" + held.Pod.Name
	for i := range held.Allocation.Items {
		item := &held.Allocation.Items[i]
		name := typeNames[item.kind]
		if s.AllocateSet[name] == nil {
			s.AllocateSet[name] = map[string]ByMinor{}
		}
		if s.AllocateSet[name][pod] == nil {
			s.AllocateSet[name][pod] = ByMinor{}
		}
		s.AllocateSet[name][pod][strconv.Itoa(int(item.Minor))] = item.Amount.list()
	}
}

func sum(to, list corev1.ResourceList) {
	for name, quantity := range list {
		total, known := to[name]
		if !known {
			total = *resource.NewQuantity(0, quantity.Format)
		}
		total.Add(quantity)
		to[name] = total
	}
}
