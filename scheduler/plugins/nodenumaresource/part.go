package nodenumaresource

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/topologies"
)

// Part declares the plugin with the CPU topologies that all profiles share.
func Part() part.Part {
	return part.Part{Name: Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		state, err := StateOf(cluster)
		if err != nil {
			return nil, err
		}
		return Instance(state, HooksOf(cluster)), nil
	}}
}

// StateOf is the state that the plugins of a cluster share.
func StateOf(cluster *part.Cluster) (*topologies.State, error) {
	return part.Shared(cluster, func() (*topologies.State, error) {
		return topologies.New(cluster.Config, cluster.Pods(), cluster.Nodes())
	})
}

// HooksOf is where the plugins of a cluster find this one.
func HooksOf(cluster *part.Cluster) *Hooks {
	hooks, _ := part.Shared(cluster, func() (*Hooks, error) { return NewHooks(), nil }) // which cannot fail
	return hooks
}

// Instance is the part on a state.
func Instance(state *topologies.State, hooks *Hooks) *part.Instance {
	return &part.Instance{
		Name: Name, State: state, Factory: Factory(state, hooks),
		Watches:  map[schema.GroupVersionResource]cache.SharedIndexInformer{topologies.Resource: state.Informer()},
		Simulate: func() part.Simulation { return simulate(state, hooks) },
		View:     func() part.View { return &view{State: state} },
		Run:      state.Run, Settled: state.Informer().Settled, Changes: state.Changes,
		Contents: func(nodes []fwk.NodeInfo) map[string]any {
			ledgers := map[string]any{}
			for _, node := range nodes {
				ledgers["CPUs of "+node.Node().Name] = state.Ledger(node)
			}
			return ledgers
		},
	}
}
