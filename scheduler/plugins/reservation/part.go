package reservation

import (
	"maps"
	"slices"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Instance is the part on a state, without what brings reservations into a scheduler's queue and cache: scheduler/reservepods adds
// that. The factory of the plugin, and that for explanations, is wrapped; nil leaves it as it is.
func Instance(state *reservations.State, writer reservations.Writer, now func() time.Time, wrap func(frameworkruntime.PluginFactory) frameworkruntime.PluginFactory) *part.Instance {
	if wrap == nil {
		wrap = func(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory { return factory }
	}
	return &part.Instance{
		Name: Name, State: state, Factory: wrap(Factory(state, writer, now)),
		Simulate: func() part.Simulation {
			read := &shown{}
			return part.NewSimulation(wrap(Factory(read, writer, now)), func(v *view) { read.Supposition = v.Supposition })
		},
		View: func() part.View { return &view{state.Suppose()} },
		Contents: func([]fwk.NodeInfo) map[string]any {
			users := map[string]any{}
			for _, view := range state.All() {
				users["reservation "+view.Name] = slices.Sorted(maps.Keys(view.Pods))
			}
			return users
		},
	}
}
