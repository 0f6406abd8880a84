package scarceresourceavoidance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/resourcescore"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = "ScarceResourceAvoidance"

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// Plugin implements ScarceResourceAvoidance for one profile. It is safe for concurrent use.
type Plugin struct {
	scarce sets.Set[corev1.ResourceName]
	// owners counts the nodes of the cluster that have something scarce.
	owners atomic.Int64
}

var (
	_ fwk.PreScorePlugin = &Plugin{}
	_ fwk.ScorePlugin    = &Plugin{}
	_ fwk.SignPlugin     = &Plugin{}
)

// New is the plugin's factory. Arguments that cannot be decoded or are out of range are errors.
func New(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := resourcescore.DecodeScarceArgs(object)
	if err != nil {
		return nil, err
	}
	plugin := &Plugin{scarce: sets.New(args.Resources...)}
	if plugin.scarce.Len() == 0 {
		return plugin, nil
	}
	if _, err := handle.SharedInformerFactory().Core().V1().Nodes().Informer().AddEventHandler(plugin.counter()); err != nil {
		return nil, fmt.Errorf("watch nodes: %w", err)
	}
	return plugin, nil
}

// counter follows the nodes that have something scarce. Most clusters have none, and most pods need not look at any node.
func (p *Plugin) counter() cache.ResourceEventHandler {
	owns := func(object any) int64 {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if node, ok := object.(*corev1.Node); ok && p.ownedBy(node) {
			return 1
		}
		return 0
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { p.owners.Add(owns(object)) },
		UpdateFunc: func(before, after any) { p.owners.Add(owns(after) - owns(before)) },
		DeleteFunc: func(object any) { p.owners.Add(-owns(object)) },
	}
}

func (p *Plugin) ownedBy(node *corev1.Node) bool {
	for name := range node.Status.Allocatable {
		if p.scarce.Has(name) {
			return true
		}
	}
	return false
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// requested are the names of the resources that a pod requests.
type requested sets.Set[corev1.ResourceName]

// Clone implements StateData; the set does not change.
func (r requested) Clone() fwk.StateData { return r }

// PreScore skips when no node has anything scarce, because they would all score the same.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	if p.owners.Load() == 0 {
		return fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, requested(sets.KeySet(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))))
	return nil
}

// Score rates a node by what it has and the pod has no use for.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
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
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	if p.owners.Load() == 0 {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: string(stateKey), Value: slices.Sorted(maps.Keys(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})))}}, nil
}
