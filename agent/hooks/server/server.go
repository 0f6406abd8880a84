// Package server answers koord-runtime-proxy, for container runtimes that have no NRI.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/cfs"
	"koordinator.sh/koord/runtimeproxy/hookapi"
	"koordinator.sh/koord/runtimeproxy/peer"
)

// Options of a server.
type Options struct {
	Advisor *hooks.Advisor
	// Endpoint is the Unix socket to listen on. Its directory is made when it is not there.
	Endpoint string
	// Directory is where the proxy looks for registrations, and Policy what it does while the server is away.
	Directory string
	Policy    hookapi.FailurePolicy
}

// registration is the name of the file by which the server makes itself known.
const registration = "koordlet.json"

// largest message, in bytes: annotations of pods can be long.
const largest = 64 << 20

// Run serves until the context ends. It makes the server known once it listens, and takes that back at the end.
func Run(ctx context.Context, options Options) error {
	if err := os.MkdirAll(filepath.Dir(options.Endpoint), 0o755); err != nil {
		return fmt.Errorf("serve hooks: %w", err)
	}
	listener, err := peer.Listen(options.Endpoint)
	if err != nil {
		return fmt.Errorf("serve hooks: %w", err)
	}
	server := grpc.NewServer(grpc.Creds(peer.Credentials()), grpc.MaxRecvMsgSize(largest))
	hookapi.Register(server, &answers{advisor: options.Advisor, told: map[key]map[cgroup.Setting]int64{}})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := register(options); err != nil {
		server.Stop()
		return errors.Join(err, <-served)
	}
	klog.FromContext(ctx).Info("hooks are served", "endpoint", options.Endpoint, "registration", filepath.Join(options.Directory, registration))
	select {
	case err := <-served:
		return fmt.Errorf("serve hooks: %w", err)
	case <-ctx.Done():
	}
	err = os.Remove(filepath.Join(options.Directory, registration))
	server.Stop()
	<-served
	if err != nil {
		return fmt.Errorf("take back the registration of hooks: %w", err)
	}
	return nil
}

// register puts the file in its place at once, so that nobody reads half of it.
func register(options Options) error {
	content, err := json.Marshal(hookapi.Registration{
		Endpoint: options.Endpoint, Policy: options.Policy, Hooks: []hookapi.Hook{
			hookapi.PreRunPodSandbox, hookapi.PostStopPodSandbox, hookapi.PreCreateContainer, hookapi.PostStartContainer, hookapi.PreUpdateContainerResources,
		},
	})
	if err != nil {
		return fmt.Errorf("register hooks: %w", err)
	}
	if err := os.MkdirAll(options.Directory, 0o755); err != nil {
		return fmt.Errorf("register hooks: %w", err)
	}
	beside := filepath.Join(options.Directory, "."+registration)
	if err := os.WriteFile(beside, content, 0o644); err != nil {
		return fmt.Errorf("register hooks: %w", err)
	}
	if err := os.Rename(beside, filepath.Join(options.Directory, registration)); err != nil {
		return fmt.Errorf("register hooks: %w", err)
	}
	return nil
}

// key of a container that is about to be made.
type key struct {
	pod, container string
	attempt        uint32
}

// answers implements hookapi.Server.
type answers struct {
	advisor *hooks.Advisor

	mu sync.Mutex
	// told is what kubelet told of containers that are made and not yet started.
	told map[key]map[cgroup.Setting]int64
}

// Pod implements hookapi.Server.
func (a *answers) Pod(ctx context.Context, hook hookapi.Hook, r *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
	if hook == hookapi.PreRunPodSandbox {
		a.advisor.Pod(ctx, sandboxOf(r.GetPodMeta(), r.GetLabels(), r.GetAnnotations(), r.GetCgroupParent()))
		return &hookapi.PodSandboxHookResponse{}, nil
	}
	uid := r.GetPodMeta().GetUid()
	a.mu.Lock()
	for key := range a.told {
		if key.pod == uid {
			delete(a.told, key)
		}
	}
	a.mu.Unlock()
	a.advisor.Forget(uid)
	return &hookapi.PodSandboxHookResponse{}, nil
}

// Container implements hookapi.Server.
func (a *answers) Container(ctx context.Context, hook hookapi.Hook, r *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
	sandbox := sandboxOf(r.GetPodMeta(), r.GetPodLabels(), r.GetPodAnnotations(), r.GetPodCgroupParent())
	meta := r.GetContainerMata()
	at := key{sandbox.UID, meta.GetName(), meta.GetAttempt()}
	switch hook {
	case hookapi.PreCreateContainer:
		a.mu.Lock()
		a.told[at] = valuesOf(r.GetContainerResources())
		a.mu.Unlock()
		return answerOf(a.advisor.Container(ctx, sandbox, meta.GetName(), meta.GetId()), r.GetContainerResources(), true), nil
	case hookapi.PreUpdateContainerResources:
		return answerOf(a.advisor.Container(ctx, sandbox, meta.GetName(), meta.GetId()), r.GetContainerResources(), false), nil
	case hookapi.PostStartContainer: // before that, it has no cgroup
		a.mu.Lock()
		told := a.told[at]
		delete(a.told, at)
		a.mu.Unlock()
		a.advisor.Started(ctx, sandbox, meta.GetName(), meta.GetId(), "", told)
	}
	return &hookapi.ContainerResourceHookResponse{}, nil
}

func sandboxOf(meta *hookapi.PodSandboxMetadata, labels, annotations map[string]string, parent string) hooks.Sandbox {
	return hooks.Sandbox{Namespace: meta.GetNamespace(), Name: meta.GetName(), UID: meta.GetUid(), Labels: labels, Annotations: annotations, CgroupParent: parent}
}

// valuesOf are the values that kubelet told; zero says nothing.
func valuesOf(r *hookapi.LinuxContainerResources) map[cgroup.Setting]int64 {
	out := map[cgroup.Setting]int64{}
	for setting, value := range map[cgroup.Setting]int64{
		cgroup.CPUShares: r.GetCpuShares(), cgroup.CPUQuota: r.GetCpuQuota(), cgroup.MemoryLimit: r.GetMemoryLimitInBytes(),
	} {
		if value != 0 {
			out[setting] = value
		}
	}
	return out
}

// answerOf an adjustment. What is there already is left out, and so is no limit where there was none. Environments and scores are
// of containers that are made; the protocol has no devices.
func answerOf(wanted hooks.Adjustment, there *hookapi.LinuxContainerResources, made bool) *hookapi.ContainerResourceHookResponse {
	told, resources := valuesOf(there), &hookapi.LinuxContainerResources{Unified: wanted.Unified, CpusetCpus: wanted.CPUs}
	take := func(to, value *int64, setting cgroup.Setting) {
		if value != nil && *value != told[setting] && (*value > 0 || told[setting] > 0) {
			*to = *value
		}
	}
	take(&resources.CpuShares, wanted.CPUShares, cgroup.CPUShares)
	take(&resources.CpuQuota, wanted.CPUQuota, cgroup.CPUQuota)
	take(&resources.MemoryLimitInBytes, wanted.MemoryLimit, cgroup.MemoryLimit)
	if resources.CpuQuota != 0 {
		resources.CpuPeriod = cfs.Period
	}
	out := &hookapi.ContainerResourceHookResponse{ContainerResources: resources}
	if made {
		out.ContainerEnvs = wanted.Env
		if wanted.OOMScore != nil {
			resources.OomScoreAdj = *wanted.OOMScore
		}
	}
	return out
}
