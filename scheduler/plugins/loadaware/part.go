package loadaware

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state"
)

// Part declares the plugin with the NodeMetrics and the assigned pods that all profiles share.
func Part() part.Part {
	return part.Part{Name: Name, New: func(cluster *part.Cluster) (*part.Instance, error) {
		shared, err := state.NewCluster(cluster.Config, cluster.Pods())
		if err != nil {
			return nil, err
		}
		instance := Instance(shared, cluster.Now)
		instance.Watches = map[schema.GroupVersionResource]cache.SharedIndexInformer{state.NodeMetricResource: shared.NodeMetrics()}
		instance.Run = shared.Run
		return instance, nil
	}}
}

// Instance is the part on a state that somebody else keeps up to date.
func Instance(shared State, now func() time.Time) *part.Instance {
	return &part.Instance{
		Name: Name, State: shared, Factory: Factory(shared, now),
		Simulate: func() part.Simulation { return simulate(now) },
		View:     func() part.View { return &view{Reader: shared} },
		Changes:  shared.MetricsChanged,
		Contents: func(nodes []fwk.NodeInfo) map[string]any {
			assigned := map[string]any{}
			for _, node := range nodes {
				assigned["pods on "+node.Node().Name] = uidsOf(shared.Assigned(node.Node().Name))
			}
			return assigned
		},
	}
}

func uidsOf(assigned state.Assigned) []types.UID {
	uids := make([]types.UID, 0, len(assigned.Pods))
	for _, pod := range assigned.Pods {
		uids = append(uids, pod.Pod.UID)
	}
	slices.Sort(uids)
	return uids
}
