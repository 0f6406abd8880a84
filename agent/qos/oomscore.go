package qos

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/oomscore"
)

// processListInterval is how often the processes of containers are listed while no container comes.
const processListInterval = 10 * time.Second

// OOMScoreAdj has the kernel kill the processes of some containers earlier or later than kubelet would, when memory runs out.
type OOMScoreAdj struct {
	// listed are the processes in cgroups of containers.
	listed map[string]*listedProcesses
}

// listedProcesses are those of one container.
type listedProcesses struct {
	at    time.Time
	names []string
}

// Name implements Feature.
func (*OOMScoreAdj) Name() string { return nodefeature.OOMScoreAdj.Name }

// DesiredValues implements Feature. Containers without an annotation keep what kubelet gave them, and so do sandboxes. Processes that
// a container starts have its score from the beginning.
func (o *OOMScoreAdj) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	before := o.listed
	o.listed = map[string]*listedProcesses{}
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if !pod.Running() {
			continue
		}
		for _, container := range in.Containers.Of(pod, in.Now) {
			kubelet := kubeletScore(in, pod, container.Name)
			score := oomscore.Of(pod.Object.Annotations, container.Name, kubelet)
			if score.Source != oomscore.FromAnnotation {
				continue
			}
			processes := before[container.Cgroup]
			if processes == nil || in.Now.Sub(processes.at) >= processListInterval || in.Now.Before(processes.at) {
				processes = listProcesses(in, container.Cgroup)
			}
			o.listed[container.Cgroup] = processes
			for _, name := range processes.names {
				values = append(values, executor.DesiredValue{
					Setting: process.OOMScore{}, Cgroup: name, Value: strconv.FormatInt(score.Value, 10), Inherited: strconv.FormatInt(kubelet, 10),
					Why: fmt.Sprintf("container %s of %s/%s, by its annotation", container.Name, pod.Object.Namespace, pod.Object.Name),
				})
			}
		}
	}
	return values
}

func listProcesses(in NodeSnapshot, at string) *listedProcesses {
	out := &listedProcesses{at: in.Now}
	found, err := process.In(in.Tree, in.Proc, in.Layout, at)
	if err != nil {
		return out // the container has ended, or is looked at again soon
	}
	for _, identity := range found {
		out.names = append(out.names, identity.String())
	}
	return out
}

// kubeletScore is what kubelet gave a container. A sidecar is killed no earlier than the container beside it that
// requests least.
func kubeletScore(in NodeSnapshot, pod *state.Pod, name string) int64 {
	spec := &pod.Object.Spec
	request, sidecar := requestOf(spec.Containers, name), false
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.Name == name {
			request = requestOf(spec.InitContainers, name)
			sidecar = c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	if sidecar && len(spec.Containers) > 0 {
		least := requestOf(spec.Containers, spec.Containers[0].Name)
		for i := range spec.Containers {
			least = min(least, requestOf(spec.Containers, spec.Containers[i].Name))
		}
		request = max(request, least)
	}
	return oomscore.Kubelet(pod.Class(), spec.PriorityClassName, request, in.Capacity.Memory)
}

// requestOf is the memory that one of some containers requests, in bytes.
func requestOf(containers []corev1.Container, name string) int64 {
	for i := range containers {
		if containers[i].Name == name {
			memory := containers[i].Resources.Requests[corev1.ResourceMemory]
			return memory.Value()
		}
	}
	return 0
}
