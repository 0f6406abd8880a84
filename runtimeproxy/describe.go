package runtimeproxy

import (
	"context"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// podOf is what hook servers are told about a sandbox. The maps are shared.
func podOf(config *runtimeapi.PodSandboxConfig, handler string) *hookapi.PodSandboxHookRequest {
	out := &hookapi.PodSandboxHookRequest{
		PodMeta: podMetaOf(config.GetMetadata()), RuntimeHandler: handler, Labels: config.GetLabels(), Annotations: config.GetAnnotations(),
	}
	if linux := config.GetLinux(); linux != nil {
		out.CgroupParent, out.Overhead, out.Resources = linux.CgroupParent, resourcesOf(linux.Overhead), resourcesOf(linux.Resources)
	}
	return out
}

func podMetaOf(meta *runtimeapi.PodSandboxMetadata) *hookapi.PodSandboxMetadata {
	return &hookapi.PodSandboxMetadata{Name: meta.GetName(), Namespace: meta.GetNamespace(), Uid: meta.GetUid(), Attempt: meta.GetAttempt()}
}

// containerOf is what hook servers are told about a container, but for its pod. The maps are shared.
func containerOf(config *runtimeapi.ContainerConfig, id string) *hookapi.ContainerResourceHookRequest {
	return &hookapi.ContainerResourceHookRequest{
		ContainerMata:        &hookapi.ContainerMetadata{Name: config.GetMetadata().GetName(), Attempt: config.GetMetadata().GetAttempt(), Id: id},
		ContainerAnnotations: config.GetAnnotations(), ContainerResources: resourcesOf(config.GetLinux().GetResources()), ContainerEnvs: envsOf(config.GetEnvs()),
	}
}

// podOfContainer is the pod that a container is made in: as it was run, with what hooks changed, or as the request repeats it, or
// else as the runtime reports. It is never nil.
func (p *Proxy) podOfContainer(ctx context.Context, r *runtimeapi.CreateContainerRequest) *hookapi.PodSandboxHookRequest {
	pod := p.store.pod(r.PodSandboxId)
	switch {
	case pod.GetCgroupParent() != "":
		return pod
	case r.SandboxConfig == nil:
		return p.findPod(ctx, r.PodSandboxId)
	}
	return podOf(r.SandboxConfig, pod.GetRuntimeHandler())
}

// findPod returns what is known of a sandbox, which the runtime is asked for when it is nothing. It is never nil.
func (p *Proxy) findPod(ctx context.Context, id string) *hookapi.PodSandboxHookRequest {
	if found := p.store.pod(id); found != nil {
		return found
	}
	list, err := p.runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{Id: id}})
	if err != nil || len(list.Items) != 1 || list.Items[0].Id != id {
		return &hookapi.PodSandboxHookRequest{PodMeta: &hookapi.PodSandboxMetadata{}}
	}
	found := listedPod(list.Items[0])
	p.store.putPod(id, found)
	return found
}

// findContainer returns what is known of a container, which the runtime is asked for when it is nothing. It is never nil.
func (p *Proxy) findContainer(ctx context.Context, id string) *hookapi.ContainerResourceHookRequest {
	if found := p.store.container(id); found != nil {
		return found
	}
	list, err := p.runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{Id: id}})
	if err != nil || len(list.Containers) != 1 || list.Containers[0].Id != id {
		return within(nil, &hookapi.ContainerResourceHookRequest{ContainerMata: &hookapi.ContainerMetadata{Id: id}})
	}
	pod := p.findPod(ctx, list.Containers[0].PodSandboxId)
	found := listedContainer(list.Containers[0])
	p.store.putContainer(id, list.Containers[0].PodSandboxId, found)
	return within(pod, found)
}

// listedPod is what a list of the runtime has of a sandbox: neither its cgroup nor its resources.
func listedPod(pod *runtimeapi.PodSandbox) *hookapi.PodSandboxHookRequest {
	return &hookapi.PodSandboxHookRequest{
		PodMeta: podMetaOf(pod.Metadata), RuntimeHandler: pod.RuntimeHandler, Labels: pod.Labels, Annotations: pod.Annotations,
	}
}

// listedContainer is what a list of the runtime has of a container.
func listedContainer(c *runtimeapi.Container) *hookapi.ContainerResourceHookRequest {
	return &hookapi.ContainerResourceHookRequest{
		ContainerMata:        &hookapi.ContainerMetadata{Name: c.Metadata.GetName(), Attempt: c.Metadata.GetAttempt(), Id: c.Id},
		ContainerAnnotations: c.Annotations,
	}
}

// rebuild compares what is known with what the runtime has: what is new is taken over, and what went is forgotten.
func (p *Proxy) rebuild(ctx context.Context) error {
	before := p.store.asking()
	defer p.store.answered()
	pods, err := p.runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return err
	}
	containers, err := p.runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return err
	}
	hasPods, hasContainers := map[string]bool{}, map[string]bool{}
	for _, pod := range pods.Items {
		hasPods[pod.Id] = true
		p.store.adoptPod(pod.Id, listedPod(pod))
	}
	for _, c := range containers.Containers {
		hasContainers[c.Id] = true
		p.store.adoptContainer(c.Id, c.PodSandboxId, listedContainer(c))
	}
	p.store.retain(before, hasPods, hasContainers)
	return nil
}
