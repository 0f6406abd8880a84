package coscheduling

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// Name of the plugin.
const Name = gang.PluginName

// State is what the plugin reads and, from PostFilter on, writes. A gangs.State is one; explanations use a gangs.View, in which
// nothing is written.
type State interface {
	// Configure sets what all profiles must agree on.
	Configure(defaults gang.Defaults) error
	// Subscribe has a function called when events open or complete gangs.
	Subscribe(subscriber func(gangs.Change))
	// Ready and Admit say whether a member may be queued and tried; Report says why.
	Ready(key gang.Key) gang.Verdict
	Admit(key gang.Key, uid types.UID) gang.Verdict
	Report(key gang.Key) gang.Report
	// Seen orders gangs in the queue.
	Seen(key gang.Key) (time.Time, bool)
	// Spec, Counts and Members of a gang, and the PodGroup that describes it.
	Spec(key gang.Key) *gang.Spec
	Counts(key gang.Key) gang.Counts
	Members(key gang.Key) []gang.Member
	Object(key gang.Key) *schedulingsigsv1alpha1.PodGroup
	// Together says whether the members of a gang get nodes together or not at all.
	Together(key gang.Key) bool
	// Victims are evicted for a gang group, and Evict notes them; none ends it.
	Victims(group string) []types.UID
	Evict(group string, victims []types.UID)
	// Topology of the network, nil when nothing describes it.
	Topology() *schedulingv1alpha1.ClusterNetworkTopology
	// Permit, Settle, Fail, Unplace, Release and Bound tell what happened to members.
	Permit(key gang.Key, pod *corev1.Pod, node string) gang.Permission
	Settle(key gang.Key, found func(types.UID) bool) ([]types.UID, bool)
	Fail(key gang.Key, pod *corev1.Pod, reason string) gang.Rejection
	Unplace(key gang.Key, pod *corev1.Pod) gang.Rejection
	Release(uid types.UID) (released bool, again *corev1.Pod)
	Bound(uid types.UID)
}

var (
	_ State = &gangs.State{}
	_ State = &gangs.View{}
)

// Plugin implements Coscheduling for one profile. It is safe for concurrent use.
type Plugin struct {
	args   *gang.Args
	state  State
	handle fwk.Handle
	// done ends with the scheduler.
	done    <-chan struct{}
	planned placements
}

var (
	_ fwk.QueueSortPlugin   = &Plugin{}
	_ fwk.PreEnqueuePlugin  = &Plugin{}
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PermitPlugin      = &Plugin{}
	_ fwk.PreBindPlugin     = &Plugin{}
	_ fwk.PostBindPlugin    = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state. Arguments that cannot be
// decoded, are out of range, or contradict those of another profile are errors, and the scheduler does not start.
func Factory(shared State) frameworkruntime.PluginFactory {
	return func(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := gang.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		if err := shared.Configure(args.Defaults()); err != nil {
			return nil, err
		}
		p := &Plugin{args: args, state: shared, handle: handle, done: ctx.Done()}
		if *args.EnablePreemption {
			handle.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Informer()
		}
		shared.Subscribe(p.changed)
		return p, nil
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// PreEnqueue holds members back until as many exist as must run together, in every gang of the group.
func (p *Plugin) PreEnqueue(_ context.Context, pod *corev1.Pod) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreEnqueue, pod, &status)
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil
	}
	if verdict := p.state.Ready(key); !verdict.Passed() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, verdict.Reason)
	}
	return nil
}

// noNode is why a member is rejected of which nothing more is known.
const noNode = "no node takes it"

// refusedKey marks a cycle in which PreFilter refused the pod.
const refusedKey fwk.StateKey = "koordinator.sh/" + Name + "/refused"

type refused struct{}

// Clone implements StateData.
func (r refused) Clone() fwk.StateData { return r }

// PreFilter refuses a member at once while another one, that the gang cannot do without, has found no node. With
// awareNetworkTopology it restricts members of gangs that ask for it to one part of the network.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	if _, err := state.Read(dryRunKey); err == nil {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	if !p.args.SkipCheckScheduleCycle {
		if verdict := p.state.Admit(key, pod.UID); !verdict.Passed() {
			state.Write(refusedKey, refused{})
			return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, verdict.Reason)
		}
	}
	if spec := p.gathers(key); spec != nil {
		return p.gather(ctx, state, pod, spec)
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreFilterExtensions returns nil: pods on the nodes do not matter.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// PostFilter rejects the waiting members of a Strict gang of which one found no node. With enablePreemption it then makes room
// for all members, and keeps other plugins from making room for one; without it they may.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PostFilter, pod, &status)
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if _, err := state.Read(refusedKey); err == nil {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	p.planned.drop(key)
	rejection := p.state.Fail(key, pod, p.reasonOf(pod, nodes))
	p.reject(rejection)
	if rejection.Reason == "" {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if spec := p.concerns(key); spec != nil {
		return p.preempt(ctx, pod, spec)
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, rejection.Reason)
}

// reasonOf is the text that the pod's own condition will have.
func (p *Plugin) reasonOf(pod *corev1.Pod, nodes fwk.NodeToStatusReader) string {
	statuses, ok := nodes.(*framework.NodeToStatus)
	if !ok {
		return noNode
	}
	unfit := framework.FitError{Pod: pod, Diagnosis: framework.Diagnosis{NodeToStatus: statuses}}
	if all, err := p.handle.SnapshotSharedLister().NodeInfos().List(); err == nil {
		unfit.NumAllNodes = len(all)
	}
	return unfit.Error()
}

// PreScore skips: all nodes are alike. It is there for configurations that enable it.
func (p *Plugin) PreScore(context.Context, fwk.CycleState, *corev1.Pod, []fwk.NodeInfo) *fwk.Status {
	return fwk.NewStatus(fwk.Skip)
}

// Score is never called, because PreScore skips.
func (p *Plugin) Score(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}

// ScoreExtensions returns nil.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Reserve puts the plan for the gang into force, and notes with which gang the member is bound, for schedulers that start later.
func (p *Plugin) Reserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return nil
	}
	p.adopt(key, state)
	spec := p.state.Spec(key)
	if spec == nil {
		return nil
	}
	members := 0
	for _, other := range spec.Group {
		members += p.state.Counts(other).Children
	}
	count := strconv.Itoa(members)
	defaultprebind.Annotate(state, extension.AnnotationBindGangGroupID, spec.GroupID)
	defaultprebind.Annotate(state, extension.AnnotationBindGangMemberCount, count)
	defaultprebind.Annotate(state, extension.DeprecatedAnnotationBindGangGroupID, spec.GroupID)
	defaultprebind.Annotate(state, extension.DeprecatedAnnotationBindGangMemberCount, count)
	return nil
}

// Unreserve rejects the waiting members of a Strict gang of which one lost its node.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	if key, belongs := gang.KeyOf(pod); belongs {
		p.planned.drop(key)
		p.reject(p.state.Unplace(key, pod))
	}
}

// PreBindPreFlight skips: what is to be written is written by DefaultPreBind.
func (p *Plugin) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreBind is never called, because PreBindPreFlight skips.
func (p *Plugin) PreBind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	return nil
}

// PostBind counts the member as bound.
func (p *Plugin) PostBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	defer recovery.Ignore(Name, recovery.PostBind, pod)
	if _, belongs := gang.KeyOf(pod); belongs {
		p.state.Bound(pod.UID)
	}
}

// SignPod lets members be batched like other pods: on which node a member fits does not depend on its gang, unless the gang
// has to be close together.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	if key, belongs := gang.KeyOf(pod); belongs && p.gathers(key) != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the members of the gang have to be close together")
	}
	return nil, nil
}
