package cpupool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Source says where the CPUs of a pod come from.
type Source string

const (
	// Allocated CPUs are the pod's own; see Owners.
	Allocated Source = "allocated"
	// NUMAPools are the shared CPUs of the NUMA nodes that the scheduler chose.
	NUMAPools Source = "numaPools"
	// SharedPools are the shared CPUs of the whole node.
	SharedPools Source = "sharedPools"
	// SystemPool is kept for SYSTEM pods.
	SystemPool Source = "system"
	// Inherited CPUs are those of the group of best-effort pods; the value written is empty.
	Inherited Source = "inherited"
	// Left CPUs are somebody else's affair, and not written.
	Left Source = "left"
)

// Node is the pools of one node.
type Node struct {
	// Shared are the pools of services by NUMA node, as the node's topology reports them.
	Shared []extension.CPUSharedPool
	// System is the CPU list of SYSTEM pods; empty when none are kept.
	System string
	// KubeletPolicy is the policy of the kubelet's CPU manager.
	KubeletPolicy string
	// Online are the CPUs of the machine that are; empty where that is not known, and all are taken to be.
	Online cpuset.CPUSet
}

// Pod is what the choice depends on.
type Pod struct {
	// QoS is the class in the pod's label.
	QoS extension.QoSClass
	// KubeQOS is the pod's class in Kubernetes.
	KubeQOS corev1.PodQOSClass
	// Annotations of the pod.
	Annotations map[string]string
	// Owned are the CPUs that are the pod's own.
	Owned cpuset.CPUSet
	// KubeletOwned is true for a pod to which the kubelet assigned exclusive CPUs.
	KubeletOwned bool
}

// Choice is the CPUs of the containers and the sandbox of one pod.
type Choice struct {
	Source Source `json:"source"`
	// CPUs as a Linux CPU list, and whether they are written at all: an empty list that is written lifts what was there.
	CPUs  string `json:"cpus"`
	Write bool   `json:"write"`
	// LiftQuota is true for a pod with exclusive CPUs: a quota would only throttle it on CPUs that no other pod can use.
	LiftQuota bool   `json:"liftQuota,omitempty"`
	Reason    string `json:"reason"`
	// Problem says what could not be read, or which CPUs are offline; empty when nothing is wrong.
	Problem string `json:"problem,omitempty"`
}

// Choose decides the CPUs of one pod. An annotation that cannot be read gives the pod nothing: it is put where its class belongs,
// because a pod whose CPUs were left as they are could run on those that others own. CPUs that are offline are left out, because the
// kernel refuses a list with one of them as a whole.
func Choose(node Node, pod Pod) Choice {
	status, err := extension.GetResourceStatus(pod.Annotations)
	choice := node.choose(pod, status).within(node.Online)
	if err != nil && choice.Problem == "" {
		choice.Problem = err.Error()
	}
	return choice
}

func (n Node) choose(pod Pod, status *extension.ResourceStatus) Choice {
	switch {
	case pod.KubeletOwned:
		return Choice{Source: Left, Reason: "the kubelet's CPU manager assigned the pod exclusive CPUs"}
	case !pod.Owned.IsEmpty():
		return Choice{Source: Allocated, CPUs: pod.Owned.String(), Write: true, LiftQuota: true, Reason: "the scheduler allocated them"}
	case pod.QoS == extension.QoSBE || pod.QoS == extension.QoSNone && pod.KubeQOS == corev1.PodQOSBestEffort:
		// This holds even when the pod has NUMA nodes: CPUs beyond those of the parent cgroup are refused or have no effect.
		return Choice{Source: Inherited, Write: true, Reason: "suppression decides the CPUs of all best-effort pods together"}
	case status != nil && len(status.NUMANodeResources) > 0:
		return n.pools(status.NUMANodeResources)
	case pod.QoS == extension.QoSSystem && n.System != "":
		return system(n.System)
	case pod.QoS != extension.QoSLS && pod.KubeQOS == corev1.PodQOSBestEffort:
		return Choice{Source: Inherited, Write: true, Reason: "suppression decides the CPUs of all best-effort pods together"}
	case pod.QoS != extension.QoSLS && n.KubeletPolicy == extension.KubeletCPUManagerPolicyStatic:
		return Choice{Source: Left, Reason: "the kubelet's CPU manager decides, its policy is static"}
	}
	return n.pools(nil)
}

// within leaves out CPUs that are offline. Where none is left nothing is written: an empty list would let the pod run anywhere.
func (c Choice) within(online cpuset.CPUSet) Choice {
	cpus, err := cpuset.Parse(c.CPUs)
	if err != nil || online.IsEmpty() || online.ContainsAll(cpus) {
		return c
	}
	problem := fmt.Sprintf("of CPUs %s, %s are offline", c.CPUs, cpus.Difference(online))
	left := cpus.Intersection(online)
	if left.IsEmpty() {
		return Choice{Source: Left, Reason: "none of its CPUs is online", Problem: problem}
	}
	c.CPUs, c.Reason, c.Problem = left.String(), c.Reason+", and some are offline", problem
	return c
}

func system(list string) Choice {
	cpus, err := cpuset.Parse(list)
	if err != nil || cpus.IsEmpty() {
		return Choice{Source: Left, Reason: "the CPUs of SYSTEM pods cannot be read", Problem: problemOf(list, err)}
	}
	return Choice{Source: SystemPool, CPUs: cpus.String(), Write: true, Reason: "kept for SYSTEM pods"}
}

func problemOf(list string, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("cpu list %.80q is empty", list)
}

// pools joins the shared pools, those of NUMA nodes when some are given. NUMA nodes of which nothing is shared leave the pod
// the pools of all.
func (n Node) pools(nodes []extension.NUMANodeResource) Choice {
	wanted := map[int32]bool{}
	for _, node := range nodes {
		wanted[node.Node] = true
	}
	var all, chosen cpuset.CPUSet
	for _, pool := range n.Shared {
		cpus, err := cpuset.Parse(pool.CPUSet)
		if err != nil {
			return Choice{Source: Left, Reason: "the shared pools cannot be read", Problem: err.Error()}
		}
		all = all.Union(cpus)
		if wanted[pool.Node] {
			chosen = chosen.Union(cpus)
		}
	}
	switch {
	case all.IsEmpty():
		return Choice{Source: Left, Reason: "there are no shared CPUs, or the pools are unknown"}
	case len(nodes) > 0 && !chosen.IsEmpty():
		return Choice{Source: NUMAPools, CPUs: chosen.String(), Write: true, Reason: "shared CPUs of the NUMA nodes that the scheduler chose"}
	case len(nodes) > 0:
		return Choice{Source: SharedPools, CPUs: all.String(), Write: true, Reason: "no CPU is shared on the NUMA nodes that the scheduler chose"}
	}
	return Choice{Source: SharedPools, CPUs: all.String(), Write: true, Reason: "all shared CPUs"}
}
