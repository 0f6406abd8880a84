package usageclass

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/usageclass"
	"koordinator.sh/koord/scheduler/allocation"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = usageclass.PluginName

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// Plugin implements UsageClass for one profile. It is safe for concurrent use.
type Plugin struct {
	args *usageclass.Args
	book *allocation.Book[struct{}, holding, usageclass.Shares]
}

// holding is what one pod counts for.
type holding struct {
	class   string
	request usageclass.Share
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := usageclass.DecodeArgs(object)
	if err != nil {
		return nil, err
	}
	plugin := &Plugin{args: args, book: allocation.NewBook(allocation.Rules[struct{}, holding, usageclass.Shares]{Read: read, Fold: fold})}
	if _, err := handle.SharedInformerFactory().Core().V1().Nodes().Informer().AddEventHandler(plugin.book.NodeHandler()); err != nil {
		return nil, fmt.Errorf("watch nodes: %w", err)
	}
	return plugin, nil
}

func read(pod *corev1.Pod) (holding, bool) {
	class := usageclass.ClassOf(pod)
	if class == "" {
		return holding{}, false
	}
	return holding{class: class, request: usageclass.RequestOf(pod)}, true
}

func fold(_ *corev1.Node, _ struct{}, held []allocation.Holding[holding]) usageclass.Shares {
	shares := usageclass.Shares{}
	for _, one := range held {
		shares.Add(one.Allocation.class, one.Allocation.request)
	}
	return shares
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// Clone implements StateData; what a pod counts for does not change.
func (h holding) Clone() fwk.StateData { return h }

// PreFilter skips pods without a usage class.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	found, classed := read(pod)
	if !classed {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, found)
	return nil, nil
}

// PreFilterExtensions returns nil: the shares of a node follow from the pods of its NodeInfo.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses nodes that have too much of the pod's class.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	verdict := usageclass.Filter(p.input(state, pod, info))
	if verdict.Passed() {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, verdict.Reason())
}

// PreScore skips pods without a usage class.
func (p *Plugin) PreScore(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	if usageclass.ClassOf(pod) == "" {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score prefers nodes with little of the pod's class.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	return usageclass.Score(p.input(state, pod, info)), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (p *Plugin) input(state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) usageclass.Input {
	data, err := state.Read(stateKey)
	found, ok := data.(holding)
	if err != nil || !ok {
		found, _ = read(pod)
	}
	return usageclass.Input{
		Args: p.args, Class: found.class, Pod: found.request,
		Taken: p.book.Of(info, struct{}{})[found.class], Allocatable: info.GetAllocatable().GetMilliCPU(),
	}
}

// SignPod signs the class and the request, on which verdicts and scores depend besides nodes and their pods.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	found, classed := read(pod)
	if !classed {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: string(stateKey), Value: []any{found.class, found.request.MilliCPU}}}, nil
}
