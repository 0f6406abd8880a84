package reservation

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// PreAllocation says whose room a Reservation may take ahead. It is compiled once per scheduling cycle.
type PreAllocation struct {
	reservation *Reservation
	cluster     bool
	multiple    bool
	config      *PreAllocationConfig
}

const (
	reasonUnrestricted        = "pre-allocation requires allocatePolicy Restricted"
	reasonClusterModeDisabled = "pre-allocation in mode Cluster is not enabled"
)

// NewPreAllocation reads a Reservation with preAllocation set. It must be Restricted, so that it never takes room beyond that of
// the pods it was made for; mode Cluster must be enabled.
func NewPreAllocation(object *schedulingv1alpha1.Reservation, config *PreAllocationConfig) (*PreAllocation, Refusal) {
	compiled, _ := Compile(object) // what cannot be read matches nothing
	plan := &PreAllocation{reservation: compiled, config: config}
	if policy := object.Spec.PreAllocationPolicy; policy != nil {
		plan.cluster, plan.multiple = policy.Mode == schedulingv1alpha1.PreAllocationModeCluster, policy.EnableMultiple
	}
	switch {
	case compiled.Policy != schedulingv1alpha1.ReservationAllocatePolicyRestricted:
		return nil, Refusal{Code: finding.PreAllocationInvalid, Reason: reasonUnrestricted}
	case plan.cluster && !config.EnableClusterMode:
		return nil, Refusal{Code: finding.PreAllocationInvalid, Reason: reasonClusterModeDisabled}
	}
	return plan, Refusal{}
}

// Candidates returns the pods of a node whose room may be taken, best first: by the priority of their annotation, then by how
// well they fill the reservation, then by name.
func (p *PreAllocation) Candidates(pods []*corev1.Pod) []*corev1.Pod {
	var chosen []*corev1.Pod
	for _, pod := range pods {
		if p.allows(pod) {
			chosen = append(chosen, pod)
		}
	}
	slices.SortFunc(chosen, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(p.priority(b), p.priority(a)), cmp.Compare(p.score(b), p.score(a)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return chosen
}

// allows reports whether the room of a pod may be taken: it runs, uses no reservation, and is named by the mode.
func (p *PreAllocation) allows(pod *corev1.Pod) bool {
	if IsReservePod(pod) || pod.DeletionTimestamp != nil || usesAnother(pod, p.reservation.UID) {
		return false
	}
	if p.cluster {
		return pod.Labels[p.config.ClusterLabelKey] == "true"
	}
	return p.reservation.MatchesOwner(pod)
}

func (p *PreAllocation) priority(pod *corev1.Pod) int64 {
	value, err := strconv.ParseInt(pod.Annotations[p.config.ClusterPriorityAnnotationKey], 10, 64)
	if err != nil {
		return 0
	}
	return value
}

func (p *PreAllocation) score(pod *corev1.Pod) int64 {
	return Score(&Demand{Requests: RequestsOf(pod)}, p.reservation, Use{})
}

// Choose returns the pods whose room, with what the node has free, is enough for the reservation: none when the node has
// enough, one, or as many as are needed where several are allowed. A chosen pod must not be larger than what is reserved for it.
// It returns false when no choice is enough.
func (p *PreAllocation) Choose(candidates []*corev1.Pod, room Room, ignore *Ignore) ([]*corev1.Pod, bool) {
	demand := &Demand{Requests: p.reservation.Allocatable}
	open := &Reservation{}
	if Fit(demand, open, Use{}, room, ignore).Passed() {
		return nil, true
	}
	var chosen []*corev1.Pod
	given, taken := room, Amounts{}
	for _, pod := range candidates {
		requests := RequestsOf(pod)
		if !p.holds(taken, requests) {
			continue
		}
		if !p.multiple {
			given, taken = room, Amounts{}
			chosen = chosen[:0]
		}
		given, chosen = given.without(requests), append(chosen, pod)
		for name, value := range requests {
			taken[name] = plus(taken[name], value)
		}
		if Fit(demand, open, Use{}, given, ignore).Passed() {
			return chosen, true
		}
	}
	return nil, false
}

// holds reports whether the reservation has room for one more pod beside those taken.
func (p *PreAllocation) holds(taken, requests Amounts) bool {
	for name, value := range requests {
		if held, reserved := p.reservation.Allocatable[name]; reserved && plus(taken[name], value) > held {
			return false
		}
	}
	return true
}

// without is the room when a pod is gone.
func (r Room) without(requests Amounts) Room {
	left := make(Amounts, len(r.Requested))
	for name, value := range r.Requested {
		left[name] = value - requests[name]
	}
	return Room{Allocatable: r.Allocatable, Requested: left, Held: r.Held}
}

// PreAllocationScore prefers nodes on which fewer pods give their room: 100 for none, 50 for one.
func PreAllocationScore(chosen int) int64 { return 100 / int64(1+chosen) }

// usesAnother reports whether a pod uses a reservation other than the one with the UID.
func usesAnother(pod *corev1.Pod, uid types.UID) bool {
	allocated, err := extension.GetReservationAllocated(pod.Annotations)
	return err != nil || allocated != nil && allocated.UID != uid
}
