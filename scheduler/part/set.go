package part

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/services"
)

// Set is the parts of one scheduler, in the order of their list.
type Set []*Instance

// Connect connects all parts to one cluster.
func Connect(parts []Part, cluster *Cluster) (Set, error) {
	set := make(Set, 0, len(parts))
	for _, p := range parts {
		instance, err := p.New(cluster)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", p.Name, err)
		}
		set = append(set, instance)
	}
	return set, nil
}

// Find returns the first state of the set that is a T.
func Find[T any](set Set) (found T, ok bool) {
	for _, instance := range set {
		if found, ok = instance.State.(T); ok {
			return found, true
		}
	}
	return found, false
}

// Registry makes the plugins.
func (s Set) Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for _, instance := range s {
		registry[instance.Name] = instance.Factory
	}
	return registry
}

// Views are those of all parts, in order; nil for a part without.
func (s Set) Views() []View {
	all := make([]View, len(s))
	for i, instance := range s {
		if instance.View != nil {
			all[i] = instance.View()
		}
	}
	return all
}

// Watches are those of all parts.
func (s Set) Watches() map[schema.GroupVersionResource]cache.SharedIndexInformer {
	all := map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	for _, instance := range s {
		maps.Copy(all, instance.Watches)
	}
	return all
}

// Seams are those of all parts.
func (s Set) Seams() []frameworkext.Seams {
	all := make([]frameworkext.Seams, len(s))
	for i, instance := range s {
		all[i] = instance.Seams
	}
	return all
}

// Services are those of all parts.
func (s Set) Services() []services.Provider {
	var all []services.Provider
	for _, instance := range s {
		all = append(all, instance.Services...)
	}
	return all
}

// Explains are those of all parts, each about kinds of its own.
func (s Set) Explains() map[string]Explain {
	all := map[string]Explain{}
	for _, instance := range s {
		maps.Copy(all, instance.Explains)
	}
	return all
}

// Controllers are those of all parts.
func (s Set) Controllers(with *Controllers) ([]func(context.Context), error) {
	var all []func(context.Context)
	for _, instance := range s {
		if instance.Controllers == nil {
			continue
		}
		made, err := instance.Controllers(with)
		if err != nil {
			return nil, fmt.Errorf("set up the controllers of %s: %w", instance.Name, err)
		}
		all = append(all, made...)
	}
	return all, nil
}

// Run runs all parts until the context ends.
func (s Set) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, instance := range s {
		if instance.Run != nil {
			group.Go(func() { instance.Run(ctx) })
		}
	}
	group.Wait()
}

// Discard ends what the parts of a scheduler started that never runs.
func (s Set) Discard() {
	for _, instance := range s {
		if instance.Discard != nil {
			instance.Discard()
		}
	}
}

// Contents are those of all parts, by the part's name and what they are about.
func (s Set) Contents(nodes []fwk.NodeInfo) map[string]any {
	all := map[string]any{}
	for _, instance := range s {
		if instance.Contents == nil {
			continue
		}
		for subject, contents := range instance.Contents(nodes) {
			all[instance.Name+": "+subject] = contents
		}
	}
	return all
}

// Changes sums up those of all parts.
func (s Set) Changes() uint64 {
	var sum uint64
	for _, instance := range s {
		if instance.Changes != nil {
			sum += instance.Changes()
		}
	}
	return sum
}

// settleLogTimeout is how long the wait for custom resources lasts before it is logged.
const settleLogTimeout = 10 * time.Second

// WaitSettled waits until all parts are settled, or the context ends.
func (s Set) WaitSettled(ctx context.Context) {
	settled := func(context.Context) (bool, error) {
		return !slices.ContainsFunc(s, func(i *Instance) bool { return i.Settled != nil && !i.Settled() }), nil
	}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, settleLogTimeout, true, settled)
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Info("Still waiting for custom resources; no pod is scheduled before they are known")
		_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, settled) // ends with the context
	}
}
