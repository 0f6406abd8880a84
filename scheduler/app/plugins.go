package app

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/explain"
	"koordinator.sh/koord/scheduler/plugins/coscheduling"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/elasticquota"
	"koordinator.sh/koord/scheduler/plugins/loadaware"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/noderesourcesfitplus"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/plugins/scarceresourceavoidance"
	"koordinator.sh/koord/scheduler/plugins/schedulinghint"
	"koordinator.sh/koord/scheduler/plugins/usageclass"
)

// live is what the scheduler's own plugins go by; explanations suppose something else.
func (s *shared) live() explain.Supposed {
	return explain.Supposed{
		Load: s.cluster, Quotas: s.quotas, Gangs: s.gangs, Reserved: s.reservations, Topologies: s.topologies, Devices: s.devices,
	}
}

// outOfTree is the registry of this project's plugins, on a state that they share.
func (s *shared) outOfTree(supposed explain.Supposed, now func() time.Time) frameworkruntime.Registry {
	return frameworkruntime.Registry{
		loadaware.Name:               loadaware.Factory(supposed.Load, now),
		coscheduling.Name:            coscheduling.Factory(supposed.Gangs),
		elasticquota.Name:            elasticquota.Factory(supposed.Quotas),
		deviceshare.Name:             deviceshare.Factory(supposed.Devices, s.deviceHooks, s.numaHooks),
		reservation.Name:             s.holding(reservation.Factory(supposed.Reserved, s.reservationWriter, now)),
		nodenumaresource.Name:        nodenumaresource.Factory(supposed.Topologies, s.numaHooks),
		defaultprebind.Name:          defaultprebind.New,
		noderesourcesfitplus.Name:    noderesourcesfitplus.New,
		scarceresourceavoidance.Name: scarceresourceavoidance.New,
		schedulinghint.Name:          schedulinghint.New,
		usageclass.Name:              usageclass.New,
	}
}

// holding makes the plugins that place pods on CPUs and devices take those first that the pod's reservation holds.
func (s *shared) holding(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		plugin, err := factory(ctx, args, handle)
		if err != nil {
			return nil, err
		}
		s.numaHooks.Prefer(handle, reservedCPUs)
		s.deviceHooks.Prefer(handle, reservedDevices)
		return plugin, nil
	}
}

func reservedCPUs(state fwk.CycleState, node string) cpuset.CPUSet {
	view, nominated := reservation.Nominated(state, node)
	if !nominated || view.Held == nil {
		return cpuset.CPUSet{}
	}
	held, _ := numa.Held(view.Held)
	return held.CPUs
}

func reservedDevices(state fwk.CycleState, node string) (device.Allocation, bool) {
	view, nominated := reservation.Nominated(state, node)
	if !nominated || view.Held == nil {
		return device.Allocation{}, false
	}
	return device.ReadAllocation(view.Held)
}

// createdPlugins remembers which plugins each profile got.
type createdPlugins struct {
	mutex     sync.Mutex
	byProfile map[string][]fwk.Plugin
}

// remembering is a registry whose factories note what they make.
func (c *createdPlugins) remembering(registry frameworkruntime.Registry) frameworkruntime.Registry {
	noted := frameworkruntime.Registry{}
	for name, factory := range registry {
		noted[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, handle)
			if built, ok := handle.(framework.Framework); ok && err == nil {
				c.add(built.ProfileName(), plugin)
			}
			return plugin, err
		}
	}
	return noted
}

func (c *createdPlugins) add(profile string, plugin fwk.Plugin) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byProfile == nil {
		c.byProfile = map[string][]fwk.Plugin{}
	}
	c.byProfile[profile] = append(c.byProfile[profile], plugin)
}

// of returns the plugins of a profile.
func (c *createdPlugins) of(profile string) []fwk.Plugin {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.byProfile[profile]
}
