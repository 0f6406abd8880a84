package nodenumaresource

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// HintProvider is a plugin that allocates resources with a place on NUMA zones, such as devices. It is asked on nodes on
// which the pod is aligned, in the Filter and the Reserve of this plugin. Its methods must be safe for concurrent use,
// change nothing that is shared, and need no more of the cycle than what the plugin's own PreFilter wrote.
type HintProvider interface {
	fwk.Plugin
	// NUMAHints returns, for each resource that the pod asks of the plugin, the sets of zones that can give it, as
	// numa.Merge expects them. No resources means that the plugin does not care. A status that is no success refuses the
	// node.
	NUMAHints(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (map[string][]numa.Hint, *fwk.Status)
	// CheckNUMAAffinity says whether the plugin can allocate on the zones that all resources agreed on; the zero Mask is any
	// zone.
	CheckNUMAAffinity(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, affinity numa.Hint) *fwk.Status
}

// PreferredCPUs says which CPUs of a node the pod should get first, such as those that its reservation holds. It is
// called in Filter and in Reserve, and must be safe for concurrent use.
type PreferredCPUs func(state fwk.CycleState, node string) cpuset.CPUSet

// Hooks is where plugins of one profile find each other, whatever order they are made in: each registers under the handle
// that its factory was given. It is safe for concurrent use.
type Hooks struct {
	mutex    sync.RWMutex
	profiles map[fwk.Handle]profile
}

// profile is what the plugins of one profile contribute. It is replaced, never changed.
type profile struct {
	providers []HintProvider
	prefer    []PreferredCPUs
}

// NewHooks returns Hooks without anything registered. All plugins of a scheduler share one.
func NewHooks() *Hooks { return &Hooks{profiles: map[fwk.Handle]profile{}} }

// Provide registers a hint provider of the profile that the handle belongs to.
func (h *Hooks) Provide(handle fwk.Handle, provider HintProvider) {
	h.edit(handle, func(p *profile) { p.providers = append(p.providers[:len(p.providers):len(p.providers)], provider) })
}

// Prefer registers a source of CPUs to be taken first.
func (h *Hooks) Prefer(handle fwk.Handle, prefer PreferredCPUs) {
	h.edit(handle, func(p *profile) { p.prefer = append(p.prefer[:len(p.prefer):len(p.prefer)], prefer) })
}

func (h *Hooks) edit(handle fwk.Handle, change func(*profile)) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	found := h.profiles[handle]
	change(&found)
	h.profiles[handle] = found
}

func (h *Hooks) of(handle fwk.Handle) profile {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return h.profiles[handle]
}

// preferred unites what is preferred on a node.
func (p profile) preferred(state fwk.CycleState, node string) cpuset.CPUSet {
	var cpus cpuset.CPUSet
	for _, prefer := range p.prefer {
		cpus = cpus.Union(prefer(state, node))
	}
	return cpus
}
