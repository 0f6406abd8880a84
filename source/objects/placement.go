package objects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/podstate"
)

// PlacementSnapshot is what was read of the cluster to say where pods that have no node get one. None of it is changed.
type PlacementSnapshot struct {
	// Nodes of the cluster, and all pods that have not ended.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Offers of nodes that change, and NewNodes that join.
	Offers   []diagnosticsv1alpha1.PlacementReviewOffer
	NewNodes []diagnosticsv1alpha1.PlacementReviewNodes
	// Waiting is true where the pods that wait are placed.
	Waiting bool
	// Copied is the pod that is copied, Copies times; nil for none.
	Copied *corev1.Pod
	Copies int32
	// AsMany is true where the question is how many copies fit, and Copies bounds the answer.
	AsMany bool
	// Workload of the copied pod, if it is asked about.
	Workload *diagnosticsv1alpha1.ForecastWorkload
	// Missing says what could not be read, and what follows.
	Missing []string
}

// LikeNewOnes picks the pod of a workload that new ones are most like: the youngest that is not being deleted; nil when there is none.
func LikeNewOnes(pods []corev1.Pod) *corev1.Pod {
	var youngest *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || podstate.Ended(pod) {
			continue
		}
		if youngest == nil || cmp.Or(pod.CreationTimestamp.Compare(youngest.CreationTimestamp.Time), strings.Compare(youngest.Name, pod.Name)) > 0 {
			youngest = pod
		}
	}
	return youngest
}

// PlacementQuestion asks the scheduler where the pods go.
func PlacementQuestion(in *PlacementSnapshot) *diagnosticsv1alpha1.PlacementReviewSpec {
	spec := &diagnosticsv1alpha1.PlacementReviewSpec{Offers: in.Offers, NewNodes: in.NewNodes, Waiting: in.Waiting}
	if in.Copied != nil {
		spec.Copies = []diagnosticsv1alpha1.PlacementReviewCopies{{Namespace: in.Copied.Namespace, Like: in.Copied.Name, UID: in.Copied.UID, Count: in.Copies}}
	}
	return spec
}

// placementForecast is a forecast in the making.
type placementForecast struct {
	in     *PlacementSnapshot
	review *diagnosticsv1alpha1.PlacementReviewStatus
	answer *diagnosticsv1alpha1.PlacementForecast
	// requests of the pods that get a node.
	requests map[corev1.ResourceName]int64
	// on counts the pods that each node gets.
	on map[string]int32
	// compared is true where it is known what waiting pods get without the new nodes and offers.
	compared bool
}

// ForecastPlacement puts the forecast together from the scheduler's answer, and the one without the new nodes and offers where there are any; nil for
// one that could not be had.
func ForecastPlacement(in *PlacementSnapshot, review, without *diagnosticsv1alpha1.PlacementReviewStatus) *diagnosticsv1alpha1.PlacementForecast {
	f := &placementForecast{in: in, review: review, requests: map[corev1.ResourceName]int64{}, on: map[string]int32{}, answer: &diagnosticsv1alpha1.PlacementForecast{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "PlacementForecast"},
		Workload: in.Workload, Incomplete: slices.Clone(in.Missing),
	}}
	if review == nil {
		f.answer.Verdict, f.answer.Message = diagnosticsv1alpha1.PlacementUnknown, "koord-scheduler could not be asked"
		return f.answer
	}
	f.answer.Incomplete = append(f.answer.Incomplete, review.Incomplete...)
	if f.answer.Offers = review.Offers; int(review.Offers) != len(in.Offers) {
		f.answer.Verdict = diagnosticsv1alpha1.PlacementUnknown
		f.answer.Message = "koord-scheduler or koord-manager is too old to place pods where nodes offer something else"
		f.answer.Incomplete = append(f.answer.Incomplete, f.answer.Message)
		return f.answer
	}
	f.waiting(without)
	f.copies()
	f.newNodes()
	f.capacity()
	f.conclude()
	return f.answer
}

