package numa

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/reservation"
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
// nothing: it could not be said what.
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

// Justified is Held without more CPUs than the pod requests, and without more of a resource of the zones; a fraction of a CPU
// counts as one. A user who may create pods could otherwise claim a node by writing the annotation. Of too many, the pod holds
// those with the lowest numbers: a pod that was resized down while it runs still uses some of them, and it is not known which. It
// does not depend on what the pod wishes, which can be edited while the pod keeps its CPUs. The pod of a Reservation requests
// only what its users leave of it; what it says is the scheduler's own.
func Justified(pod *corev1.Pod) (Allocation, bool) {
	held, found := Held(pod)
	if !found || reservation.IsReservePod(pod) {
		return held, found
	}
	wholeCPUs := (podrequest.Of(pod).Requests.Plain.MilliCPU + 999) / 1000
	if cpus := held.CPUs.List(); int64(len(cpus)) > wholeCPUs {
		held.CPUs = cpuset.Of(cpus[:wholeCPUs]...)
	}
	held.limitShares(requestsOf(pod))
	return held, !held.IsEmpty()
}

// limitShares lowers what zones give to what is requested of them together. Whole CPUs are rounded up to.
func (a *Allocation) limitShares(requested Amounts) {
	rest := make(Amounts, len(requested))
	for name, amount := range requested {
		rest[name] = amount
	}
	if cpu := rest[corev1.ResourceCPU]; cpu > 0 {
		rest[corev1.ResourceCPU] = cpu + (1000-cpu%1000)%1000
	}
	for i := range a.Shares {
		for name, amount := range a.Shares[i].Amounts {
			given := max(min(amount, rest[name]), 0)
			a.Shares[i].Amounts[name] = given
			rest[name] -= given
		}
	}
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
