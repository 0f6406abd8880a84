package reservation

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
)

// PostFilter says what became of the reservations whose owner the pod is, and preempts for reserve pods when that is enabled.
// Preemption for reserve pods ends here: the other plugins look for the pod in the cluster.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PostFilter, pod, &status)
	if decision.IsReservePod(pod) {
		return p.preempt(ctx, state, pod, statuses)
	}
	if c := cycleOf(state); c != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, c.census.Reasons()...)
	}
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

func (p *Plugin) preempt(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	if p.preemption == nil || decision.NeverPreempts(pod) {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
	}
	preemptor := pod.DeepCopy()
	preemptor.Spec.PreemptionPolicy = nil
	p.preemptor.pod.Store(preemptor)
	result, status := p.preemption.PostFilter(ctx, state, preemptor, statuses)
	if status.IsSuccess() {
		return result, status
	}
	return result, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonPreemption, status.Message())
}

// enablePreemption builds the preemption of Kubernetes for reserve pods.
func (p *Plugin) enablePreemption(ctx context.Context) error {
	built, err := defaultpreemption.New(ctx, &config.DefaultPreemptionArgs{
		MinCandidateNodesPercentage: *p.args.MinCandidateNodesPercentage, MinCandidateNodesAbsolute: *p.args.MinCandidateNodesAbsolute,
	}, p.handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return err
	}
	Guard(built, p.state, nil)
	p.recordVictims(built)
	eligible := built.IsEligiblePod
	built.IsEligiblePod = func(info fwk.NodeInfo, victim fwk.PodInfo, preemptor *corev1.Pod) bool {
		return !decision.IsReservePod(victim.GetPod()) && extension.IsPodPreemptible(victim.GetPod().Labels) && eligible(info, victim, preemptor)
	}
	p.preemptor = &reservePodLister{PodLister: built.Evaluator.PodLister}
	built.Evaluator.PodLister = p.preemptor
	p.preemption = built
	return nil
}

// MayPreempt implements reason.Preemptor: only reserve pods are served, where that is enabled.
func (p *Plugin) MayPreempt(pod *corev1.Pod) (bool, string) {
	switch {
	case !decision.IsReservePod(pod):
		return false, ""
	case decision.NeverPreempts(pod):
		return false, "preemptionPolicy of the reservation's template is Never"
	case p.preemption == nil:
		return false, "reservations evict no pods unless enablePreemption of the plugin's arguments is set"
	}
	return true, ""
}

// Spared implements reason.Preemptor: who is spared depends on the node.
func (p *Plugin) Spared(*corev1.Pod) string { return "" }

// Preemption is what looks for victims of reserve pods; nil unless it is enabled. Its Executor must not be used.
func (p *Plugin) Preemption() *defaultpreemption.DefaultPreemption { return p.preemption }

// Guard teaches a preemption about the reservations that this plugin knows, as the function of that name does.
func (p *Plugin) Guard(plugin *defaultpreemption.DefaultPreemption, evict func(ctx context.Context, reservePod *corev1.Pod, preemptor string) error) {
	Guard(plugin, p.state, evict)
}

// Evict ends the Reservation that a reserve pod stands for, in favour of a preemptor.
type Evict func(ctx context.Context, reservePod *corev1.Pod, preemptor string) error

// Guard teaches a preemption about reservations. Users of a reservation that lasts are victims only for pods that may use it,
// too: their room returns to the reservation. A reserve pod that is preempted ends its Reservation by evict; when
// evict is nil, reserve pods are no victims.
func Guard(plugin *defaultpreemption.DefaultPreemption, state State, evict Evict) {
	eligible := plugin.IsEligiblePod
	plugin.IsEligiblePod = func(info fwk.NodeInfo, victim fwk.PodInfo, preemptor *corev1.Pod) bool {
		if decision.IsReservePod(victim.GetPod()) {
			return evict != nil && eligible(info, victim, preemptor)
		}
		if used, uses := state.UsedBy(victim.GetPod().UID); uses && !used.Once && !used.MatchesOwner(preemptor) {
			return false
		}
		return eligible(info, victim, preemptor)
	}
	preemptPod := plugin.Executor.PreemptPod
	plugin.Executor.PreemptPod = func(ctx context.Context, candidate preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *corev1.Pod, pluginName string) error {
		if decision.IsReservePod(victim) && evict != nil {
			return evict(ctx, victim, preemptor.GetNamespace()+"/"+preemptor.GetName())
		}
		return preemptPod(ctx, candidate, preemptor, victim, pluginName)
	}
}

// reservePodLister knows the reserve pod that is looking for victims, beside the pods of the cluster.
type reservePodLister struct {
	corelisters.PodLister
	pod atomic.Pointer[corev1.Pod]
}

// Pods implements PodLister.
func (l *reservePodLister) Pods(namespace string) corelisters.PodNamespaceLister {
	return reservePodNamespace{PodNamespaceLister: l.PodLister.Pods(namespace), namespace: namespace, pod: l.pod.Load()}
}

// List implements PodLister.
func (l *reservePodLister) List(selector labels.Selector) ([]*corev1.Pod, error) {
	return l.PodLister.List(selector)
}

type reservePodNamespace struct {
	corelisters.PodNamespaceLister
	namespace string
	pod       *corev1.Pod
}

// Get implements PodNamespaceLister.
func (l reservePodNamespace) Get(name string) (*corev1.Pod, error) {
	if l.pod != nil && l.pod.Name == name && l.pod.Namespace == l.namespace {
		return l.pod, nil
	}
	return l.PodNamespaceLister.Get(name)
}
