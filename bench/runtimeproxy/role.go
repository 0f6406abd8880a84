package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// with starts a runtime, a server of hooks if there is to be one, and the proxy between them, and ends them afterwards.
func with(ctx context.Context, directory, program, hooks string, do func(direct, proxied runtimeapi.RuntimeServiceClient) error) (err error) {
	at := func(name string) string { return filepath.Join(directory, name) }
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(at("hooks"), 0o755), registerHooks(hooks, at("hooks"), at("h.sock"))); err != nil {
		return err
	}
	between := []string{program, "--koord-runtimeproxy-endpoint=" + at("p.sock"), "--remote-runtime-service-endpoint=" + at("r.sock"),
		"--runtime-hook-server-directory=" + at("hooks"), "--state-dir=" + at("state")}
	if hooks == copying {
		between = []string{self, "-role=" + copying, "-socket=" + at("p.sock"), "-to=" + at("r.sock")}
	}
	commands := [][]string{{self, "-role=runtime", "-socket=" + at("r.sock")}, between}
	if hooks == "answering" {
		commands = append([][]string{{self, "-role=hooks", "-socket=" + at("h.sock")}}, commands...)
	}
	for _, command := range commands {
		stop, problem := start(ctx, command)
		if problem != nil {
			return problem
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	direct, closeDirect, err := dial(at("r.sock"))
	if err != nil {
		return err
	}
	proxied, closeProxied, err := dial(at("p.sock"))
	if err != nil {
		return err
	}
	if err = await(ctx, proxied); err == nil {
		err = do(direct, proxied)
	}
	return errors.Join(err, closeDirect(), closeProxied())
}

// await an answer through the proxy, which does not wait for a runtime that starts.
func await(ctx context.Context, proxied runtimeapi.RuntimeServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := proxied.Version(ctx, &runtimeapi.VersionRequest{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the proxy: %w", err)
		case <-tick.C:
		}
	}
}

func start(ctx context.Context, command []string) (stop func() error, err error) {
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	return func() error { return errors.Join(process.Process.Signal(syscall.SIGTERM), process.Wait()) }, nil
}

// registerHooks writes the registration of a server that answers, or is away.
func registerHooks(hooks, directory, socket string) error {
	if hooks == "none" || hooks == copying {
		return nil
	}
	content, err := json.Marshal(hookapi.Registration{Endpoint: socket, Policy: hookapi.Ignore, Hooks: hookapi.Hooks()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, "bench.json"), content, 0o644)
}

// play is what a process that measure starts does, until its context ends.
func play(ctx context.Context, role, socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	if role == "hooks" {
		hookapi.Register(server, answers{})
	} else {
		runtimeapi.RegisterRuntimeServiceServer(server, newRuntime())
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	timer := time.AfterFunc(time.Second, server.Stop)
	defer timer.Stop()
	server.GracefulStop()
	return nil
}

// answers changes one value of every container.
type answers struct{}

// Pod implements hookapi.Server.
func (answers) Pod(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
	return &hookapi.PodSandboxHookResponse{Annotations: map[string]string{"seen": "yes"}}, nil
}

// Container implements hookapi.Server.
func (answers) Container(context.Context, hookapi.Hook, *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
	return &hookapi.ContainerResourceHookResponse{ContainerResources: &hookapi.LinuxContainerResources{CpuShares: 512}}, nil
}

// runtime answers at once.
type runtime struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	containers []*runtimeapi.Container
}

func newRuntime() *runtime {
	out := &runtime{}
	for i := range 500 {
		out.containers = append(out.containers, &runtimeapi.Container{
			Id: fmt.Sprintf("%064d", i), PodSandboxId: fmt.Sprintf("%064d", i/2), Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
			Image: &runtimeapi.ImageSpec{Image: "registry.example.com/web:v1"}, Labels: many("label", 6), Annotations: many("annotation", 4),
		})
	}
	return out
}

func (r *runtime) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "bench", RuntimeVersion: "v1", RuntimeApiVersion: "v1"}, nil
}

func (r *runtime) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	return &runtimeapi.ListPodSandboxResponse{}, nil
}

func (r *runtime) ListContainers(context.Context, *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	return &runtimeapi.ListContainersResponse{Containers: r.containers}, nil
}

func (r *runtime) RunPodSandbox(context.Context, *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: "s"}, nil
}

func (r *runtime) CreateContainer(context.Context, *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	return &runtimeapi.CreateContainerResponse{ContainerId: "c"}, nil
}

func (r *runtime) StartContainer(context.Context, *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	return &runtimeapi.StartContainerResponse{}, nil
}

func (r *runtime) UpdateContainerResources(context.Context, *runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}

func (r *runtime) GetContainerEvents(_ *runtimeapi.GetEventsRequest, stream runtimeapi.RuntimeService_GetContainerEventsServer) error {
	for range 10 {
		if err := stream.Send(&runtimeapi.ContainerEventResponse{ContainerId: "c"}); err != nil {
			return err
		}
	}
	return nil
}
