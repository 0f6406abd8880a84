package device

import (
	"encoding/json"
	"fmt"
	"strconv"

	"koordinator.sh/koord/api/extension"
)

// Vendors of GPUs whose device plugins read allocations, as LabelGPUVendor of a Device names them.
const (
	vendorHuawei    = "huawei"
	vendorCambricon = "cambricon"
	vendorMetaX     = "metax"
)

// Annotations that the device plugins of vendors read. The misspelling is Cambricon's.
const (
	annotationPredicateTime     = "predicate-time"
	annotationHuaweiNPUCore     = "huawei.com/npu-core"
	annotationHuaweiAscend310P  = "huawei.com/Ascend310P"
	annotationCambriconAssigned = "CAMBRICON_DSMLU_ASSIGHED"
	annotationCambriconProfile  = "CAMBRICON_DSMLU_PROFILE"
	annotationMetaXAllocated    = "metax-tech.com/gpu-devices-allocated"
)

// modelAscend310P is the one model of Huawei whose NPUs go by another resource name, with a prefix.
const modelAscend310P, prefixAscend310P = "Ascend-310P3-300I-DUO", "Ascend310P-"

// Smallest amounts of memory, in bytes, that the device plugins deal in.
const (
	cambriconMemoryUnit = 256 << 20
	metaXMemoryUnit     = 1 << 20
)

// AdaptedAnnotations are all annotations by which a device plugin may be told what a pod holds.
func AdaptedAnnotations() []string {
	return []string{
		extension.AnnotationBindTimestamp, annotationPredicateTime, annotationHuaweiNPUCore, annotationHuaweiAscend310P,
		annotationCambriconAssigned, annotationCambriconProfile, annotationMetaXAllocated,
	}
}

// Adaption is what is written on a pod for the device plugins of vendors, beside its allocation.
type Adaption struct {
	Annotations map[string]string
	// Stamps are the annotations whose value is the time of the binding, in nanoseconds since 1970.
	Stamps []string
	Labels map[string]string
	// LockKey is the annotation of the node that the device plugin expects while it is to hand devices to the pod, and
	// removes when it has; empty for plugins that tell pods apart by themselves.
	LockKey string
}

// Adapt says an allocation on the node of the ledger in the terms of the vendor's device plugin. Isolation is the provider
// that the pod names for shares of a GPU, empty for none. An error is about an allocation that the plugin has no terms for.
func Adapt(allocation *Allocation, ledger *Ledger, isolation string) (Adaption, error) {
	adaption := Adaption{Annotations: map[string]string{}, Stamps: []string{extension.AnnotationBindTimestamp}, Labels: map[string]string{}}
	gpus := allocation.of(gpu)
	if len(gpus) == 0 {
		return adaption, nil
	}
	if isolation == extension.GPUIsolationProviderHAMICore {
		adaption.Labels[extension.LabelHAMIVGPUNode] = ledger.node.name
	}
	adapter, known := adapters[ledger.labels.vendor]
	if !known {
		return adaption, nil
	}
	for i := range gpus {
		if err := adapter.check(len(gpus), gpus[i].Amount); err != nil {
			return Adaption{}, fmt.Errorf(unfit+"%w", err)
		}
	}
	if err := adapter.write(&adaption, gpus, ledger.labels.model); err != nil {
		return Adaption{}, fmt.Errorf(unfit+"%w", err)
	}
	adaption.LockKey = adapter.lockKey
	return adaption, nil
}

// of returns the items of a type.
func (a *Allocation) of(k kind) []Item {
	var items []Item
	for i := range a.Items {
		if a.Items[i].kind == k {
			items = append(items, a.Items[i])
		}
	}
	return items
}

// adapter knows the device plugin of one vendor.
type adapter struct {
	lockKey string
	// memoryUnit in bytes; 0 for a plugin that hands out whole devices and templates only.
	memoryUnit int64
	// single plugins hand out one device to a pod.
	single bool
	write  func(to *Adaption, gpus []Item, model string) error
}

var adapters = map[string]adapter{
	vendorHuawei:    {write: writeHuawei},
	vendorCambricon: {lockKey: "cambricon.com/dsmlu.lock", memoryUnit: cambriconMemoryUnit, single: true, write: writeCambricon},
	vendorMetaX:     {lockKey: "hami.io/mutex.lock", memoryUnit: metaXMemoryUnit, write: writeMetaX},
}

// check returns an error, in upstream's words, for what the plugin cannot hand out.
func (a *adapter) check(count int, each Amount) error {
	switch {
	case a.single && count > 1:
		return errManyDevices
	case a.memoryUnit == 0:
	case each[core] == 0:
		return errNoCore
	case each[memory] < a.memoryUnit:
		return fmt.Errorf("gpu memory must not be less than %d bytes", a.memoryUnit)
	}
	return nil
}

func writeHuawei(to *Adaption, gpus []Item, model string) error {
	to.Stamps = append(to.Stamps, annotationPredicateTime)
	held := Allocation{Items: gpus}
	switch {
	case model == modelAscend310P:
		to.Annotations[annotationHuaweiAscend310P] = held.minors(gpu, prefixAscend310P)
	case gpus[0].Template != "":
		to.Annotations[annotationHuaweiNPUCore] = fmt.Sprintf("%d-%s", gpus[0].Minor, gpus[0].Template)
	default:
		to.Annotations[annotationHuaweiNPUCore] = held.GPUMinors()
	}
	return nil
}

func writeCambricon(to *Adaption, gpus []Item, _ string) error {
	one := gpus[0]
	to.Annotations[annotationCambriconAssigned] = strconv.FormatBool(false)
	to.Annotations[annotationCambriconProfile] = fmt.Sprintf("%d_%d_%d", one.Minor, one.Amount[core], one.Amount[memory]/cambriconMemoryUnit)
	return nil
}

// metaXDevice is one device in the annotation of MetaX.
type metaXDevice struct {
	UUID string `json:"uuid"`
	// Compute in percent, VRam in MiB.
	Compute int64 `json:"compute"`
	VRam    int64 `json:"vRam"`
}

func writeMetaX(to *Adaption, gpus []Item, _ string) error {
	devices := make([]metaXDevice, len(gpus))
	for i, one := range gpus {
		devices[i] = metaXDevice{UUID: one.ID, Compute: one.Amount[core], VRam: one.Amount[memory] / metaXMemoryUnit}
	}
	text, err := json.Marshal([][]metaXDevice{devices}) // a list by container, of which the pod counts as one
	if err != nil {
		return fmt.Errorf("encode annotation %q: %w", annotationMetaXAllocated, err)
	}
	to.Annotations[annotationMetaXAllocated] = string(text)
	return nil
}
