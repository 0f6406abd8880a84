package zonequota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

// LabelTeam is the label of pods that names their team.
const LabelTeam = "example.com/team"

const stateKey fwk.StateKey = "example.com/" + Name

// Plugin implements ZoneQuota for one profile. It is safe for concurrent use.
type Plugin struct {
	args   *Args
	handle fwk.Handle
}

var (
	_ fwk.PreFilterPlugin     = &Plugin{}
	_ fwk.PreFilterExtensions = &Plugin{}
	_ fwk.FilterPlugin        = &Plugin{}
	_ fwk.PreScorePlugin      = &Plugin{}
	_ fwk.ScorePlugin         = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := pluginargs.Read(object, Kind, SetDefaults, Validate)
	if err != nil {
		return nil, err
	}
	return &Plugin{args: args, handle: handle}, nil
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

func teamOf(pod *corev1.Pod) string { return pod.Labels[LabelTeam] }

func zoneOf(info fwk.NodeInfo) string { return info.Node().Labels[corev1.LabelTopologyZone] }

// counts are the team's pods by zone, for one scheduling cycle.
type counts map[string]int64

// Clone implements StateData. What-if trials change their own copy.
func (c counts) Clone() fwk.StateData {
	cloned := make(counts, len(c))
	for zone, count := range c {
		cloned[zone] = count
	}
	return cloned
}

// PreFilter counts the team's pods. Pods without a team are none of its business, and cost one look at a label.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	team := teamOf(pod)
	if team == "" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	counted := counts{}
	for _, info := range nodes {
		for _, other := range info.GetPods() {
			if belongs(other.GetPod(), pod) {
				counted[zoneOf(info)]++
			}
		}
	}
	state.Write(stateKey, counted)
	return nil, nil
}

// belongs is true for pods that count against the pod in question.
func belongs(other, pod *corev1.Pod) bool {
	return other.Namespace == pod.Namespace && teamOf(other) == teamOf(pod) && other.UID != pod.UID
}

// PreFilterExtensions lets preemption see zones without its victims.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

// AddPod implements PreFilterExtensions.
func (p *Plugin) AddPod(_ context.Context, state fwk.CycleState, pod *corev1.Pod, added fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	p.shift(state, pod, added.GetPod(), info, 1)
	return nil
}

// RemovePod implements PreFilterExtensions.
func (p *Plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *corev1.Pod, removed fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	p.shift(state, pod, removed.GetPod(), info, -1)
	return nil
}

func (p *Plugin) shift(state fwk.CycleState, pod, other *corev1.Pod, info fwk.NodeInfo, by int64) {
	if belongs(other, pod) {
		p.counted(state)[zoneOf(info)] += by
	}
}

func (p *Plugin) counted(state fwk.CycleState) counts {
	data, err := state.Read(stateKey)
	if found, ok := data.(counts); err == nil && ok {
		return found
	}
	return counts{}
}

func (p *Plugin) input(state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) Input {
	zone := zoneOf(info)
	return Input{Team: teamOf(pod), Zone: zone, Taken: p.counted(state)[zone], Max: *p.args.MaxPods}
}

// Filter refuses zones that have enough pods of the team.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	verdict := Filter(p.input(state, pod, info), nil)
	if verdict.Passed() {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, verdict.Reason())
}

// PreScore skips pods without a team.
func (p *Plugin) PreScore(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	if teamOf(pod) == "" {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score prefers zones with few pods of the team.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	return Score(p.input(state, pod, info)), nil
}

// ScoreExtensions returns nil: scores are 0 to 100 already.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }
