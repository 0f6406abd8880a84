package elasticquota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/quotas"
)

// Name of the plugin.
const Name = quota.PluginName

// State is what the plugin reads and, in Reserve and in queueing hints, writes. A quotas.State is one; explanations use a
// quotas.View, in which nothing is written.
type State interface {
	// Configure sets what all profiles must agree on.
	Configure(args *quota.Args) error
	// WaitForSync waits until the quotas are known.
	WaitForSync(ctx context.Context) error
	// Idle is true while no pod can be refused.
	Idle() bool
	// Judge decides on a pod; Explain does it with what is behind a refusal.
	Judge(pod *corev1.Pod, rules quota.Rules) quotas.Judgement
	Explain(pod *corev1.Pod, rules quota.Rules) quotas.Judgement
	// QuotaOf names the quota of a pod; Held is what a pod holds.
	QuotaOf(pod *corev1.Pod) string
	Held(pod types.UID) (quotas.Held, bool)
	// Spec and Object of a quota, Pods in it, and the Leaves of all trees.
	Spec(name string) *quota.Spec
	Object(name string) *schedulingsigsv1alpha1.ElasticQuota
	// Admitted is what admission says of a changed ElasticQuota.
	Admitted(object *schedulingsigsv1alpha1.ElasticQuota) quotaadmission.Verdict
	Pods(name string) []quotas.PodHolding
	Leaves() []string
	// Reserve counts a pod as assigned, Unreserve takes it back.
	Reserve(pod *corev1.Pod)
	Unreserve(pod *corev1.Pod)
	// PodChanged, NodeChanged and QuotaChanged take over what informers say now.
	PodChanged(pod *corev1.Pod)
	NodeChanged(name string)
	QuotaChanged(key types.NamespacedName)
	// Freed is closed when pods may be admitted because of something that no event reports; nil when no caller needs that.
	Freed() <-chan struct{}
}

// Plugin implements ElasticQuota for one profile. It is safe for concurrent use.
type Plugin struct {
	args      *quota.Args
	rules     quota.Rules
	state     State
	handle    fwk.Handle
	executor  *preemption.Executor
	evaluator *preemption.Evaluator
	refused   refused
	latest    latestEdit
}

var (
	_ fwk.PreEnqueuePlugin    = &Plugin{}
	_ fwk.PreFilterPlugin     = &Plugin{}
	_ fwk.PreFilterExtensions = &Plugin{}
	_ fwk.FilterPlugin        = &Plugin{}
	_ fwk.PostFilterPlugin    = &Plugin{}
	_ fwk.ReservePlugin       = &Plugin{}
	_ fwk.EnqueueExtensions   = &Plugin{}
	_ fwk.SignPlugin          = &Plugin{}
	_ preemption.Interface    = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state. Arguments that cannot be
// decoded, are out of range, or contradict those of another profile are errors, and the scheduler does not start. With a
// state that gives notice of freed quota, a goroutine wakes refused pods until the context ends.
func Factory(shared State) frameworkruntime.PluginFactory {
	return func(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := quota.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		if err := shared.Configure(args); err != nil {
			return nil, err
		}
		p := &Plugin{args: args, rules: args.Rules(), state: shared, handle: handle}
		p.executor = preemption.NewExecutor(handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
		p.evaluator = preemption.NewEvaluator(Name, handle, p, p.executor)
		if shared.Freed() != nil {
			go p.wake(ctx)
		}
		return p, nil
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// PreEnqueue holds a pod back while its victims are being evicted.
func (p *Plugin) PreEnqueue(_ context.Context, pod *corev1.Pod) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreEnqueue, pod, &status)
	if p.executor.IsPodRunningPreemption(pod.UID) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "waiting for the preemption for this pod to be finished")
	}
	return nil
}

// PreFilter admits the pod into its quota, or refuses it for every node.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	if err := p.state.WaitForSync(ctx); err != nil {
		return nil, fwk.AsStatus(err)
	}
	if p.state.Idle() {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	judgement := p.state.Judge(pod, p.rules)
	if judgement.Verdict.Passed() {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	made := &cycle{quota: judgement.Quota, admission: judgement.Admission, shared: &explained{}}
	if !p.preempts(judgement.Quota) {
		made.quota = ""
	}
	state.Write(stateKey, made)
	return nil, fwk.NewStatus(fwk.Unschedulable, judgement.Reason)
}

// Reserve counts the pod as using its quota from now on. A reserve pod is not counted: no event would ever take it back, and
// the pods that come to use the reservation are.
func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	p.refused.remove(pod.UID)
	if !reservation.IsReservePod(pod) {
		p.state.Reserve(pod)
	}
	return nil
}

// Unreserve takes back Reserve.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	p.state.Unreserve(pod)
}

// SignPod adds nothing: a quota admits or refuses a pod before its signature is used, and never because of a node.
func (p *Plugin) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}
