package koordlet

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/kubelet"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
)

// kubelet is how kubelet binds pods. While its files cannot be read in full, pods have at least the CPUs that they had before:
// no other pod is put on them because a file is damaged.
func (t *topologies) kubelet() (report.Kubelet, error) {
	binding, err := kubelet.Read(t.options.kubeletConfiguration(), t.options.kubeletState())
	if err != nil {
		binding.Pods = kept(binding.Pods, t.bound)
	}
	t.bound = binding.Pods
	out := report.Kubelet{
		CPUManager: extension.KubeletCPUManagerPolicy{
			Policy: binding.Policy, Options: binding.Options, ReservedCPUs: binding.ReservedCPUs.String(),
		},
		TopologyPolicy: binding.TopologyPolicy, TopologyScope: binding.TopologyScope,
	}
	pods := map[types.UID]*state.Pod{}
	for _, pod := range t.cluster.Pods() {
		pods[pod.UID] = pod
	}
	for _, owner := range binding.Pods {
		alloc := extension.PodCPUAlloc{UID: owner.UID, CPUSet: owner.CPUs.String(), ManagedByKubelet: true}
		if pod := pods[owner.UID]; pod != nil {
			alloc.Namespace, alloc.Name, alloc.UID = pod.Object.Namespace, pod.Object.Name, pod.Object.UID
		}
		out.Pods = append(out.Pods, alloc)
	}
	return out, err
}

// kept are the pods that were read, and those of before that are not among them.
func kept(read, before []kubelet.Pod) []kubelet.Pod {
	out := slices.Clone(read)
	for _, pod := range before {
		if !slices.ContainsFunc(read, func(p kubelet.Pod) bool { return p.UID == pod.UID }) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b kubelet.Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	return out
}
