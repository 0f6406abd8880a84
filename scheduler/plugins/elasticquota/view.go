package elasticquota

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// view is what explanations suppose of the quotas.
type view struct{ *quotas.View }

var (
	_ part.PodRemover     = &view{}
	_ part.PodEditor      = &view{}
	_ part.PodPlacer      = &view{}
	_ part.ObjectReplacer = &view{}
)

// shown is the State of the plugin in explanations.
type shown struct{ *quotas.View }

func simulate() part.Simulation {
	state := &shown{}
	return part.NewSimulation(Factory(state), func(v *view) { state.View = v.View })
}

func (v *view) suppose(change func(*quotas.View)) *view {
	forked := &view{v.View.Fork()}
	change(forked.View)
	return forked
}

// WithoutPod implements part.PodRemover: the pod stops to ask for anything, too.
func (v *view) WithoutPod(pod *corev1.Pod, _ fwk.NodeInfo) (part.View, error) {
	return v.suppose(func(quotas *quotas.View) { quotas.SupposeGone(pod.UID) }), nil
}

// WithPod implements part.PodEditor.
func (v *view) WithPod(pod *corev1.Pod) part.View {
	return v.suppose(func(quotas *quotas.View) { quotas.SupposePod(pod) })
}

// Fork implements part.PodPlacer.
func (v *view) Fork() part.PodPlacer { return &view{v.View.Fork()} }

// Place implements part.PodPlacer.
func (v *view) Place(pod *corev1.Pod, _ time.Time) { v.SupposePlaced(pod) }

// WithObject implements part.ObjectReplacer for ElasticQuotas.
func (v *view) WithObject(object any) (part.View, bool) {
	quota, ok := object.(*schedulingsigsv1alpha1.ElasticQuota)
	if !ok {
		return v, false
	}
	return v.suppose(func(quotas *quotas.View) { quotas.Suppose(quota) }), true
}
