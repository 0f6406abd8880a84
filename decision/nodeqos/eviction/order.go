package eviction

import (
	"cmp"
	"slices"
)

// Key is one value by which candidates are ordered.
type Key struct {
	Name KeyName `json:"name"`
	// Value of the pod; the first key in which two pods differ decides.
	Value float64 `json:"value"`
	// Descending keys let the larger value go first; the others the smaller.
	Descending bool `json:"descending,omitempty"`
}

// KeyName says what a key is.
type KeyName string

const (
	// KeyEvictionPriority is the annotation eviction-priority.
	KeyEvictionPriority KeyName = "evictionPriority"
	// KeyPriority is spec.priority.
	KeyPriority KeyName = "priority"
	// KeySubPriority is the label priority, or spec.priority where there is none.
	KeySubPriority KeyName = "subPriority"
	// KeyUsedOfRequest is CPU used of what was requested, 1 for all of it.
	KeyUsedOfRequest KeyName = "usedOfRequest"
	// KeyUsed is the usage, in milli-cores or bytes.
	KeyUsed KeyName = "used"
	// KeyRequested is the request, in milli-cores or bytes.
	KeyRequested KeyName = "requested"
	// KeyDone is how far a job is by what was predicted of it, in quarters from 0 to 0.75; 0 for pods of which nothing was. It is a key where a
	// pod of the node has a prediction.
	KeyDone KeyName = "done"
	// KeyWork is the CPU time that a container has used, in seconds, which is lost with it. Pods have none.
	KeyWork KeyName = "work"
)

// Candidate is a pod that a feature may take.
type Candidate struct {
	Pod Ref `json:"pod"`
	// Frees is what is released when it leaves, in the unit of the demand.
	Frees int64 `json:"frees"`
	// Keys by which it was ordered; those equal in all of them are ordered by namespace, name and UID.
	Keys []Key `json:"keys"`
	// Released by this pod and everything before it, what is pending included; 0 for a pod that stays.
	Released int64 `json:"released,omitempty"`
	// Victim is true for a pod that is evicted.
	Victim bool `json:"victim,omitempty"`
	// index of the pod in Input.Pods.
	index int
}

// keys of a pod for the demand, most important first.
func (s selector) keys(pod *Pod) []Key {
	if pod.IsContainer() {
		return s.containerKeys(pod)
	}
	resource := s.demand.Feature.Resource()
	used := 0.0
	if pod.Used != nil {
		used = float64(resource.of(*pod.Used))
	}
	priority := Key{Name: KeyPriority, Value: float64(pod.Priority)}
	if s.demand.Feature.BestEffort() {
		last := Key{Name: KeyUsed, Value: used, Descending: true}
		if resource == CPU {
			last = Key{Name: KeyUsedOfRequest, Value: used / float64(max(pod.Requests.Batch.MilliCPU, 1)), Descending: true}
		}
		return s.withLast([]Key{priority}, pod, last)
	}
	last := Key{Name: KeyUsed, Value: used, Descending: true}
	if s.demand.Feature.ofRequests() {
		last = Key{Name: KeyRequested, Value: float64(requested(pod, resource)), Descending: true}
	}
	return s.withLast([]Key{
		{Name: KeyEvictionPriority, Value: float64(pod.EvictionPriority)}, priority, {Name: KeySubPriority, Value: float64(pod.SubPriority)},
	}, pod, last)
}

// withLast are keys with the last ones. Of pods that matter as much, those go first that lose the least of their work; within a quarter of it, those
// that release most, so that few have to go.
func (s selector) withLast(keys []Key, pod *Pod, last Key) []Key {
	if s.predicted {
		keys = append(keys, Key{Name: KeyDone, Value: float64(pod.Job.Quarter(s.now)) / 4})
	}
	return append(keys, last)
}

// containerKeys are those of pods, but for the last: of containers those go first that lose the least work.
func (s selector) containerKeys(container *Pod) []Key {
	priority, work := Key{Name: KeyPriority, Value: float64(container.Priority)}, Key{Name: KeyWork, Value: container.Work}
	if s.demand.Feature.BestEffort() {
		return []Key{priority, work}
	}
	return []Key{
		{Name: KeyEvictionPriority, Value: float64(container.EvictionPriority)}, priority,
		{Name: KeySubPriority, Value: float64(container.SubPriority)}, work,
	}
}

// candidates lists the pods that the feature may take, in the order in which they would go, and why it does not take the
// others. Those that are gone are leaving.
func (s selector) candidates(pods []Pod, gone []bool) ([]Candidate, []Exclusion) {
	var candidates []Candidate
	excluded := make([]Exclusion, 0, len(pods))
	for i := range pods {
		if why, ok := s.exclusion(&pods[i], gone[i]); !ok {
			excluded = append(excluded, why)
			continue
		}
		candidates = append(candidates, Candidate{Pod: pods[i].Ref, Frees: s.frees(&pods[i]), Keys: s.keys(&pods[i]), index: i})
	}
	slices.SortFunc(candidates, compareCandidates)
	slices.SortFunc(excluded, func(a, b Exclusion) int { return compareRefs(a.Pod, b.Pod) })
	return candidates, excluded
}

// compareCandidates orders those that go first first. All pods that are candidates of a demand have the same keys, and all containers.
// Where pods and containers are ordered by different ones, containers go first: their scheduler starts one task again, and a pod has
// to be made and scheduled again with all that it holds.
func compareCandidates(a, b Candidate) int {
	for i := range a.Keys {
		if a.Keys[i].Name != b.Keys[i].Name {
			if a.Pod.IsContainer() {
				return -1
			}
			return 1
		}
		order := cmp.Compare(a.Keys[i].Value, b.Keys[i].Value)
		if a.Keys[i].Descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return compareRefs(a.Pod, b.Pod)
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
