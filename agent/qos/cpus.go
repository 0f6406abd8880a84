package qos

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// CPUSetAllocator puts pods on the CPUs that the scheduler gave them, and services on the shared ones.
type CPUSetAllocator struct{}

// Name implements Feature.
func (CPUSetAllocator) Name() string { return nodefeature.CPUSetAllocator.Name }

// DesiredValues implements Feature. Without a report of the node's pools it places only pods that own CPUs.
func (CPUSetAllocator) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	node := poolsOf(in)
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		choice := cpupool.Choose(node, cpupool.Pod{
			QoS: extension.PodQoSClass(pod.Object), KubeQOS: pod.Class(), Annotations: pod.Object.Annotations, Owned: pod.Owned,
			KubeletOwned: node.KubeletPolicy == extension.KubeletCPUManagerPolicyStatic && bindsByKubelet(pod),
		})
		if !choice.Write || choice.Source == cpupool.Inherited {
			continue // suppression has the CPUs of best-effort pods
		}
		for _, container := range in.Containers.Of(pod, in.Now) {
			values = append(values, executor.DesiredValue{Setting: cgroup.CPUSet, Cgroup: container.Cgroup, Value: choice.CPUs, Why: choice.Reason})
			if choice.LiftQuota {
				values = append(values, executor.DesiredValue{Setting: cgroup.CPUQuota, Cgroup: container.Cgroup, Value: "-1", Why: "the CPUs are its own"})
			}
		}
		if choice.LiftQuota {
			values = append(values, executor.DesiredValue{Setting: cgroup.CPUQuota, Cgroup: in.Layout.Pod(pod.Class(), pod.UID), Value: "-1", Why: "the CPUs are its own"})
		}
	}
	return values
}

// bindsByKubelet reports whether a kubelet with the policy static gives containers of a pod exclusive CPUs: those of a guaranteed pod
// that request whole ones. CPUs that the scheduler gave take precedence, and so do those that a node keeps for SYSTEM pods.
func bindsByKubelet(pod *state.Pod) bool {
	if pod.Class() != corev1.PodQOSGuaranteed || !pod.Owned.IsEmpty() || extension.PodQoSClass(pod.Object) == extension.QoSSystem {
		return false
	}
	spec := &pod.Object.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			cpu := containers[i].Resources.Requests[corev1.ResourceCPU]
			if milli := cpu.MilliValue(); milli > 0 && milli%1000 == 0 {
				return true
			}
		}
	}
	return false
}

// poolsOf reads the node's pools, and which CPUs are online; what cannot be read is left out.
func poolsOf(in NodeSnapshot) cpupool.Node {
	out := cpupool.Node{KubeletPolicy: extension.KubeletCPUManagerPolicyNone}
	if in.Topology != nil {
		out.Online = in.Topology.CPUs
	}
	if in.Reported == nil {
		return out
	}
	if pools, err := extension.GetCPUSharedPools(in.Reported.Annotations); err == nil {
		out.Shared = pools
	}
	if system, err := extension.GetSystemQOSResource(in.Reported.Annotations); err == nil && system != nil {
		out.System = system.CPUSet
	}
	if policy, err := extension.GetKubeletCPUManagerPolicy(in.Reported.Annotations); err == nil && policy != nil {
		out.KubeletPolicy = policy.Policy
	}
	return out
}
