package numa

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/cpuset"
	"koordinator.sh/koord/decision/podrequest"
)

// Allocation is what one pod holds of a node's CPUs and zones.
type Allocation struct {
	// CPUs that the pod owns; empty when it is not bound.
	CPUs cpuset.CPUSet
	// Policy by which they were chosen.
	Policy extension.CPUBindPolicy
	// Exclusive is what the pod would not like to share.
	Exclusive extension.CPUExclusivePolicy
	// Shares of the zones by id, before amplification; none when the pod is not aligned.
	Shares []Share
	// Reservation is the UID of the reservation, and of the pod that holds it, whose share this is; empty when the pod uses
	// none.
	Reservation types.UID
}

// Share is what comes from one zone.
type Share struct {
	Zone    int
	Amounts Amounts
}

// IsEmpty is true for a pod that holds neither CPUs nor shares.
func (a Allocation) IsEmpty() bool { return a.CPUs.IsEmpty() && len(a.Shares) == 0 }

// Held reads what a pod holds from its annotations; false when it holds nothing. An annotation that cannot be read holds
// nothing: nobody could say what.
func Held(pod *corev1.Pod) (Allocation, bool) {
	if pod.Annotations[extension.AnnotationResourceStatus] == "" || !podrequest.Consumes(pod) {
		return Allocation{}, false
	}
	status, err := extension.GetResourceStatus(pod.Annotations)
	if err != nil || status == nil {
		return Allocation{}, false
	}
	var held Allocation
	if held.CPUs, err = cpuset.Parse(status.CPUSet); err != nil {
		return Allocation{}, false
	}
	for _, share := range status.NUMANodeResources {
		held.Shares = append(held.Shares, Share{Zone: int(share.Node), Amounts: amountsOf(share.Resources)})
	}
	slices.SortFunc(held.Shares, func(a, b Share) int { return cmp.Compare(a.Zone, b.Zone) })
	if spec, err := extension.GetResourceSpec(pod.Annotations); err == nil && spec != nil && !held.CPUs.IsEmpty() {
		held.Exclusive = spec.PreferredCPUExclusivePolicy
	}
	if used, err := extension.GetReservationAllocated(pod.Annotations); err == nil && used != nil {
		held.Reservation = used.UID
	}
	return held, !held.IsEmpty()
}

// Justified is Held, except for an allocation of more CPUs than the pod requests, which holds nothing. No scheduler gives
// that; whoever may create pods could otherwise claim a node by writing the annotation.
func Justified(pod *corev1.Pod) (Allocation, bool) {
	held, found := Held(pod)
	if !found || int64(held.CPUs.Len())*1000 >= podrequest.Of(pod).Requests.Plain.MilliCPU+1000 {
		return Allocation{}, false
	}
	return held, true
}

// Status is the allocation as it stands in the annotation scheduling.koordinator.sh/resource-status.
func (a Allocation) Status() *extension.ResourceStatus {
	status := &extension.ResourceStatus{CPUSet: a.CPUs.String()}
	for _, share := range a.Shares {
		status.NUMANodeResources = append(status.NUMANodeResources, extension.NUMANodeResource{Node: int32(share.Zone), Resources: share.Amounts.list()})
	}
	return status
}

// mask of the zones that the pod is aligned on.
func (a Allocation) mask() Mask {
	var mask Mask
	for _, share := range a.Shares {
		mask |= MaskOf(share.Zone)
	}
	return mask
}
