package reservepods

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/reservation"
)

// preferReserved makes the plugins that place pods on CPUs and devices take those first that the pod's reservation holds.
func preferReserved(factory frameworkruntime.PluginFactory, cpus *nodenumaresource.Hooks, devices *deviceshare.Hooks) frameworkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		plugin, err := factory(ctx, args, handle)
		if err != nil {
			return nil, err
		}
		cpus.Prefer(handle, reservedCPUs)
		devices.Prefer(handle, reservedDevices)
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
