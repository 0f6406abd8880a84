package eviction

import (
	"fmt"
	"slices"
	"time"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Exclusion is a pod that a feature does not take, and why.
type Exclusion struct {
	Pod    Ref    `json:"pod"`
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
}

// Code is a reason for which a pod is not a candidate.
type Code string

// Codes of the reasons, in the order in which they are looked for.
const (
	Inactive      Code = "inactive"
	Leaving       Code = "leaving"
	Protected     Code = "protected"
	NotBestEffort Code = "notBestEffort"
	PolicyForbids Code = "policyForbids"
	DoesNotAgree  Code = "doesNotAgree"
	TooImportant  Code = "priorityAboveThreshold"
	NotMeasured   Code = "notMeasured"
	FreesNothing  Code = "freesNothing"
	NotOffered    Code = "notOffered"
	Refused       Code = "refused"
)

// selector is what one demand asks of the pods of a node.
type selector struct {
	demand Demand
	// most is the highest priority that the feature takes; nil for features on best effort.
	most *int32
	// offers says that requests are compared with what the node offers to pods, of which containers have nothing.
	offers bool
	// among selects the pods that are considered, by how their last eviction request was refused; by default those without a refusal.
	among Refusal
	// predicted says that a prediction is known of a pod of the node, at the time now.
	predicted bool
	now       time.Time
}

func newSelector(in Input, demand Demand) selector {
	s := selector{demand: demand, offers: demand.Feature.ofRequests(), now: in.Now}
	s.predicted = slices.ContainsFunc(in.Pods, func(pod Pod) bool { return pod.Job != nil })
	if in.Strategy != nil {
		s.offers = s.offers || demand.Feature == BECPUEvict && in.Strategy.CPUEvictPolicy == slov1alpha1.EvictByAllocatablePolicy
		_, s.most = reachOf(demand.Feature, in.Strategy)
	}
	return s
}

// ofRequests says whether the feature compares requests with offers.
func (f Feature) ofRequests() bool { return f == CPUAllocatableEvict || f == MemoryAllocatableEvict }

// exclusion says why a pod is not a candidate; ok is true for one that is. Gone is true for a victim of another demand.
func (s selector) exclusion(pod *Pod, gone bool) (out Exclusion, ok bool) {
	refuse := func(code Code, reason string) (Exclusion, bool) {
		return Exclusion{Pod: pod.Ref, Code: code, Reason: reason}, false
	}
	feature := s.demand.Feature
	switch {
	case !pod.Active:
		return refuse(Inactive, "it succeeded or failed")
	case pod.Leaving || gone:
		return refuse(Leaving, "it is being deleted")
	case pod.QoS == extension.QoSLSE || pod.QoS == extension.QoSLSR || pod.QoS == extension.QoSSystem:
		return refuse(Protected, fmt.Sprintf("its class is %s", pod.QoS))
	case pod.Critical != "":
		return refuse(Protected, pod.Critical)
	case s.offers && pod.IsContainer():
		return refuse(NotOffered, "it has no part of what the node offers to pods")
	case feature.BestEffort() && pod.QoS != extension.QoSBE:
		return refuse(NotBestEffort, "it is not best effort")
	case pod.Allowed != nil && !pod.Allowed[feature]:
		return refuse(PolicyForbids, fmt.Sprintf("its annotation %s does not name %s", extension.AnnotationPodEvictPolicy, feature))
	}
	if !feature.BestEffort() {
		switch {
		case !pod.Agrees:
			return refuse(DoesNotAgree, fmt.Sprintf("its label %s is not true", extension.LabelPodEvictEnabled))
		case s.most == nil || pod.Priority > *s.most:
			return refuse(TooImportant, s.tooImportant(pod))
		case pod.Used == nil:
			return refuse(NotMeasured, "its usage was not measured")
		}
	}
	if s.frees(pod) <= 0 {
		return refuse(FreesNothing, s.freesNothing())
	}
	if pod.Refused != s.among {
		return refuse(Refused, pod.Refused.Reason())
	}
	return Exclusion{}, true
}

func (s selector) tooImportant(pod *Pod) string {
	if s.most == nil {
		return "no priority threshold is set"
	}
	return fmt.Sprintf("its priority %d is above %d", pod.Priority, *s.most)
}

func (s selector) freesNothing() string {
	switch {
	case s.demand.Feature == BECPUEvict:
		return "it requests no batch-cpu"
	case s.demand.Feature.ofRequests():
		return "it requests no " + resourceName(s.demand.Tier, s.demand.Feature.Resource())
	}
	return fmt.Sprintf("it has no measured usage of %s", s.demand.Feature.Resource().word())
}

// counts says whether a pod is part of what the demand was computed from, so that its leaving meets a part of it.
func (s selector) counts(pod *Pod) bool {
	switch {
	case !pod.Active, s.offers && pod.IsContainer():
		return false
	case s.demand.Feature == BECPUEvict:
		return pod.QoS == extension.QoSBE
	case s.demand.Feature.ofRequests():
		return s.most != nil && pod.Priority <= *s.most
	}
	return true
}

// frees is what is released when a pod leaves: requests where requests are too much, use where use is.
func (s selector) frees(pod *Pod) int64 {
	resource := s.demand.Feature.Resource()
	switch {
	case s.demand.Feature == BECPUEvict:
		return pod.Requests.Batch.MilliCPU
	case s.demand.Feature.ofRequests():
		return resource.of(pod.Requests.Of(s.demand.Tier))
	case pod.Used == nil:
		return 0
	}
	return resource.of(*pod.Used)
}

// requested is what a pod requests of a resource in any tier.
func requested(pod *Pod, resource Resource) int64 {
	return resource.of(pod.Requests.Of(podrequest.Batch).Add(pod.Requests.Of(podrequest.Mid)).Add(pod.Requests.Of(podrequest.Plain)))
}
