package evictability

import (
	"strings"

	"koordinator.sh/koord/api/extension"
)

// Verdict says whether the descheduler may evict a pod.
type Verdict struct {
	Allowed bool `json:"allowed"`
	// Annotated is true when the pod has the annotation that lifts the gates and limits of deschedulers.
	Annotated bool `json:"annotated,omitempty"`
	// Discouraged is true when the pod asks not to be evicted. Pods that do not are moved instead where there are some.
	Discouraged bool `json:"discouraged,omitempty"`
	// Refusals in the order of the gates; none when the pod may be evicted.
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is one gate that refuses a pod.
type Refusal struct {
	Gate    Gate   `json:"gate"`
	Message string `json:"message"`
}

// Message is one line for the status of a job and for people.
func (v Verdict) Message() string {
	if v.Allowed {
		return "the pod may be evicted"
	}
	var messages []string
	for _, refusal := range v.Refusals {
		messages = append(messages, refusal.Message)
	}
	return strings.Join(messages, "; ")
}

// Decide says whether the descheduler may evict the pod, and names every gate that refuses it.
func Decide(in Input) Verdict {
	_, annotated := in.Pod.Annotations[extension.AnnotationEvict]
	_, discouraged := in.Pod.Annotations[extension.AnnotationPreferNoEviction]
	verdict := Verdict{Annotated: annotated, Discouraged: discouraged}
	for _, gate := range gates {
		if !in.Policy.asks(gate, annotated) {
			continue
		}
		if message := refusal(gate, &in); message != "" {
			verdict.Refusals = append(verdict.Refusals, Refusal{Gate: gate, Message: message})
		}
	}
	verdict.Allowed = len(verdict.Refusals) == 0
	return verdict
}

// refusal says why a gate refuses the pod; empty when it does not. It calls the checks by name, so that the input of each of a hundred
// thousand pods stays on the stack.
func refusal(gate Gate, in *Input) string {
	switch gate {
	case StaticPod:
		return static(in)
	case Terminating:
		return terminating(in)
	case EvictionCost:
		return cost(in)
	case MigrationLoop:
		return loop(in)
	case NoEviction:
		return noEviction(in)
	case DaemonSet:
		return daemonSet(in)
	case BarePods:
		return bare(in)
	case LocalStorage:
		return localStorage(in)
	case SystemCritical:
		return systemCritical(in)
	case PriorityThreshold:
		return priorityThreshold(in)
	case PVC:
		return claims(in)
	case LabelSelector:
		return selected(in)
	case Namespaces:
		return namespaces(in)
	case NodeFit:
		return nodeFit(in)
	}
	return ""
}
