package scarceresourceavoidance

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/pluginargs"
	"koordinator.sh/koord/decision/resourcescore"
)

// Name of the plugin.
const Name = "ScarceResourceAvoidance"

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// Plugin implements ScarceResourceAvoidance for one profile. It is safe for concurrent use.
type Plugin struct {
	scarce sets.Set[corev1.ResourceName]
}

var (
	_ fwk.PreScorePlugin = &Plugin{}
	_ fwk.ScorePlugin    = &Plugin{}
	_ fwk.SignPlugin     = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	var args resourcescore.ScarceArgs
	if err := pluginargs.Decode(object, resourcescore.ScarceKind, &args); err != nil {
		return nil, err
	}
	if err := pluginargs.Invalid(resourcescore.ScarceKind, resourcescore.ValidateScarce(&args)); err != nil {
		return nil, err
	}
	return &Plugin{scarce: sets.New(args.Resources...)}, nil
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// requested are the names of the resources that a pod requests.
type requested sets.Set[corev1.ResourceName]

// Clone implements StateData; the set does not change.
func (r requested) Clone() fwk.StateData { return r }

// PreScore skips when none of the nodes has anything scarce, because they would all score the same.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if p.scarce.Len() == 0 || !slices.ContainsFunc(nodes, p.hasScarce) {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, requested(sets.KeySet(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))))
	return nil
}

func (p *Plugin) hasScarce(info fwk.NodeInfo) bool {
	for name := range info.GetAllocatable().GetScalarResources() {
		if p.scarce.Has(name) {
			return true
		}
	}
	return p.scarce.HasAny(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage)
}

// Score rates a node by what it has and the pod has no use for.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(stateKey)
	wanted, ok := data.(requested)
	if err != nil || !ok {
		return 0, fwk.AsStatus(fmt.Errorf("score node %s: PreScore left no requests: %w", info.Node().Name, err))
	}
	var unused, scarce int64
	for name := range info.Node().Status.Allocatable {
		if _, asked := wanted[name]; asked {
			continue
		}
		unused++
		if p.scarce.Has(name) {
			scarce++
		}
	}
	return resourcescore.Avoid(unused, scarce), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// SignPod signs the names of the requested resources, on which the scores depend besides nodes.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if p.scarce.Len() == 0 {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: string(stateKey), Value: slices.Sorted(maps.Keys(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})))}}, nil
}
