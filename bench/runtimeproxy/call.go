package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// call is one that kubelet makes.
type call struct {
	name string
	// long calls have answers of many kilobytes, or of many messages.
	long bool
	make func(context.Context, runtimeapi.RuntimeServiceClient) error
}

var calls = []call{
	{"Version", false, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.Version(ctx, &runtimeapi.VersionRequest{})
		return err
	}},
	{"ListContainers (500)", true, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
		return err
	}},
	{"RunPodSandbox", false, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: sandbox})
		return err
	}},
	{"CreateContainer", false, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: "s", SandboxConfig: sandbox, Config: container})
		return err
	}},
	{"StartContainer", false, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: "c"})
		return err
	}},
	{"UpdateContainerResources", false, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		_, err := c.UpdateContainerResources(ctx, &runtimeapi.UpdateContainerResourcesRequest{ContainerId: "c", Linux: &runtimeapi.LinuxContainerResources{CpuShares: 1024}})
		return err
	}},
	{"GetContainerEvents (10)", true, func(ctx context.Context, c runtimeapi.RuntimeServiceClient) error {
		stream, err := c.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
		if err != nil {
			return err
		}
		for {
			if _, err := stream.Recv(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}},
}

// sandbox and container are of the size that kubelet's are.
var (
	sandbox = &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "web-7d4b9c6f5-x2x8k", Namespace: "default", Uid: "8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"},
		Hostname: "web-7d4b9c6f5-x2x8k", LogDirectory: "/var/log/pods/default_web-7d4b9c6f5-x2x8k_8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11",
		Labels: many("label", 12), Annotations: many("annotation", 12),
		Linux: &runtimeapi.LinuxPodSandboxConfig{CgroupParent: "/kubepods/burstable/pod8dad9fb5-b9d1-4d93-a5d4-1f6c2e6f7a11"},
	}
	container = &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"}, Image: &runtimeapi.ImageSpec{Image: "registry.example.com/web:v1"},
		Labels: many("label", 8), Annotations: many("annotation", 8), Envs: variables(30),
		Linux: &runtimeapi.LinuxContainerConfig{Resources: &runtimeapi.LinuxContainerResources{CpuShares: 1024, CpuPeriod: 100000, CpuQuota: 200000, MemoryLimitInBytes: 1 << 30}},
	}
)

func many(what string, count int) map[string]string {
	out := map[string]string{}
	for i := range count {
		out[fmt.Sprintf("example.com/%s-%d", what, i)] = fmt.Sprintf("value of %s %d, as long as they usually are", what, i)
	}
	return out
}

func variables(count int) []*runtimeapi.KeyValue {
	var out []*runtimeapi.KeyValue
	for i := range count {
		out = append(out, &runtimeapi.KeyValue{Key: fmt.Sprintf("WEB_SERVICE_PORT_%d", i), Value: fmt.Appendf(nil, "tcp://10.96.0.%d:443", i)})
	}
	return out
}
