package runtimeproxy

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// interception passes one message and its answer, and asks servers of hooks around it.
type interception func(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error

// interceptor returns what handles a method; nil for one that passes as it is.
func (p *Proxy) interceptor(method string) interception {
	switch method {
	case runtimeapi.RuntimeService_RunPodSandbox_FullMethodName:
		return p.runPodSandbox
	case runtimeapi.RuntimeService_StopPodSandbox_FullMethodName:
		return p.stopPodSandbox
	case runtimeapi.RuntimeService_RemovePodSandbox_FullMethodName:
		return p.removePodSandbox
	case runtimeapi.RuntimeService_CreateContainer_FullMethodName:
		return p.createContainer
	case runtimeapi.RuntimeService_StartContainer_FullMethodName:
		return p.startContainer
	case runtimeapi.RuntimeService_StopContainer_FullMethodName:
		return p.stopContainer
	case runtimeapi.RuntimeService_RemoveContainer_FullMethodName:
		return p.removeContainer
	case runtimeapi.RuntimeService_UpdateContainerResources_FullMethodName:
		return p.updateContainerResources
	}
	return nil
}

// around parses a request, has it looked at before it goes to the runtime, and again after the runtime has taken it. A request that
// cannot be parsed goes as it came: the runtime says what is wrong with it. What comes back goes as it came in any case.
func around[T any, Request interface {
	*T
	proto.Message
}](
	ctx context.Context, p *Proxy, method string, request *frame, stream grpc.ServerStream,
	before func(Request) (changed bool, err error), after func(Request, []byte),
) error {
	parsed := Request(new(T))
	if err := proto.Unmarshal(request.bytes(), parsed); err != nil {
		klog.FromContext(ctx).V(2).Info("Failed to decode a request; forwarded it without calling hooks", "method", method, "err", err)
		before, after = nil, nil
	}
	if before != nil {
		changed, err := before(parsed)
		if err == nil && changed {
			err = request.replace(parsed)
		}
		if err != nil {
			return err
		}
	}
	answer := &frame{}
	defer answer.free()
	if err := p.invoke(ctx, method, request, answer, stream); err != nil {
		return err
	}
	if after != nil {
		after(parsed, answer.bytes())
	}
	return stream.SendMsg(answer)
}

func (p *Proxy) runPodSandbox(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, func(r *runtimeapi.RunPodSandboxRequest) (bool, error) {
		if r.Config == nil {
			return false, nil
		}
		changed := false
		for _, server := range p.servers(hookapi.PreRunPodSandbox, r.Config.Labels) {
			answer, err := server.pod(ctx, p.options.HookTimeout, hookapi.PreRunPodSandbox, podOf(r.Config, r.RuntimeHandler))
			if err != nil {
				return false, err
			}
			changed = answer != nil && mergePod(r.Config, answer) || changed
		}
		return changed, nil
	}, func(r *runtimeapi.RunPodSandboxRequest, answer []byte) {
		var response runtimeapi.RunPodSandboxResponse
		if proto.Unmarshal(answer, &response) == nil && response.PodSandboxId != "" && r.Config != nil {
			p.store.putPod(response.PodSandboxId, podOf(r.Config, r.RuntimeHandler))
		}
	})
}

func (p *Proxy) stopPodSandbox(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, nil, func(r *runtimeapi.StopPodSandboxRequest, _ []byte) {
		pod := p.findPod(ctx, r.PodSandboxId)
		for _, server := range p.servers(hookapi.PostStopPodSandbox, pod.GetLabels()) {
			_, err := server.pod(ctx, p.options.HookTimeout, hookapi.PostStopPodSandbox, pod)
			tell(ctx, err)
		}
	})
}

func (p *Proxy) removePodSandbox(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, nil, func(r *runtimeapi.RemovePodSandboxRequest, _ []byte) {
		p.store.forgetPod(r.PodSandboxId)
	})
}

func (p *Proxy) createContainer(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	var pod *hookapi.PodSandboxHookRequest
	return around(ctx, p, method, request, stream, func(r *runtimeapi.CreateContainerRequest) (bool, error) {
		if r.Config == nil {
			return false, nil
		}
		pod = p.podOfContainer(ctx, r)
		changed := false
		for _, server := range p.servers(hookapi.PreCreateContainer, pod.GetLabels()) {
			answer, err := server.container(ctx, p.options.HookTimeout, hookapi.PreCreateContainer, within(pod, containerOf(r.Config, "")))
			if err != nil {
				return false, err
			}
			changed = answer != nil && mergeContainer(r.Config, r.SandboxConfig, answer) || changed
		}
		return changed, nil
	}, func(r *runtimeapi.CreateContainerRequest, answer []byte) {
		var response runtimeapi.CreateContainerResponse
		if proto.Unmarshal(answer, &response) == nil && response.ContainerId != "" && r.Config != nil {
			if r.SandboxConfig != nil && p.store.pod(r.PodSandboxId).GetCgroupParent() == "" {
				p.store.putPod(r.PodSandboxId, pod)
			}
			p.store.putContainer(response.ContainerId, r.PodSandboxId, containerOf(r.Config, response.ContainerId))
		}
	})
}

func (p *Proxy) startContainer(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, func(r *runtimeapi.StartContainerRequest) (bool, error) {
		return false, p.askOfContainer(ctx, hookapi.PreStartContainer, r.ContainerId)
	}, func(r *runtimeapi.StartContainerRequest, _ []byte) {
		tell(ctx, p.askOfContainer(ctx, hookapi.PostStartContainer, r.ContainerId))
	})
}

func (p *Proxy) stopContainer(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, nil, func(r *runtimeapi.StopContainerRequest, _ []byte) {
		tell(ctx, p.askOfContainer(ctx, hookapi.PostStopContainer, r.ContainerId))
	})
}

func (p *Proxy) removeContainer(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, nil, func(r *runtimeapi.RemoveContainerRequest, _ []byte) {
		p.store.forgetContainer(r.ContainerId)
	})
}

func (p *Proxy) updateContainerResources(ctx context.Context, method string, request *frame, stream grpc.ServerStream) error {
	return around(ctx, p, method, request, stream, func(r *runtimeapi.UpdateContainerResourcesRequest) (bool, error) {
		if len(p.registry.of(hookapi.PreUpdateContainerResources)) == 0 {
			return false, nil
		}
		found, changed := p.findContainer(ctx, r.ContainerId), false
		for _, server := range p.servers(hookapi.PreUpdateContainerResources, found.PodLabels) {
			asked := proto.CloneOf(found)
			asked.ContainerResources = resourcesOf(r.Linux)
			overlay(&asked.ContainerAnnotations, r.Annotations)
			answer, err := server.container(ctx, p.options.HookTimeout, hookapi.PreUpdateContainerResources, asked)
			if err != nil {
				return false, err
			}
			if answer != nil {
				changed = overlay(&r.Annotations, answer.ContainerAnnotations) || changed
				changed = mergeResources(&r.Linux, answer.ContainerResources) || changed
			}
		}
		return changed, nil
	}, func(r *runtimeapi.UpdateContainerResourcesRequest, _ []byte) {
		if known := p.store.container(r.ContainerId); known != nil && r.Linux != nil {
			var sum *runtimeapi.LinuxContainerResources
			mergeResources(&sum, known.ContainerResources)
			mergeResources(&sum, resourcesOf(r.Linux))
			p.store.setResources(r.ContainerId, resourcesOf(sum))
		}
	})
}

// askOfContainer asks all servers about a container that there is. Answers change nothing: the runtime has no call for that.
func (p *Proxy) askOfContainer(ctx context.Context, hook hookapi.Hook, id string) error {
	if len(p.registry.of(hook)) == 0 {
		return nil
	}
	found := p.findContainer(ctx, id)
	for _, server := range p.servers(hook, found.PodLabels) {
		if _, err := server.container(ctx, p.options.HookTimeout, hook, found); err != nil {
			return err
		}
	}
	return nil
}

// servers that are asked at a hook about a pod.
func (p *Proxy) servers(hook hookapi.Hook, labels map[string]string) []*hookServer {
	if value, found := labels[p.options.SkipKey]; found && value == p.options.SkipValue {
		return nil
	}
	return p.registry.of(hook)
}

// tell logs what comes too late to fail the call: the runtime has done its part.
func tell(ctx context.Context, err error) {
	if err != nil {
		klog.FromContext(ctx).Error(err, "A post hook failed; the call is not affected")
	}
}
