package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/descheduling/drain"
)

// DrainSnapshot is what was read of the cluster to say what draining nodes does. None of it is changed.
type DrainSnapshot struct {
	// Drained are the names of the nodes to drain.
	Drained []string
	// Nodes of the cluster, and all pods that are bound, also those that ended.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Metrics of the nodes.
	Metrics []slov1alpha1.NodeMetric
	// Budgets, Quotas, Groups and Reservations of the cluster.
	Budgets      []policyv1.PodDisruptionBudget
	Quotas       []schedulingsigsv1alpha1.ElasticQuota
	Groups       []schedulingsigsv1alpha1.PodGroup
	Reservations []schedulingv1alpha1.Reservation
	// NoBudgets is true where the PodDisruptionBudgets could not be read.
	NoBudgets bool
	// Unknown are the inputs that could not be read, and Missing says why and what follows.
	Unknown unknown.Inputs
	Missing []string
	// Now is the moment of the answer.
	Now time.Time
}

// Drain is a forecast that still lacks the nodes which the pods get.
type Drain struct {
	in       *DrainSnapshot
	selected []drain.Selected
	first    drain.Verdict
	// asked are the indices of the pods in the order of the question.
	asked []int
	// places of the replacements, by the index of the pod.
	places map[int]diagnosticsv1alpha1.PodPlacement
	answer *diagnosticsv1alpha1.DrainForecast
}

// NewDrain selects the pods that leave.
func NewDrain(in *DrainSnapshot) *Drain {
	d := &Drain{in: in, places: map[int]diagnosticsv1alpha1.PodPlacement{}}
	for i := range in.Pods {
		if slices.Contains(in.Drained, in.Pods[i].Spec.NodeName) {
			d.selected = append(d.selected, drain.Select(&in.Pods[i]))
		}
	}
	slices.SortStableFunc(d.selected, func(a, b drain.Selected) int {
		return cmp.Or(strings.Compare(a.Pod.Spec.NodeName, b.Pod.Spec.NodeName), strings.Compare(a.Pod.Namespace, b.Pod.Namespace), strings.Compare(a.Pod.Name, b.Pod.Name))
	})
	d.first = drain.Decide(drain.Input{Pods: d.selected, Budgets: in.Budgets})
	for i, selected := range d.selected {
		if selected.Evict && drain.Returns(selected.Pod) {
			d.asked = append(d.asked, i)
		}
	}
	slices.SortStableFunc(d.asked, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.turn(a), d.turn(b)), cmp.Compare(priorityOf(d.selected[b].Pod), priorityOf(d.selected[a].Pod)))
	})
	return d
}

// turn orders pods by the round of their eviction, with those that are blocked last.
func (d *Drain) turn(i int) int {
	if round := d.first.Evictions[i].Round; round > 0 {
		return round
	}
	return d.first.Rounds + 1
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// Question asks the scheduler where the pods go that come back, in the order in which they leave; nil when there are none. A review takes
// a limited number of pods: Answer names how many were not asked about.
func (d *Drain) Question() *diagnosticsv1alpha1.PlacementReviewSpec {
	if len(d.asked) == 0 {
		return nil
	}
	spec := &diagnosticsv1alpha1.PlacementReviewSpec{ExcludedNodes: d.in.Drained}
	for _, i := range d.asked[:min(len(d.asked), diagnosticsv1alpha1.MaxPlacementReviewPods)] {
		pod := d.selected[i].Pod
		spec.Pods = append(spec.Pods, diagnosticsv1alpha1.PlacementReviewPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID})
	}
	return spec
}

// Answer puts the forecast together. Without an answer of the scheduler, what depends on it is unknown.
func (d *Drain) Answer(review *diagnosticsv1alpha1.PlacementReviewStatus) *diagnosticsv1alpha1.DrainForecast {
	d.answer = &diagnosticsv1alpha1.DrainForecast{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "DrainForecast"},
		Nodes:    []diagnosticsv1alpha1.DrainedNode{}, Pods: []diagnosticsv1alpha1.DrainedPod{}, Incomplete: slices.Clone(d.in.Missing),
	}
	if review != nil {
		d.place(review)
	}
	unplaced := map[int]bool{}
	for i, placement := range d.places {
		unplaced[i] = placement.Verdict == diagnosticsv1alpha1.PlacementNone
	}
	verdict := drain.Decide(drain.Input{Pods: d.selected, Budgets: d.in.Budgets, Unplaced: unplaced})
	d.answer.Rounds = int32(verdict.Rounds)
	for i := range d.selected {
		d.answer.Pods = append(d.answer.Pods, d.pod(i, &verdict.Evictions[i]))
	}
	d.nodes()
	d.budgets(verdict.Budgets)
	d.targets()
	d.capacity()
	d.gangs()
	d.quotas()
	d.reservations()
	slices.SortStableFunc(d.answer.Pods, func(a, b diagnosticsv1alpha1.DrainedPod) int { return cmp.Compare(drainRank(&a), drainRank(&b)) })
	d.conclude()
	return d.answer
}

