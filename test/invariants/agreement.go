package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// allocationKeys are the annotations that say what a pod was given.
var allocationKeys = []string{
	extension.AnnotationResourceStatus, extension.AnnotationDeviceAllocated, extension.AnnotationReservationAllocated,
}

// Kept checks that a bound pod's allocations stay what they were.
func Kept(before, after *corev1.Pod) []Violation {
	out := &found{invariant: AllocationAgrees, subject: "pod " + nameOf(after)}
	if before.UID != after.UID || before.Spec.NodeName == "" {
		return nil
	}
	if before.Spec.NodeName != after.Spec.NodeName {
		out.add("it was bound to %s, and is to %s", before.Spec.NodeName, after.Spec.NodeName)
	}
	for _, key := range allocationKeys {
		if before.Annotations[key] != after.Annotations[key] {
			out.add("%s was %q when it was bound, and is %q", key, before.Annotations[key], after.Annotations[key])
		}
	}
	return out.list
}

// CPUsAgree checks the CPUs of a pod against what it asked for.
func (n *Node) CPUsAgree(pod *corev1.Pod) []Violation {
	out := &found{invariant: AllocationAgrees, subject: "pod " + nameOf(pod)}
	cpus, requests := cpusOf(pod), requestsOf(pod)
	if text := pod.Annotations[extension.AnnotationResourceStatus]; text != "" {
		status, err := extension.GetResourceStatus(pod.Annotations)
		if err == nil {
			_, err = status.CPUs()
		}
		if err != nil {
			out.add("its allocation cannot be read: %v", err)
			return out.list
		}
	}
	layout, err := n.layout()
	known := err == nil && layout != nil
	policy, asks := bindPolicy(pod)
	if asks && known && len(cpus) == 0 {
		out.add("it is bound to %s without the CPUs it asked for", n.Name)
	}
	if !asks && !n.binds() && len(cpus) > 0 {
		out.add("it owns CPUs %s and asked for none", extension.FormatCPUList(cpus))
	}
	want := requests[corev1.ResourceCPU]
	if owned := resource.NewQuantity(int64(len(cpus)), resource.DecimalSI); len(cpus) > 0 && owned.Cmp(want) != 0 {
		out.add("it owns %d CPUs and requests %s", len(cpus), want.String())
	}
	if known && asks && policy == extension.CPUBindPolicyFullPCPUs && !wholeCores(cpus, layout) {
		out.add("it owns CPUs %s, parts of cores, under the required policy FullPCPUs", extension.FormatCPUList(cpus))
	}
	if groups := cores(cpus, layout); known && asks && policy == extension.CPUBindPolicySpreadByPCPUs && len(groups) != len(cpus) {
		out.add("it owns CPUs %s of %d cores under the required policy SpreadByPCPUs", extension.FormatCPUList(cpus), len(groups))
	}
	return out.list
}

// bindPolicy says whether a pod asks for exclusive CPUs, and the policy that it requires, if any.
func bindPolicy(pod *corev1.Pod) (required extension.CPUBindPolicy, asks bool) {
	class := extension.PodQoSClass(pod)
	cpu := requestsOf(pod)[corev1.ResourceCPU]
	if class != extension.QoSLSE && class != extension.QoSLSR || cpu.Sign() <= 0 || extension.PodPriorityClassWithDefault(pod) != extension.PriorityProd {
		return "", false
	}
	spec, err := extension.GetResourceSpec(pod.Annotations)
	if err != nil {
		return "", false
	}
	if spec == nil {
		return "", true
	}
	policy := spec.PreferredCPUBindPolicy
	if spec.RequiredCPUBindPolicy != "" && spec.RequiredCPUBindPolicy != extension.CPUBindPolicyDefault {
		required, policy = spec.RequiredCPUBindPolicy, spec.RequiredCPUBindPolicy
	}
	return required, policy != extension.CPUBindPolicyConstrainedBurst
}

// binds reports whether the node gives CPUs to pods that did not ask for them.
func (n *Node) binds() bool {
	if n.Object == nil || n.Topology == nil {
		return false
	}
	kubelet, err := extension.GetKubeletCPUManagerPolicy(n.Topology.Annotations)
	if err != nil {
		kubelet = nil
	}
	return extension.NodeCPUBindPolicyOf(n.Object.Labels, kubelet) != extension.NodeCPUBindPolicyNone
}

// SharesAgree checks that what a pod took from zones adds up to what it requests.
func (n *Node) SharesAgree(pod *corev1.Pod) []Violation {
	out := &found{invariant: AllocationAgrees, subject: "pod " + nameOf(pod)}
	shares, requests := sharesOf(pod), requestsOf(pod)
	if len(shares) == 0 {
		return nil
	}
	sum := amounts{}
	for _, share := range shares {
		sum.add(share.Resources)
	}
	for name := range sum {
		want := requests[name]
		if got := sum[name]; got.Cmp(want) != 0 {
			out.add("it took %s of %s from zones and requests %s", got.String(), name, want.String())
		}
	}
	for name, want := range requests {
		if _, taken := sum[name]; !taken && want.Sign() > 0 && n.offersInZones(name) {
			out.add("it requests %s of %s and took none from zones", want.String(), name)
		}
	}
	return out.sorted()
}

func (n *Node) offersInZones(name corev1.ResourceName) bool {
	for _, gives := range n.zones() {
		if _, offered := gives[name]; offered {
			return true
		}
	}
	return false
}
