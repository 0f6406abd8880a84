package device

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Refusal says why a node, or every node, cannot serve a request.
type Refusal struct {
	Code finding.Code
	// Reason is the text of the scheduler's status, upstream's.
	Reason string
	// Type of the devices that are missing, empty where it is not about one.
	Type schedulingv1alpha1.DeviceType
	// Resolvable is true when it would help if other pods gave devices back.
	Resolvable bool
}

// refusals makes all refusals that do not depend on amounts once, so that a filter over many nodes does not allocate.
var refusals = newRefusalTable()

type refusalTable struct {
	missing, insufficient, missingFunctions, functions, scope [kinds]Refusal

	noTable, noSize, partition, noTree, joint, numaZones, noIsolation, noTemplate, locked Refusal
}

func newRefusalTable() *refusalTable {
	table := &refusalTable{
		noTable:     Refusal{Code: finding.GPUPartitionTableMissing, Reason: "node(s) missing GPU Partition Table", Type: schedulingv1alpha1.GPU},
		noSize:      Refusal{Code: finding.GPUPartitionSizeUnknown, Reason: "node(s) Unsupported number of GPU requests", Type: schedulingv1alpha1.GPU},
		partition:   Refusal{Code: finding.GPUPartitionsInsufficient, Reason: "Insufficient Partitioned GPU Devices", Type: schedulingv1alpha1.GPU, Resolvable: true},
		noTree:      Refusal{Code: finding.DeviceTopologyMissing, Reason: "node(s) missing GPU Device Topology Tree"},
		joint:       Refusal{Code: finding.DeviceJointViolation, Reason: "node(s) Device Joint-Allocate rules violation", Resolvable: true},
		numaZones:   Refusal{Code: finding.DeviceNUMAInsufficient, Reason: "Insufficient NUMA Scoped Devices"},
		noIsolation: Refusal{Code: finding.GPUIsolationMissing, Reason: "GPUIsolationProviderHAMICore not found on the node", Type: schedulingv1alpha1.GPU},
		noTemplate:  Refusal{Code: finding.GPUTemplateUnmatched, Reason: "no matched GPU shared resource template", Type: schedulingv1alpha1.GPU},
		locked:      Refusal{Code: finding.DevicePluginBusy, Reason: "node(s) locked by the device plugin for another pod", Type: schedulingv1alpha1.GPU},
	}
	for k, name := range typeNames {
		missing := fmt.Sprintf("Insufficient %s devices", name)
		functions := fmt.Sprintf("Insufficient %s VirtualFunctions", name)
		scope := fmt.Sprintf("Insufficient Topology Scoped %s Devices", strings.ToUpper(string(name)))
		table.missing[k] = Refusal{Code: finding.DevicesInsufficient, Reason: missing, Type: name}
		table.insufficient[k] = Refusal{Code: finding.DevicesInsufficient, Reason: missing, Type: name, Resolvable: true}
		table.missingFunctions[k] = Refusal{Code: finding.DeviceFunctionsInsufficient, Reason: functions, Type: name}
		table.functions[k] = Refusal{Code: finding.DeviceFunctionsInsufficient, Reason: functions, Type: name, Resolvable: true}
		table.scope[k] = Refusal{Code: finding.DeviceScopeInsufficient, Reason: scope, Type: name, Resolvable: true}
	}
	return table
}

// all lists every refusal of the table.
func (t *refusalTable) all(yield func(*Refusal) bool) {
	for _, refusal := range []*Refusal{&t.noTable, &t.noSize, &t.partition, &t.noTree, &t.joint, &t.numaZones, &t.noIsolation, &t.noTemplate, &t.locked} {
		if !yield(refusal) {
			return
		}
	}
	for _, list := range []*[kinds]Refusal{&t.missing, &t.insufficient, &t.missingFunctions, &t.functions, &t.scope} {
		for k := range list {
			if !yield(&list[k]) {
				return
			}
		}
	}
}

// unshared ends the refusal of a model that is not shared.
const unshared = " does not support GPU Share"

// unsharable is the refusal of a model that is not shared.
func unsharable(facts *labelFacts) *Refusal {
	return &Refusal{
		Code: finding.GPUShareUnsupported, Type: schedulingv1alpha1.GPU,
		Reason: fmt.Sprintf("model %q of vendor %q", facts.model, facts.vendor) + unshared,
	}
}

// annotations that requests are read from.
var annotations = []string{extension.AnnotationDeviceAllocateHint, extension.AnnotationDeviceJointAllocate, extension.AnnotationGPUPartitionSpec}

// CodeOf returns the code of a reason, empty for a text that is none of a Refusal.
func CodeOf(reason string) finding.Code {
	for refusal := range refusals.all {
		if refusal.Reason == reason {
			return refusal.Code
		}
	}
	if strings.HasSuffix(reason, unshared) {
		return finding.GPUShareUnsupported
	}
	if strings.HasPrefix(reason, unfit) {
		return finding.DevicePluginUnfit
	}
	if strings.HasPrefix(reason, senseless) || slices.ContainsFunc(annotations, func(key string) bool { return extension.NamesAnnotation(reason, key) }) {
		return finding.DeviceRequestInvalid
	}
	return ""
}

// invalid is the refusal of a request that makes no sense on any node; nil without an error.
func invalid(err error) *Refusal {
	if err == nil {
		return nil
	}
	return &Refusal{Code: finding.DeviceRequestInvalid, Reason: err.Error()}
}