// waiting takes over the pods that wait, with the nodes that they would get without the new ones and the offers.
func (f *placementForecast) waiting(without *diagnosticsv1alpha1.PlacementReviewStatus) {
	elsewhere := map[string]string{}
	if f.compared = without != nil; f.compared {
		for i := range without.Placements {
			elsewhere[without.Placements[i].Namespace+"/"+without.Placements[i].Name] = without.Placements[i].Node
		}
	}
	pods := map[string]*corev1.Pod{}
	for i := range f.in.Pods {
		pods[f.in.Pods[i].Namespace+"/"+f.in.Pods[i].Name] = &f.in.Pods[i]
	}
	for _, placement := range f.review.Placements {
		key := placement.Namespace + "/" + placement.Name
		f.answer.Waiting = append(f.answer.Waiting, diagnosticsv1alpha1.WaitingPlacement{PodPlacement: placement, NodeWithout: elsewhere[key]})
		if placement.Node == "" {
			continue
		}
		f.on[placement.Node]++
		if pod := pods[key]; pod != nil {
			add(f.requests, requestsOf(pod))
		}
	}
	slices.SortStableFunc(f.answer.Waiting, func(a, b diagnosticsv1alpha1.WaitingPlacement) int {
		return cmp.Compare(waitingRank(&a), waitingRank(&b))
	})
}

// waitingRank orders pods: those that get no node, those that are not tried, and the others.
func waitingRank(placement *diagnosticsv1alpha1.WaitingPlacement) int {
	switch placement.Verdict {
	case diagnosticsv1alpha1.PlacementFound:
		return 2
	case diagnosticsv1alpha1.PlacementGated:
		return 1
	}
	return 0
}

// copies takes over the copies of the pod.
func (f *placementForecast) copies() {
	if f.in.Copied == nil || len(f.review.Copies) == 0 {
		return
	}
	f.answer.Copies = &f.review.Copies[0]
	f.answer.Copies.Placed = max(f.answer.Copies.Placed, 0)
	for _, node := range f.answer.Copies.Nodes {
		f.on[node.Name] += node.Copies
	}
	for name, value := range requestsOf(f.in.Copied) {
		f.requests[name] += value * int64(f.answer.Copies.Placed)
	}
}

func (f *placementForecast) newNodes() {
	names := f.review.NewNodes
	for _, of := range f.in.NewNodes {
		for range min(int(of.Count), len(names)) {
			f.answer.NewNodes = append(f.answer.NewNodes, diagnosticsv1alpha1.AddedNode{Name: names[0], Like: of.Like, Pods: f.on[names[0]]})
			names = names[1:]
		}
	}
}

// capacity adds up the nodes and the requests of the pods on them.
func (f *placementForecast) capacity() {
	names := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true}
	for name, value := range f.requests {
		if value != 0 {
			names[name] = true
		}
	}
	changes := f.changes()
	for _, change := range changes {
		for name, value := range change {
			if value != 0 {
				names[name] = true
			}
		}
	}
	offers, added, before := map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}
	for i := range f.in.Nodes {
		node := &f.in.Nodes[i]
		for name := range names {
			offers[name] += offered(node, name)
			added[name] += changes[node.Name][name]
			for _, of := range f.in.NewNodes {
				if of.Like == node.Name {
					added[name] += (offered(node, name) + changes[node.Name][name]) * int64(of.Count)
				}
			}
		}
	}
	for i := range f.in.Pods {
		if pod := &f.in.Pods[i]; pod.Spec.NodeName != "" && !podstate.Ended(pod) {
			add(before, requestsOf(pod))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f.answer.Capacity = append(f.answer.Capacity, diagnosticsv1alpha1.ForecastCapacity{
			Resource: string(name), Unit: amount.UnitOf(name), Allocatable: offers[name], Added: added[name],
			RequestedBefore: before[name], RequestedAfter: before[name] + f.requests[name],
		})
	}
}

// changes are by how much more than now nodes offer, by their names.
func (f *placementForecast) changes() map[string]map[corev1.ResourceName]int64 {
	allocatable := make(map[string]corev1.ResourceList, len(f.in.Offers))
	for _, offer := range f.in.Offers {
		allocatable[offer.Node] = offer.Allocatable
	}
	changes := map[string]map[corev1.ResourceName]int64{}
	for i := range f.in.Nodes {
		node := &f.in.Nodes[i]
		for name, quantity := range allocatable[node.Name] {
			if changes[node.Name] == nil {
				changes[node.Name] = map[corev1.ResourceName]int64{}
			}
			changes[node.Name][name] = amount.Of(name, quantity) - offered(node, name)
		}
	}
	return changes
}

// subject says of what new pods are, or what they are like.
func (f *placementForecast) subject() string {
	if w := f.in.Workload; w != nil {
		return fmt.Sprintf("of %s %s/%s", strings.ToLower(w.Kind), w.Namespace, w.Name)
	}
	return fmt.Sprintf("like pod %s/%s", f.in.Copied.Namespace, f.in.Copied.Name)
}
