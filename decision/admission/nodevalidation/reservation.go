package nodevalidation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// words are the values that labels can have. An empty value counts as unset.
var words = map[string][]string{
	extension.LabelNodeCPUBindPolicy:        {string(extension.NodeCPUBindPolicyNone), string(extension.NodeCPUBindPolicyFullPCPUsOnly), string(extension.NodeCPUBindPolicySpreadByPCPUs)},
	extension.LabelNodeNUMAAllocateStrategy: {string(extension.NUMAMostAllocated), string(extension.NUMALeastAllocated), string(extension.NUMADistributeEvenly)},
	extension.LabelNodeNUMATopologyPolicy:   {"None", string(extension.NUMATopologyPolicyBestEffort), string(extension.NUMATopologyPolicyRestricted), string(extension.NUMATopologyPolicySingleNUMANode)},
	extension.LabelGPUPartitionPolicy:       {string(extension.GPUPartitionPolicyHonor), string(extension.GPUPartitionPolicyPrefer)},
}

func (v *validation) labelWords() {
	for _, key := range slices.Sorted(maps.Keys(words)) {
		if value := v.node.Labels[key]; value != "" && !slices.Contains(words[key], value) {
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("must be one of %s, is %q", strings.Join(words[key], ", "), value), key)
		}
	}
	if _, err := extension.IsCPUNormalizationEnabled(v.node.Labels); err != nil {
		v.add(finding.ConfigMalformed, strings.TrimPrefix(err.Error(), fmt.Sprintf("label %q: ", extension.LabelCPUNormalizationEnabled)), extension.LabelCPUNormalizationEnabled)
	}
}

// colocation is what keeps the node's own strategy and ratios from taking effect.
func (v *validation) colocation() {
	for _, problem := range configmerge.Default().Colocation(v.node).Problems {
		if problem.Node == "" || problem.Code == finding.ConfigOverlap {
			continue
		}
		message := problem.Message
		if problem.Path != "" {
			message = problem.Path + " " + message
		}
		v.add(problem.Code, message, problem.Key)
	}
}

// reservation must be of the node, and say of what it is taken.
func (v *validation) reservation() {
	const key = extension.AnnotationNodeReservation
	reservation, err := extension.GetNodeReservation(v.node.Annotations)
	if v.malformed(key, err) || reservation == nil {
		return
	}
	switch policy := reservation.ApplyPolicy; {
	case policy == extension.NodeReservationApplyPolicyReservedCPUsOnly && reservation.ReservedCPUs == "":
		v.add(finding.ConfigConflict, "applyPolicy is ReservedCPUsOnly, but reservedCPUs is empty", key)
	case policy != "" && policy != extension.NodeReservationApplyPolicyDefault && policy != extension.NodeReservationApplyPolicyReservedCPUsOnly:
		v.add(finding.ConfigOutOfRange, fmt.Sprintf("applyPolicy must be one of Default, ReservedCPUsOnly, is %q", policy), key)
	}
	v.amounts(key, reservation.Resources)
	for _, name := range slices.Sorted(maps.Keys(reservation.Resources)) {
		if quantity, capacity := reservation.Resources[name], v.node.Status.Capacity[name]; exceeds(quantity, capacity) {
			v.add(finding.ConfigConflict, fmt.Sprintf("%s of %s is reserved, more than the node's capacity of %s", quantity.String(), name, capacity.String()), key)
		}
	}
	cpus, _ := extension.ParseCPUList(reservation.ReservedCPUs)
	if capacity := v.node.Status.Capacity.Cpu().Value(); capacity > 0 && int64(len(cpus)) > capacity {
		v.add(finding.ConfigConflict, fmt.Sprintf("reservedCPUs lists %d CPUs, but the node has only %d", len(cpus), capacity), key)
	}
}

// system checks that CPUs exclusive to SYSTEM pods are not reserved by the node as well.
func (v *validation) system() {
	const key = extension.AnnotationSystemQOSResource
	system, err := extension.GetSystemQOSResource(v.node.Annotations)
	if v.malformed(key, err) || system == nil {
		return
	}
	reservation, err := extension.GetNodeReservation(v.node.Annotations)
	if err != nil || reservation == nil || !system.IsCPUSetExclusive() {
		return
	}
	own, _ := extension.ParseCPUList(system.CPUSet)
	reserved, _ := extension.ParseCPUList(reservation.ReservedCPUs)
	var both []string
	for _, cpu := range own {
		if slices.Contains(reserved, cpu) {
			both = append(both, fmt.Sprint(cpu))
		}
	}
	if len(both) > 0 {
		v.add(finding.ConfigConflict, "CPUs "+strings.Join(both, ",")+" are both reserved and exclusive to SYSTEM pods", key, extension.AnnotationNodeReservation)
	}
}
