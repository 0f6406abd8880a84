package coscheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/networktopology"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/recovery"
)

var _ frameworkext.Proposer = &Plugin{}

// plannedKey holds what is planned for the gang of the pod of the cycle.
const plannedKey fwk.StateKey = "koordinator.sh/" + Name + "/planned"

// planned is the node of the pod, empty for none.
type planned struct {
	node string
	// fresh is a plan that was made for the pod, to be in force for the other members once Reserve is reached.
	fresh *placement
}

// Clone implements StateData.
func (n planned) Clone() fwk.StateData { return n }

// placement is a plan for the members of one gang.
type placement struct {
	networktopology.Plan
	nodes  map[types.UID]string
	domain sets.Set[string]
}

// placements are the plans in force, by gang. A plan ends when a member finds no node or gives one back.
type placements struct {
	mutex sync.RWMutex
	plans map[gang.Key]*placement
}

func (p *placements) of(key gang.Key, member types.UID) *placement {
	p.mutex.RLock()
	defer p.mutex.RUnlock()
	if plan := p.plans[key]; plan != nil && plan.nodes[member] != "" {
		return plan
	}
	return nil
}

func (p *placements) set(key gang.Key, plan *placement) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.plans == nil {
		p.plans = map[gang.Key]*placement{}
	}
	p.plans[key] = plan
}

func (p *placements) drop(key gang.Key) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.plans, key)
}

// gathers returns the rules of a gang whose members have to be close together, nil for others.
func (p *Plugin) gathers(key gang.Key) *gang.Spec {
	if !*p.args.AwareNetworkTopology {
		return nil
	}
	if spec := p.state.Spec(key); spec != nil && spec.Topology != nil && len(spec.Topology.GatherStrategy) > 0 {
		return spec
	}
	return nil
}

// gather restricts a member to the part of the network that is planned for its gang, and notes its node for Propose.
func (p *Plugin) gather(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, spec *gang.Spec) (*fwk.PreFilterResult, *fwk.Status) {
	plan := p.planned.of(spec.Key, pod.UID)
	var fresh *placement
	if plan == nil {
		var err error
		if plan, err = p.plan(ctx, pod, spec); err != nil {
			return nil, fwk.AsStatus(err)
		}
		fresh = plan
	}
	if !plan.Found() {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, plan.Reason)
	}
	state.Write(plannedKey, planned{node: plan.nodes[pod.UID], fresh: fresh})
	if !plan.Must {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return &fwk.PreFilterResult{NodeNames: plan.domain}, nil
}

// Propose implements frameworkext.Proposer: the node that the plan has for the member.
func (p *Plugin) Propose(_ context.Context, state fwk.CycleState, pod *corev1.Pod) []string {
	defer recovery.Ignore(Name, recovery.Propose, pod)
	if !*p.args.AwareNetworkTopology {
		return nil
	}
	data, err := state.Read(plannedKey)
	if found, ok := data.(planned); err == nil && ok && found.node != "" {
		return []string{found.node}
	}
	return nil
}

// plan places all members without a node, taking the pod for what each of them asks.
func (p *Plugin) plan(ctx context.Context, pod *corev1.Pod, spec *gang.Spec) (*placement, error) {
	layers, err := networktopology.LayersOf(p.state.Topology())
	if err != nil {
		return &placement{Plan: networktopology.Invalid(err)}, nil
	}
	members, running := p.unplaced(spec.Key)
	in := networktopology.Input{
		Layers: layers, Rules: spec.Topology.GatherStrategy, Wanted: len(members), Needed: min(len(members), max(int(spec.MinMember)-len(running), 1)),
	}
	if in.Nodes, err = p.offers(ctx, pod, len(members), running); err != nil {
		return nil, err
	}
	result := &placement{Plan: networktopology.Place(in, nil), nodes: map[types.UID]string{}}
	result.domain = sets.New(result.Nodes...)
	for i, node := range result.Members {
		result.nodes[members[i].UID] = node
	}
	return result, nil
}

// unplaced are the members to plan for, by their rank and then by name, and the nodes of the others.
func (p *Plugin) unplaced(key gang.Key) (members []*corev1.Pod, running []string) {
	for _, member := range p.state.Members(key) {
		switch member.Phase {
		case gang.Pending, gang.Releasing:
			members = append(members, member.Pod)
		case gang.Waiting, gang.Binding, gang.Bound:
			running = append(running, member.Node)
		}
	}
	slices.SortFunc(members, func(a, b *corev1.Pod) int {
		rankA, _ := extension.GangNetworkTopologyIndex(a.Annotations)
		rankB, _ := extension.GangNetworkTopologyIndex(b.Annotations)
		return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(a.Name, b.Name))
	})
	return members, running
}

// offers counts for each node how many pods like this one its filters let on, at most limit.
func (p *Plugin) offers(ctx context.Context, pod *corev1.Pod, limit int, running []string) ([]networktopology.Node, error) {
	built, ok := p.handle.(framework.Framework)
	if !ok {
		return nil, fmt.Errorf("plan for pod %s/%s: the framework cannot run PreFilter", pod.Namespace, pod.Name)
	}
	infos, err := built.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	state := framework.NewCycleState()
	state.Write(dryRunKey, refused{})
	result, status, _ := built.RunPreFilterPlugins(ctx, state, pod)
	tried, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, fmt.Errorf("plan for pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	nodes := make([]networktopology.Node, len(infos))
	for i, info := range infos {
		node := info.Node()
		nodes[i] = networktopology.Node{Name: node.Name, Labels: node.Labels}
		for _, name := range running {
			if name == node.Name {
				nodes[i].Members++
			}
		}
		if status.IsSuccess() && (result.AllNodes() || result.NodeNames.Has(node.Name)) {
			nodes[i].Slots = slotsOf(ctx, built, state.Clone(), tried, info.Snapshot(), limit)
		}
	}
	return nodes, nil
}

// slotsOf adds pods to a copy of a node until it takes no more.
func slotsOf(ctx context.Context, built framework.Framework, state fwk.CycleState, pod fwk.PodInfo, node fwk.NodeInfo, limit int) int {
	for slots := range limit {
		if !built.RunFilterPlugins(ctx, state, pod.GetPod(), node).IsSuccess() {
			return slots
		}
		node.AddPodInfo(pod)
		if !built.RunPreFilterExtensionAddPod(ctx, state, pod.GetPod(), pod, node).IsSuccess() {
			return slots + 1
		}
	}
	return limit
}

// adopt puts the plan of the cycle into force: the other members are placed by it.
func (p *Plugin) adopt(key gang.Key, state fwk.CycleState) {
	data, err := state.Read(plannedKey)
	if found, ok := data.(planned); err == nil && ok && found.fresh != nil {
		p.planned.set(key, found.fresh)
	}
}
