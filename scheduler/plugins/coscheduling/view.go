package coscheduling

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// view is what explanations suppose of the gangs.
type view struct{ *gangs.View }

var (
	_ part.PodEditor      = &view{}
	_ part.PodPlacer      = &view{}
	_ part.Retrier        = &view{}
	_ part.ObjectReplacer = &view{}
)

// shown is the State of the plugin in explanations.
type shown struct{ *gangs.View }

func simulate() part.Simulation {
	state := &shown{}
	return part.NewSimulation(Factory(state), func(v *view) { state.View = v.View })
}

func (v *view) suppose(change func(*gangs.View)) *view {
	forked := &view{v.View.Fork()}
	change(forked.View)
	return forked
}

// WithPod implements part.PodEditor.
func (v *view) WithPod(pod *corev1.Pod) part.View {
	return v.suppose(func(gangs *gangs.View) { gangs.SupposePod(pod) })
}

// Fork implements part.PodPlacer.
func (v *view) Fork() part.PodPlacer { return &view{v.View.Fork()} }

// Place implements part.PodPlacer.
func (v *view) Place(pod *corev1.Pod, _ time.Time) { v.SupposePod(pod) }

// Retrying implements part.Retrier: no member of the pod's gang was refused.
func (v *view) Retrying(pod *corev1.Pod) (part.View, bool) {
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return v, false
	}
	return v.suppose(func(gangs *gangs.View) { gangs.SupposeUntried(key) }), true
}

// WithObject implements part.ObjectReplacer for PodGroups.
func (v *view) WithObject(object any) (part.View, bool) {
	group, ok := object.(*schedulingsigsv1alpha1.PodGroup)
	if !ok {
		return v, false
	}
	return v.suppose(func(gangs *gangs.View) { gangs.Suppose(group) }), true
}
