package reservation

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// PreFilter nominates reservations for the pod, or prepares a reserve pod. It skips all other pods.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	if decision.IsReservePod(pod) {
		return p.preFilterReservePod(ctx, state, pod, nodes)
	}
	concerns := decision.Concerns(pod)
	if p.state.Empty() && !concerns {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	owned := p.state.Owned(pod)
	if len(owned) == 0 && !concerns {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	demand, err := decision.NewDemand(pod)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	found := &cycle{demand: demand, census: &decision.Census{}, nodes: map[string]*onNode{}}
	state.Write(stateKey, found)
	if demand.Ignored {
		frameworkext.Restore(state, p.withoutAll(ctx))
		return nil, nil
	}
	found.match(owned)
	if len(found.nodes) > 0 {
		frameworkext.Restore(state, p.nominate(ctx, found))
	}
	return found.result()
}

// PreFilterExtensions returns nil: nothing is counted over pods.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// match groups the reservations that the pod may use by node.
func (c *cycle) match(owned []*reservations.View) {
	slices.SortFunc(owned, func(a, b *reservations.View) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for _, view := range owned {
		if refusal := decision.Match(c.demand, view.Reservation, view.Use); !refusal.Passed() {
			c.census.Add(view.Reservation, refusal, 0)
			continue
		}
		if c.nodes[view.Node] == nil {
			c.nodes[view.Node] = &onNode{}
		}
		c.nodes[view.Node].views = append(c.nodes[view.Node].views, view)
	}
}

// nominate chooses a reservation on each node, and returns the nodes without the reserve pods of those.
func (p *Plugin) nominate(ctx context.Context, c *cycle) map[string]frameworkext.Restored {
	restored := map[string]frameworkext.Restored{}
	for name, offer := range c.nodes {
		info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(name)
		if err != nil {
			continue // the node is gone, and the reservation goes with it
		}
		p.choose(c, offer, info)
		if offer.chosen == nil {
			continue
		}
		if order := offer.chosen.Order; order > 0 && (c.first == 0 || order < c.first) {
			c.first = order
		}
		if held := heldOn(info, offer.chosen.UID); held != nil {
			if node := without(ctx, info, held); node != nil {
				restored[name] = *node
			}
		}
	}
	return restored
}

// choose nominates one of the reservations of a node into which the pod fits.
func (p *Plugin) choose(c *cycle, offer *onNode, info fwk.NodeInfo) {
	allocatable, requested := amountsOf(info.GetAllocatable()), amountsOf(info.GetRequested())
	candidates := make([]decision.Candidate, 0, len(offer.views))
	views := make([]*reservations.View, 0, len(offer.views))
	held := heldOnNode(info, offer.views)
	for _, view := range offer.views {
		room := decision.Room{Allocatable: allocatable, Requested: requested}
		if pod := held[view.UID]; pod != nil {
			room.Held = amountsOf(pod.CalculateResource().Resource)
		}
		if refusal := decision.Fit(c.demand, view.Reservation, view.Use, room, p.ignore); !refusal.Passed() {
			offer.refusal = refusal
			c.census.Add(view.Reservation, refusal, 0)
			continue
		}
		candidates, views = append(candidates, view.Candidate), append(views, view)
	}
	best, score := decision.Nominate(c.demand, candidates)
	if best < 0 {
		return
	}
	offer.chosen, offer.score = views[best], score
	for _, candidate := range candidates {
		c.census.Add(candidate.Reservation, decision.Refusal{}, decision.Score(c.demand, candidate.Reservation, candidate.Use))
	}
}

// heldOn finds the pod that holds a reservation's room on a node, nil when it holds none.
func heldOn(info fwk.NodeInfo, reservation types.UID) fwk.PodInfo {
	for _, held := range info.GetPods() {
		if held.GetPod().UID == reservation {
			return held
		}
	}
	return nil
}

// heldOnNode finds the pods that hold the room of reservations in one pass.
func heldOnNode(info fwk.NodeInfo, views []*reservations.View) map[types.UID]fwk.PodInfo {
	held := make(map[types.UID]fwk.PodInfo, len(views))
	for _, view := range views {
		held[view.UID] = nil
	}
	for _, pod := range info.GetPods() {
		if _, wanted := held[pod.GetPod().UID]; wanted {
			held[pod.GetPod().UID] = pod
		}
	}
	return held
}

// without copies a node and removes pods; nil when one is not there.
func without(ctx context.Context, info fwk.NodeInfo, removed ...fwk.PodInfo) *frameworkext.Restored {
	node := info.Snapshot()
	for _, held := range removed {
		if err := node.RemovePod(klog.FromContext(ctx), held.GetPod()); err != nil {
			return nil
		}
	}
	return &frameworkext.Restored{Node: node, Removed: removed}
}

// withoutAll shows all nodes without any reserve pod, to a pod that takes reserved room.
func (p *Plugin) withoutAll(ctx context.Context) map[string]frameworkext.Restored {
	removed := map[string][]fwk.PodInfo{}
	for _, view := range p.state.All() {
		info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(view.Node)
		if err != nil {
			continue
		}
		if held := heldOn(info, view.UID); held != nil && view.Object != nil {
			removed[view.Node] = append(removed[view.Node], held)
		}
	}
	restored := make(map[string]frameworkext.Restored, len(removed))
	for name, pods := range removed {
		info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(name)
		if err != nil {
			continue
		}
		if node := without(ctx, info, pods...); node != nil {
			restored[name] = *node
		}
	}
	return restored
}

// result restricts a pod that must use a reservation to the nodes that have one for it.
func (c *cycle) result() (*fwk.PreFilterResult, *fwk.Status) {
	if !c.demand.Required {
		return nil, nil
	}
	if len(c.nodes) == 0 {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonAffinity)
	}
	names := sets.New[string]()
	for name := range c.nodes {
		names.Insert(name)
	}
	return &fwk.PreFilterResult{NodeNames: names}, nil
}

// Propose names the nodes of the reservations that suit the pod best, so that it finds them however few nodes are sampled.
func (p *Plugin) Propose(_ context.Context, state fwk.CycleState, pod *corev1.Pod) []string {
	defer recovery.Ignore(Name, recovery.Propose, pod)
	c := cycleOf(state)
	if c == nil || c.ahead != nil {
		return nil
	}
	var names []string
	for name, offer := range c.nodes {
		if offer.chosen != nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.scoreOf(b), c.scoreOf(a)), cmp.Compare(a, b))
	})
	return names[:min(len(names), maxProposals)]
}

// maxProposals bounds the nodes that are tried ahead of all others.
const maxProposals = 32
