package nri

import (
	"context"
	"path"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/hooks"
)

// Plugin answers the runtime. It never fails a call: what it cannot decide stays as requested, and the agent sets it
// later. All methods may be called at the same time.
type Plugin struct {
	advisor   *hooks.Advisor
	connected func()
	// pending containers by ID.
	pending *hooks.Pending
}

func newPlugin(options Options) *Plugin {
	return &Plugin{advisor: options.Advisor, connected: options.Connected, pending: hooks.NewPending(options.Clock)}
}

// Synchronize is called after the plugin has connected, with all existing pods and containers. Containers that were created meanwhile
// and have not started get the adjustment they missed. Running containers are left to the agent, which saves the original values before
// it writes; a runtime does not.
func (p *Plugin) Synchronize(ctx context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	sandboxes := make(map[string]*api.PodSandbox, len(pods))
	for _, pod := range pods {
		sandboxes[pod.GetId()] = pod
	}
	p.pending.Clear()
	var updates []*api.ContainerUpdate
	for _, container := range containers {
		pod := sandboxes[container.GetPodSandboxId()]
		if pod == nil || container.GetState() != api.ContainerState_CONTAINER_CREATED {
			continue
		}
		resources := container.GetLinux().GetResources()
		p.pending.Made(pod.GetUid(), container.GetId(), resourcesOf(resources))
		if update := p.update(ctx, pod, container, resources); update != nil {
			update.SetIgnoreFailure() // it may have ended since
			updates = append(updates, update)
		}
	}
	klog.FromContext(ctx).Info("Connected to the container runtime", "pods", len(pods), "containers", len(containers), "changed", len(updates))
	if p.connected != nil {
		p.connected()
	}
	return updates, nil
}

// RunPodSandbox is called when the pod's cgroup is there, and no container is.
func (p *Plugin) RunPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	p.advisor.Pod(ctx, sandboxOf(pod))
	return nil
}

// RemovePodSandbox ends what is remembered of a pod.
func (p *Plugin) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	p.pending.Forget(pod.GetUid())
	p.advisor.Forget(pod.GetUid())
	return nil
}

// CreateContainer says what is to be different of a container that is about to be made.
func (p *Plugin) CreateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjustment := p.advisor.Container(ctx, sandboxOf(pod), container.GetName(), container.GetId())
	if adjustment.Refused != nil { // kubelet tries again
		return nil, nil, adjustment.Refused
	}
	resources := container.GetLinux().GetResources()
	p.pending.Made(pod.GetUid(), container.GetId(), resourcesOf(resources))
	return adjust(adjustment, resources), nil, nil
}

// StartContainer is called when the container's cgroup is there, and its process waits to be let go.
func (p *Plugin) StartContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	reported := p.pending.Started(container.GetId())
	if directory := directoryOf(container); directory != "" {
		p.advisor.Started(ctx, sandboxOf(pod), container.GetName(), container.GetId(), directory, reported)
	}
	return nil
}

// UpdateContainer has the runtime keep what the agent wants where kubelet wants something else.
func (p *Plugin) UpdateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container, resources *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	if update := p.update(ctx, pod, container, resources); update != nil {
		return []*api.ContainerUpdate{update}, nil
	}
	return nil, nil
}

func (p *Plugin) update(ctx context.Context, pod *api.PodSandbox, container *api.Container, resources *api.LinuxResources) *api.ContainerUpdate {
	adjustment := p.advisor.Container(ctx, sandboxOf(pod), container.GetName(), container.GetId())
	update := &api.ContainerUpdate{}
	if !set(update, adjustment, resources) {
		return nil
	}
	update.SetContainerId(container.GetId())
	return update
}

func sandboxOf(pod *api.PodSandbox) hooks.Sandbox {
	return hooks.Sandbox{
		Namespace: pod.GetNamespace(), Name: pod.GetName(), UID: pod.GetUid(), Labels: pod.GetLabels(), Annotations: pod.GetAnnotations(),
		CgroupParent: pod.GetLinux().GetCgroupParent(),
	}
}

// directoryOf is the name of a container's cgroup in that of its pod; empty when it is not known.
func directoryOf(container *api.Container) string {
	at := container.GetLinux().GetCgroupsPath()
	if parts := strings.Split(at, ":"); len(parts) == 3 { // slice:prefix:name is how systemd's are named
		return parts[1] + "-" + parts[2] + ".scope"
	}
	if directory := path.Base(at); directory != "." && directory != "/" && directory != ".." {
		return directory
	}
	return ""
}
