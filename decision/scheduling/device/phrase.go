package device

import (
	"fmt"

	"koordinator.sh/koord/api/finding"
)

var refusalPhrases = map[finding.Code]func(*Refusal) string{
	finding.DeviceRequestInvalid: fixed("invalid device request"),
	finding.DevicesInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("had insufficient %s", nouns[kindNamed(r)][1])
	},
	finding.DeviceFunctionsInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("had insufficient %s with a free virtual function", nouns[kindNamed(r)][1])
	},
	finding.GPUPartitionsInsufficient: fixed("had no free GPU partition"),
	finding.GPUPartitionTableMissing:  fixed("reported no GPU partitions"),
	finding.GPUPartitionSizeUnknown:   fixed("had no GPU partition of that size"),
	finding.DeviceScopeInsufficient: func(r *Refusal) string {
		return fmt.Sprintf("had insufficient %s within the topology scope", nouns[kindNamed(r)][1])
	},
	finding.DeviceTopologyMissing:  fixed("reported no device topology"),
	finding.DeviceJointViolation:   fixed("had no PCIe switch with all requested devices"),
	finding.GPUTemplateUnmatched:   fixed("had no matching shared-resource template"),
	finding.GPUIsolationMissing:    fixed("didn't have the GPU isolation provider"),
	finding.GPUShareUnsupported:    fixed("didn't support GPU sharing"),
	finding.DeviceNUMAInsufficient: fixed("had insufficient devices on the pod's NUMA nodes"),
	finding.DevicePluginBusy:       fixed("were locked by their device plugin for another pod"),
	finding.DevicePluginUnfit:      fixed("had a device plugin that cannot serve the request"),
}

func fixed(text string) func(*Refusal) string { return func(*Refusal) string { return text } }
