package cpupool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// Ownership is the CPUs that one pod of a node owns.
type Ownership struct {
	CPUs cpuset.CPUSet
	// Problem says which CPUs the pod claims and does not own, and why; empty when it owns all that it claims.
	Problem string
}

// Owners decides which CPUs each pod of a node owns, in the order of the pods. The annotation resource-status says so, and is
// believed only as far as the scheduler can have written it: for prod pods of QoS class LSE or LSR, and for no more whole CPUs
// than they request. CPUs that several pods claim belong to none of them.
func Owners(pods []*corev1.Pod) []Ownership {
	owners := make([]Ownership, len(pods))
	var claimed, contested cpuset.CPUSet
	for i, pod := range pods {
		owners[i] = ownershipOf(pod)
		contested = contested.Union(claimed.Intersection(owners[i].CPUs))
		claimed = claimed.Union(owners[i].CPUs)
	}
	if contested.IsEmpty() {
		return owners
	}
	for i := range owners {
		if both := owners[i].CPUs.Intersection(contested); !both.IsEmpty() {
			owners[i].CPUs = owners[i].CPUs.Difference(both)
			owners[i].Problem = fmt.Sprintf("CPUs %s are also claimed by another pod, and so belong to neither", both)
		}
	}
	return owners
}

// unreadable says that a pod claims CPUs in a list that is none; empty when it claims none, or none that anybody can tell.
func unreadable(pod *corev1.Pod) string {
	status, err := extension.GetResourceStatus(pod.Annotations)
	if err != nil || status == nil {
		return ""
	}
	if _, err = cpuset.Parse(status.CPUSet); err != nil {
		return fmt.Sprintf("annotation %s: %v", extension.AnnotationResourceStatus, err)
	}
	return ""
}

// ownershipOf is what a pod may own by itself.
func ownershipOf(pod *corev1.Pod) Ownership {
	claim, found := numa.Held(pod)
	if !found || claim.CPUs.IsEmpty() {
		return Ownership{Problem: unreadable(pod)}
	}
	class := extension.PodQoSClass(pod)
	if class != extension.QoSLSE && class != extension.QoSLSR || extension.PodPriorityClassWithDefault(pod) != extension.PriorityProd {
		return Ownership{Problem: fmt.Sprintf("CPUs %s are claimed by annotation %s, and only prod pods of QoS class LSE or LSR own CPUs", claim.CPUs, extension.AnnotationResourceStatus)}
	}
	justified, _ := numa.Justified(pod)
	owned := Ownership{CPUs: justified.CPUs}
	if more := claim.CPUs.Difference(justified.CPUs); !more.IsEmpty() {
		owned.Problem = fmt.Sprintf("CPUs %s are claimed by annotation %s beyond the CPUs that the pod requests", more, extension.AnnotationResourceStatus)
	}
	return owned
}
