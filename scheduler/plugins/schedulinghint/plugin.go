package schedulinghint

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/schedulinghint"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = "SchedulingHint"

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// Plugin implements SchedulingHint for one profile. It is safe for concurrent use.
type Plugin struct {
	limit int64
	now   func() time.Time
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
	_ frameworkext.Proposer = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := schedulinghint.DecodeArgs(object)
	if err != nil {
		return nil, err
	}
	return &Plugin{limit: *args.MaxHintNodes, now: time.Now}, nil
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// remembered is the hint of the pod of the cycle.
type remembered struct{ schedulinghint.Hint }

// Clone implements StateData; a hint does not change.
func (r remembered) Clone() fwk.StateData { return r }

// PreFilter restricts the pod to the nodes of its hint, and forgets preferences that have expired.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	hint, err := schedulinghint.Parse(pod.Annotations, p.limit)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	hint = hint.At(p.now())
	if hint.Only == nil && hint.Preferred == nil {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, remembered{hint})
	if hint.Only == nil {
		return nil, nil
	}
	return &fwk.PreFilterResult{NodeNames: hint.Only}, nil
}

// PreFilterExtensions returns nil: pods on the nodes do not matter.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Propose implements frameworkext.Proposer: the preferred nodes are tried before all others, also in clusters where only a part
// of the nodes is looked at for each pod.
func (p *Plugin) Propose(_ context.Context, state fwk.CycleState, pod *corev1.Pod) []string {
	defer recovery.Ignore(Name, recovery.Propose, pod)
	return hintOf(state).InOrder()
}

// PreScore skips pods that prefer nothing.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	if hint := hintOf(state); len(hint.Preferred) == 0 {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score follows the order of the preferred nodes.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	return hintOf(state).Score(info.Node().Name), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

func hintOf(state fwk.CycleState) schedulinghint.Hint {
	data, err := state.Read(stateKey)
	if found, ok := data.(remembered); err == nil && ok {
		return found.Hint
	}
	return schedulinghint.Hint{}
}

// SignPod lets pods without a hint be batched; hints are made for single pods.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	hint, err := schedulinghint.Parse(pod.Annotations, p.limit)
	if err != nil || hint.Only != nil || hint.Preferred != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod has a scheduling hint")
	}
	return nil, nil
}

// EventsToRegister names what may lift a refusal: a node that the hint names, or another hint.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, QueueingHintFn: p.afterNode},
		queueinghint.OwnEdits(),
	}), nil
}

func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, _, object any) (fwk.QueueingHint, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", object)
	}
	hint, err := schedulinghint.Parse(pod.Annotations, p.limit)
	if err != nil || hint.Only != nil && !hint.Only.Has(node.Name) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
