package noderesourcesfitplus

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/resourcescore"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = "NodeResourcesFitPlus"

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// Plugin implements NodeResourcesFitPlus for one profile. It is safe for concurrent use.
type Plugin struct {
	strategies map[corev1.ResourceName]resourcescore.WeightedStrategy
	names      []corev1.ResourceName
}

var (
	_ fwk.PreScorePlugin = &Plugin{}
	_ fwk.ScorePlugin    = &Plugin{}
	_ fwk.SignPlugin     = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	args, err := resourcescore.DecodeFitPlusArgs(object)
	if err != nil {
		return nil, err
	}
	return &Plugin{strategies: args.Resources, names: slices.Sorted(maps.Keys(args.Resources))}, nil
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// requests of a pod that have a strategy, in the order of the plugin's names.
type requests []request

type request struct {
	name   corev1.ResourceName
	amount int64
}

// Clone implements StateData; requests do not change.
func (r requests) Clone() fwk.StateData { return r }

// PreScore skips pods that request nothing with a strategy.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	found := p.requestsOf(pod)
	if len(found) == 0 {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, found)
	return nil
}

func (p *Plugin) requestsOf(pod *corev1.Pod) requests {
	if len(p.names) == 0 {
		return nil
	}
	total := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	var found requests
	for _, name := range p.names {
		quantity, asked := total[name]
		if !asked || quantity.Sign() <= 0 {
			continue
		}
		amount := quantity.Value()
		if name == corev1.ResourceCPU {
			amount = quantity.MilliValue()
		}
		found = append(found, request{name, amount})
	}
	return found
}

// Score rates a node by what it would have left of the requested resources.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	data, err := state.Read(stateKey)
	found, ok := data.(requests)
	if err != nil || !ok {
		return 0, fwk.AsStatus(fmt.Errorf("score node %s: PreScore left no requests: %w", info.Node().Name, err))
	}
	demands := make([]resourcescore.Demand, 0, 8)
	for _, one := range found {
		demands = append(demands, resourcescore.Demand{
			Strategy: p.strategies[one.name], Request: one.amount,
			Requested: amountOf(info.GetRequested(), one.name), Allocatable: amountOf(info.GetAllocatable(), one.name),
		})
	}
	return resourcescore.FitPlus(demands), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// SignPod signs the requests, on which the scores depend besides nodes and their pods.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	values := map[string]int64{}
	for _, one := range p.requestsOf(pod) {
		values[string(one.name)] = one.amount
	}
	if len(values) == 0 {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: string(stateKey), Value: values}}, nil
}

func amountOf(resource fwk.Resource, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return resource.GetMilliCPU()
	case corev1.ResourceMemory:
		return resource.GetMemory()
	case corev1.ResourceEphemeralStorage:
		return resource.GetEphemeralStorage()
	case corev1.ResourcePods:
		return int64(resource.GetAllowedPodNumber())
	}
	return resource.GetScalarResources()[name]
}