// place takes over what the scheduler says of the pods.
func (d *Drain) place(review *diagnosticsv1alpha1.PlacementReviewStatus) {
	d.answer.Incomplete = append(d.answer.Incomplete, review.Incomplete...)
	at := map[types.NamespacedName]int{}
	for _, i := range d.asked {
		at[types.NamespacedName{Namespace: d.selected[i].Pod.Namespace, Name: d.selected[i].Pod.Name}] = i
	}
	for _, placement := range review.Placements {
		if i, asked := at[types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}]; asked {
			d.places[i] = placement
		}
	}
	if rest := len(d.asked) - diagnosticsv1alpha1.MaxPlacementReviewPods; rest > 0 {
		d.answer.Incomplete = append(d.answer.Incomplete, fmt.Sprintf("where %s of the last rounds go is unknown: a placement review takes %d pods",
			phrase.Counted(rest, "pod"), diagnosticsv1alpha1.MaxPlacementReviewPods))
	}
}

func (d *Drain) pod(i int, eviction *drain.Eviction) diagnosticsv1alpha1.DrainedPod {
	selected := &d.selected[i]
	pod := selected.Pod
	out := diagnosticsv1alpha1.DrainedPod{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName, Priority: priorityOf(pod), Requests: forecastAmounts(requestsOf(pod)),
		Action: diagnosticsv1alpha1.DrainSkip, Reason: selected.Reason, Round: int32(eviction.Round), Blocked: eviction.Blocked,
	}
	for _, flag := range selected.Flags {
		out.Flags = append(out.Flags, string(flag))
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		out.Owner = owner.Kind + "/" + owner.Name
	}
	if eviction.Budget != nil {
		out.Budget = eviction.Budget.Name
	}
	if !selected.Evict {
		return out
	}
	out.Action, out.Place = diagnosticsv1alpha1.DrainEvict, diagnosticsv1alpha1.DrainPlaceUnknown
	placement, known := d.places[i]
	switch {
	case podstate.Ended(pod) || pod.DeletionTimestamp != nil:
		out.Place = diagnosticsv1alpha1.DrainPlaceDone
	case !drain.Returns(pod):
		out.Place = diagnosticsv1alpha1.DrainPlaceLost
	case !known:
		out.Summary = "where it goes is unknown"
	case placement.Verdict == diagnosticsv1alpha1.PlacementGone:
		out.Place, out.Summary = diagnosticsv1alpha1.DrainPlaceDone, "it left while the question was asked"
	default:
		out.Summary, out.Groups, out.To = placement.Summary, placement.Groups, placement.Node
		out.Place = map[diagnosticsv1alpha1.PlacementVerdict]diagnosticsv1alpha1.DrainPlace{
			diagnosticsv1alpha1.PlacementFound: diagnosticsv1alpha1.DrainPlaceFound, diagnosticsv1alpha1.PlacementNone: diagnosticsv1alpha1.DrainPlaceNone,
		}[placement.Verdict]
		if out.Place == "" {
			out.Place = diagnosticsv1alpha1.DrainPlaceUnknown
		}
	}
	return out
}

// drainRank orders pods: those without a place, those that are blocked, the others by round, and those that stay.
func drainRank(pod *diagnosticsv1alpha1.DrainedPod) int32 {
	const blocked, evicted, stay = 1, 2, 1 << 30
	switch {
	case pod.Action == diagnosticsv1alpha1.DrainSkip:
		return stay
	case pod.Place == diagnosticsv1alpha1.DrainPlaceNone:
		return 0
	case pod.Blocked != "":
		return blocked
	}
	return evicted + pod.Round
}
