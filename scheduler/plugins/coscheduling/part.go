package coscheduling

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/services"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// statusWorkers write the statuses of PodGroups.
const statusWorkers = 1

// Part declares the plugin with the gangs that all profiles share.
func Part() part.Part {
	return part.Part{Name: Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		state, err := gangs.New(cluster.Config, cluster.Pods())
		if err != nil {
			return nil, err
		}
		return Instance(state), nil
	}}
}

// Instance is the part on a state.
func Instance(state *gangs.State) *part.Instance {
	return &part.Instance{
		Name: Name, State: state, Factory: Factory(state),
		Watches:  map[schema.GroupVersionResource]cache.SharedIndexInformer{gangs.Kind.Resource: state.Informer()},
		Seams:    Seams(state),
		Simulate: simulate, View: func() part.View { return &view{state.Fork()} },
		Contents: func([]fwk.NodeInfo) map[string]any {
			members, view := map[string]any{}, state.Fork()
			for _, key := range view.Keys() {
				members["gang "+key.String()] = view.Counts(key)
			}
			return members
		},
		Run: state.Run, Settled: state.Informer().Settled,
		Controllers: func(with *part.Controllers) ([]func(context.Context), error) {
			statuses, err := gangs.NewStatuses(state, with.Objects, with.Pods, statusWorkers)
			if err != nil {
				return nil, err
			}
			return []func(context.Context){statuses.Run}, nil
		},
		Services: []services.Provider{services.Gangs{State: &state.View}},
	}
}
