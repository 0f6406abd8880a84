package deviceshare

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/deviceshare/orphans"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/state/devices"
)

// Part declares the plugin with the devices that all profiles share.
func Part() part.Part {
	return part.Part{Name: Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		state, err := StateOf(cluster)
		if err != nil {
			return nil, err
		}
		return Instance(state, HooksOf(cluster), nodenumaresource.HooksOf(cluster)), nil
	}}
}

// StateOf is the state that the plugins of a cluster share.
func StateOf(cluster *part.Cluster) (*devices.State, error) {
	return part.Shared(cluster, func() (*devices.State, error) {
		return devices.New(cluster.Config, cluster.Pods(), cluster.Nodes())
	})
}

// HooksOf is where the plugins of a cluster find this one.
func HooksOf(cluster *part.Cluster) *Hooks {
	hooks, _ := part.Shared(cluster, func() (*Hooks, error) { return NewHooks(), nil }) // which cannot fail
	return hooks
}

// Instance is the part on a state.
func Instance(state *devices.State, hooks *Hooks, alignment *nodenumaresource.Hooks) *part.Instance {
	return &part.Instance{
		Name: Name, State: state, Factory: Factory(state, hooks, alignment),
		Watches:  map[schema.GroupVersionResource]cache.SharedIndexInformer{devices.Resource: state.Informer()},
		Simulate: func() part.Simulation { return simulate(state, hooks, alignment) },
		View:     func() part.View { return &view{State: state} },
		Run:      state.Run, Settled: state.Settled,
		Contents: func(nodes []fwk.NodeInfo) map[string]any {
			ledgers := map[string]any{}
			for _, node := range nodes {
				ledgers["devices of "+node.Node().Name] = state.Ledger(node)
			}
			return ledgers
		},
		Controllers: func(with *part.Controllers) ([]func(context.Context), error) {
			core := with.Informers.Core().V1()
			controller := orphans.New(orphans.Config{State: state, Pods: core.Pods().Lister(), Nodes: core.Nodes().Lister(), Recorder: with.Recorder, Now: with.Now})
			return []func(context.Context){controller.Run}, nil
		},
	}
}
