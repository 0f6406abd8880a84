package elasticquota

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/elasticquota/controller"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// Part declares the plugin with the quotas that all profiles share.
func Part() part.Part {
	return part.Part{Name: Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		state, err := quotas.New(cluster.Config, cluster.Pods(), cluster.Nodes())
		if err != nil {
			return nil, err
		}
		return Instance(state), nil
	}}
}

// Instance is the part on a state.
func Instance(state *quotas.State) *part.Instance {
	return &part.Instance{
		Name: Name, State: state, Factory: Factory(state),
		Watches:  map[schema.GroupVersionResource]cache.SharedIndexInformer{quotas.Kind.Resource: state.Informer()},
		Simulate: simulate, View: func() part.View { return &view{state.Fork()} },
		Contents: func([]fwk.NodeInfo) map[string]any {
			statuses := map[string]any{}
			for quota := range state.Fork().Quotas {
				statuses["quota "+quota.Spec.Name] = quota.Status
			}
			return statuses
		},
		Explains: map[string]part.Explain{"quota": explainQuota(state)},
		Run:      state.Run, Settled: state.Informer().Settled,
		Controllers: func(with *part.Controllers) ([]func(context.Context), error) {
			written := controller.New(controller.Config{State: state, Quotas: with.Objects, Pods: with.Pods, Recorder: with.Recorder, Now: with.Now})
			return []func(context.Context){written.Run}, nil
		},
	}
}
