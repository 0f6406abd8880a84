// Package server answers koord-runtime-proxy, for container runtimes that have no NRI.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cfs"
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
	// Clock is real time where it is nil.
	Clock clock.PassiveClock
}

// registration is the name of the file by which the server makes itself known.
const registration = "koordlet.json"

// largest message, in bytes: annotations of pods can be long.
const largest = 64 << 20

// Run serves until the context ends. It makes the server known once it listens, and takes that back when it does no longer.
func Run(ctx context.Context, options Options) (err error) {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if err := os.MkdirAll(filepath.Dir(options.Endpoint), 0o755); err != nil {
		return fmt.Errorf("serve runtime hooks: %w", err)
	}
	listener, err := peer.Listen(options.Endpoint)
	if err != nil {
		return fmt.Errorf("serve runtime hooks: %w", err)
	}
	server := grpc.NewServer(grpc.Creds(peer.Credentials()), grpc.MaxRecvMsgSize(largest))
	hookapi.Register(server, &answers{advisor: options.Advisor, pending: hooks.NewPending(options.Clock)})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := register(options); err != nil {
		server.Stop()
		return errors.Join(err, <-served)
	}
	klog.FromContext(ctx).Info("Serving runtime hooks", "endpoint", options.Endpoint, "registration", filepath.Join(options.Directory, registration))
	select {
	case problem := <-served:
		return errors.Join(fmt.Errorf("serve runtime hooks: %w", problem), unregister(options))
	case <-ctx.Done():
	}
	err = unregister(options)
	server.Stop()
	<-served
	return err
}

// unregister takes the file away; it may have gone.
func unregister(options Options) error {
	if err := os.Remove(filepath.Join(options.Directory, registration)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unregister runtime hooks: %w", err)
	}
	return nil
}

// register puts the file in its place at once, so that no reader sees half of it.
func register(options Options) error {
	content, err := json.Marshal(hookapi.Registration{
		Endpoint: options.Endpoint, Policy: options.Policy, Hooks: []hookapi.Hook{
			hookapi.PreRunPodSandbox, hookapi.PostStopPodSandbox, hookapi.PreCreateContainer, hookapi.PostStartContainer, hookapi.PreUpdateContainerResources,
		},
	})
	if err != nil {
		return fmt.Errorf("register runtime hooks: %w", err)
	}
	if err := os.MkdirAll(options.Directory, 0o755); err != nil {
		return fmt.Errorf("register runtime hooks: %w", err)
	}
	beside := filepath.Join(options.Directory, "."+registration)
	if err := os.WriteFile(beside, content, 0o644); err != nil {
		return fmt.Errorf("register runtime hooks: %w", err)
	}
	if err := os.Rename(beside, filepath.Join(options.Directory, registration)); err != nil {
		return fmt.Errorf("register runtime hooks: %w", err)
	}
	return nil
}

// answers implements hookapi.Server.
type answers struct {
	advisor *hooks.Advisor
	// pending containers by keyOf, because they have no ID before they are made.
	pending *hooks.Pending
}

// Pod implements hookapi.Server.
func (a *answers) Pod(ctx context.Context, hook hookapi.Hook, r *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
	if hook == hookapi.PreRunPodSandbox {
		a.advisor.Pod(ctx, sandboxOf(r.GetPodMeta(), r.GetLabels(), r.GetAnnotations(), r.GetCgroupParent()))
		return &hookapi.PodSandboxHookResponse{}, nil
	}
	a.pending.Forget(r.GetPodMeta().GetUid())
	a.advisor.Forget(r.GetPodMeta().GetUid())
	return &hookapi.PodSandboxHookResponse{}, nil
}

// Container implements hookapi.Server.
func (a *answers) Container(ctx context.Context, hook hookapi.Hook, r *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
	sandbox := sandboxOf(r.GetPodMeta(), r.GetPodLabels(), r.GetPodAnnotations(), r.GetPodCgroupParent())
	meta := r.GetContainerMata()
	switch hook {
	case hookapi.PreCreateContainer:
		a.pending.Made(sandbox.UID, keyOf(sandbox.UID, meta), resourcesOf(r.GetContainerResources()))
		wanted := a.advisor.Container(ctx, sandbox, meta.GetName(), meta.GetId())
		if wanted.Refused != nil { // kubelet tries again
			return nil, wanted.Refused
		}
		return answerOf(wanted, r.GetContainerResources(), true), nil
	case hookapi.PreUpdateContainerResources:
		return answerOf(a.advisor.Container(ctx, sandbox, meta.GetName(), meta.GetId()), r.GetContainerResources(), false), nil
	case hookapi.PostStartContainer: // before that, it has no cgroup
		a.advisor.Started(ctx, sandbox, meta.GetName(), meta.GetId(), "", a.pending.Started(keyOf(sandbox.UID, meta)))
	}
	return &hookapi.ContainerResourceHookResponse{}, nil
}

// keyOf a container of a pod, one for each attempt.
func keyOf(pod string, meta *hookapi.ContainerMetadata) string {
	return fmt.Sprintf("%s/%s/%d", pod, meta.GetName(), meta.GetAttempt())
}

func sandboxOf(meta *hookapi.PodSandboxMetadata, labels, annotations map[string]string, parent string) hooks.Sandbox {
	return hooks.Sandbox{Namespace: meta.GetNamespace(), Name: meta.GetName(), UID: meta.GetUid(), Labels: labels, Annotations: annotations, CgroupParent: parent}
}

// resourcesOf are those that kubelet requested; zero is not requested.
func resourcesOf(r *hookapi.LinuxContainerResources) *hooks.Resources {
	return &hooks.Resources{
		Values: map[cgroup.Setting]int64{
			cgroup.CPUShares: r.GetCpuShares(), cgroup.CPUQuota: r.GetCpuQuota(), cgroup.MemoryLimit: r.GetMemoryLimitInBytes(),
		},
		CPUs: r.GetCpusetCpus(), Unified: r.GetUnified(),
	}
}

// answerOf an adjustment. Amounts that are there already are left out, and so is no limit where there was none; the proxy sees by itself
// what of the rest is new. Environments and scores are of containers that are made; the protocol has no devices.
func answerOf(wanted hooks.Adjustment, there *hookapi.LinuxContainerResources, made bool) *hookapi.ContainerResourceHookResponse {
	reported, resources := resourcesOf(there).Values, &hookapi.LinuxContainerResources{Unified: wanted.Unified, CpusetCpus: wanted.CPUs}
	take := func(to, value *int64, setting cgroup.Setting) {
		if value != nil && *value != reported[setting] && (*value > 0 || reported[setting] > 0) {
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
