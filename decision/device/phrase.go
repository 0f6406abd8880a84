package device

import (
	"fmt"

	"koordinator.sh/koord/api/finding"
)

var refusalPhrases = map[finding.Code]func(*Refusal) string{
	finding.DeviceRequestInvalid: fixed("refuse a device request that makes no sense"),
	finding.DevicesInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("have too few %s left", nouns[kindNamed(r)][1])
	},
	finding.DeviceFunctionsInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("have too few %s with a free virtual function", nouns[kindNamed(r)][1])
	},
	finding.GPUPartitionsInsufficient: fixed("have no free GPU partition"),
	finding.GPUPartitionTableMissing:  fixed("report no GPU partitions"),
	finding.GPUPartitionSizeUnknown:   fixed("have no GPU partition of that size"),
	finding.DeviceScopeInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("have too few %s close together", nouns[kindNamed(r)][1])
	},
	finding.DeviceTopologyMissing:  fixed("report no device topology"),
	finding.DeviceJointViolation:   fixed("have no PCIe switches with all types of devices"),
	finding.GPUTemplateUnmatched:   fixed("have no such shared-resource template"),
	finding.GPUIsolationMissing:    fixed("lack the GPU isolation provider"),
	finding.GPUShareUnsupported:    fixed("do not share their GPUs"),
	finding.DeviceNUMAInsufficient: fixed("have too few devices in the pod's NUMA nodes"),
	finding.DevicePluginBusy:       fixed("are locked by their device plugin for another pod"),
	finding.DevicePluginUnfit:      fixed("have a device plugin that cannot hand out what the pod asks for"),
}

func fixed(text string) func(*Refusal) string { return func(*Refusal) string { return text } }
