package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/core/cfs"
)

// start makes the cgroups of a pod and of its containers, as kubelet does once it runs.
func (i *simulatedAgent) start(object *corev1.Pod) {
	pod := state.PodOf(object.DeepCopy())
	object = pod.Object
	i.in.Pods = append(i.in.Pods, pod)
	if !pod.Running() {
		return
	}
	object.Status.InitContainerStatuses, object.Status.ContainerStatuses = nil, make([]corev1.ContainerStatus, len(object.Spec.Containers))
	at := imitatedLayout.Pod(pod.Class(), pod.UID)
	whole, limited := bounds{}, true
	for c := range object.Spec.Containers {
		container := &object.Spec.Containers[c]
		id, own := containerID(pod.UID, container.Name), boundsOf(&container.Resources)
		object.Status.ContainerStatuses[c] = corev1.ContainerStatus{
			Name: container.Name, ContainerID: "imitated://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}
		below := at + "/cri-containerd-" + id + ".scope"
		i.kernel.Make(below)
		i.kernel.Enter(below, 1)
		i.set(below, own)
		whole.request += own.request
		whole.limit += own.limit
		limited = limited && own.limit > 0
	}
	if !limited {
		whole.limit = 0
	}
	i.set(at, whole)
}

// containerID stands for the one that a runtime gives a container: 64 digits.
func containerID(pod types.UID, container string) string {
	sum := sha256.Sum256([]byte(string(pod) + "/" + container))
	return hex.EncodeToString(sum[:])
}

// bounds are what kubelet reads in plain CPU and memory, in thousandths and bytes; a limit of 0 is none.
type bounds struct{ request, limit, memory int64 }

func boundsOf(resources *corev1.ResourceRequirements) bounds {
	out := bounds{limit: resources.Limits.Cpu().MilliValue(), memory: resources.Limits.Memory().Value()}
	if out.request = resources.Requests.Cpu().MilliValue(); out.request == 0 {
		out.request = out.limit
	}
	return out
}

// set has a cgroup hold what kubelet gives it.
func (i *simulatedAgent) set(at string, own bounds) {
	values := map[cgroup.Setting]int64{cgroup.CPUShares: cfs.Shares(own.request)}
	if own.limit > 0 {
		values[cgroup.CPUQuota] = max(cfs.Quota(own.limit), cfs.LeastQuota)
	}
	if own.memory > 0 {
		values[cgroup.MemoryLimit] = own.memory
	}
	for setting, value := range values {
		path, has := imitatedLayout.Path(setting, at)
		content, err := setting.Encode(imitatedLayout.Version, strconv.FormatInt(value, 10))
		if has && err == nil {
			_ = i.kernel.Write(path, content) // what no kernel takes of a pod, this one does not either
		}
	}
}
