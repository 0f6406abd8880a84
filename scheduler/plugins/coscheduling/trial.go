package coscheduling

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/gang"
)

// trial is the cluster in a dry run of all members of a gang group. Nodes are copies.
type trial struct {
	ctx        context.Context
	handle     framework.Framework
	nodes      []fwk.NodeInfo
	byName     map[string]fwk.NodeInfo
	candidates []gang.Candidate
	pods       []fwk.PodInfo
	members    []*triedMember
	// gone are the candidates that are removed.
	gone []int
	// needed members for each gang of the group.
	needed map[gang.Key]int
	// refusals are what kept the first member without a node from each of them, with the number of nodes.
	refusals map[refusal]int32
}

// refusal is one reason of one plugin.
type refusal struct{ plugin, reason string }

// triedMember is a member without a node.
type triedMember struct {
	pod   *corev1.Pod
	info  fwk.PodInfo
	key   gang.Key
	state fwk.CycleState
	node  string
}

// dryRunKey marks cycle states in which members are tried that PreFilter would refuse.
const dryRunKey fwk.StateKey = "koordinator.sh/" + Name + "/dry-run"

func (p *Plugin) newTrial(ctx context.Context, infos []fwk.NodeInfo, spec *gang.Spec) (*trial, error) {
	built, ok := p.handle.(framework.Framework)
	if !ok {
		return nil, fmt.Errorf("preempt for gangGroup %s: the framework cannot run PreFilter", spec.GroupID)
	}
	t := &trial{ctx: ctx, handle: built, byName: make(map[string]fwk.NodeInfo, len(infos)), needed: map[gang.Key]int{}}
	for _, info := range infos {
		node := info.Snapshot()
		t.nodes = append(t.nodes, node)
		t.byName[node.Node().Name] = node
	}
	priority, found := p.addMembers(t, spec)
	if !found {
		return t, nil
	}
	budgets, err := p.newBudgets()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, node := range t.nodes {
		for _, info := range node.GetPods() {
			if mayGiveWay(info.GetPod(), priority, spec) {
				t.candidates = append(t.candidates, candidateOf(info.GetPod(), budgets.exceeded(info.GetPod()), now))
				t.pods = append(t.pods, info)
			}
		}
	}
	return t, nil
}

// addMembers lists the members without a node, and returns the lowest priority among them. Members that wait have one, and
// give it back when the plan is made, so they are tried again.
func (p *Plugin) addMembers(t *trial, spec *gang.Spec) (lowest int32, found bool) {
	for _, key := range spec.Group {
		other := p.state.Spec(key)
		if other == nil {
			return 0, false
		}
		t.needed[key] = int(other.MinMember) - p.state.Counts(key).Bound
		for _, member := range p.state.Members(key) {
			if member.Phase == gang.Bound || member.Phase == gang.Binding || member.Pod.DeletionTimestamp != nil {
				continue
			}
			t.take(&member)
			info, err := framework.NewPodInfo(member.Pod)
			if err != nil {
				return 0, false
			}
			t.members = append(t.members, &triedMember{pod: member.Pod, info: info, key: key})
			if priority := corev1helpers.PodPriority(member.Pod); !found || priority < lowest {
				lowest, found = priority, true
			}
		}
	}
	slices.SortFunc(t.members, func(a, b *triedMember) int { return strings.Compare(a.pod.Name, b.pod.Name) })
	return lowest, found
}

// take removes a member that waits from the node it waits for.
func (t *trial) take(member *gang.Member) {
	if node := t.byName[member.Node]; node != nil && member.Phase != gang.Pending {
		_ = node.RemovePod(klog.FromContext(t.ctx), member.Pod) // it is not there if the snapshot is older than the decision
	}
}

// Remove takes a candidate off its node.
func (t *trial) Remove(candidate int) error {
	node := t.byName[t.candidates[candidate].Node]
	if err := node.RemovePod(klog.FromContext(t.ctx), t.pods[candidate].GetPod()); err != nil {
		return err
	}
	for _, member := range t.members {
		if status := t.without(member, t.pods[candidate], node); !status.IsSuccess() {
			return status.AsError()
		}
	}
	t.gone = append(t.gone, candidate)
	return nil
}

// Return puts it back.
func (t *trial) Return(candidate int) error {
	node := t.byName[t.candidates[candidate].Node]
	node.AddPodInfo(t.pods[candidate])
	t.gone = slices.DeleteFunc(t.gone, func(other int) bool { return other == candidate })
	for _, member := range t.members {
		if member.state == nil {
			continue
		}
		if status := t.handle.RunPreFilterExtensionAddPod(t.ctx, member.state, member.pod, t.pods[candidate], node); !status.IsSuccess() {
			return status.AsError()
		}
	}
	return nil
}

// without takes a pod out of what PreFilter counted for a member; before that ran, there is nothing to do.
func (t *trial) without(member *triedMember, info fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	if member.state == nil {
		return nil
	}
	return t.handle.RunPreFilterExtensionRemovePod(t.ctx, member.state, member.pod, info, node)
}

// prepare runs PreFilter for a member, and corrects what plugins counted by the pods that are gone and the members that are placed.
func (t *trial) prepare(member *triedMember) (*fwk.PreFilterResult, *fwk.Status) {
	member.state = framework.NewCycleState()
	member.state.Write(dryRunKey, refused{})
	result, status, _ := t.handle.RunPreFilterPlugins(t.ctx, member.state, member.pod)
	if !status.IsSuccess() {
		return nil, status
	}
	for _, candidate := range t.gone {
		if status := t.without(member, t.pods[candidate], t.byName[t.candidates[candidate].Node]); !status.IsSuccess() {
			return nil, status
		}
	}
	for _, other := range t.members {
		if other.node == "" {
			continue
		}
		if status := t.handle.RunPreFilterExtensionAddPod(t.ctx, member.state, member.pod, other.info, t.byName[other.node]); !status.IsSuccess() {
			return nil, status
		}
	}
	return result, nil
}

// Place puts each member on the first node that takes it, with those placed before it there.
func (t *trial) Place() ([]string, bool) {
	nodes, next := make([]string, len(t.members)), 0
	for i, member := range t.members {
		at, refused := t.place(member, next)
		if at < 0 {
			if t.refusals == nil {
				t.refusals = refused
			}
			continue
		}
		next, nodes[i] = at, member.node
	}
	return nodes, t.complete()
}

// place puts a member on the first node from the given one on that takes it, and returns its index; -1 and what each node
// refused it for when there is none.
func (t *trial) place(member *triedMember, from int) (at int, refused map[refusal]int32) {
	refused = map[refusal]int32{}
	count := func(status *fwk.Status, nodes int) {
		for _, reason := range status.Reasons() {
			refused[refusal{status.Plugin(), reason}] += int32(nodes)
		}
	}
	result, status := t.prepare(member)
	if !status.IsSuccess() {
		count(status, len(t.nodes))
		return -1, refused
	}
	for offset := range t.nodes {
		at = (from + offset) % len(t.nodes)
		node := t.nodes[at]
		name := node.Node().Name
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			refused[refusal{reason: "node(s) didn't satisfy a plugin's PreFilter"}]++
			continue
		}
		if status := t.handle.RunFilterPlugins(t.ctx, member.state, member.pod, node); !status.IsSuccess() {
			count(status, 1)
			continue
		}
		node.AddPodInfo(member.info)
		member.node = name
		return at, nil
	}
	return -1, refused
}

// Holds runs the filters for every member placed on the node, with everything else there.
func (t *trial) Holds(name string) bool {
	node := t.byName[name]
	for _, member := range t.members {
		if member.node != name {
			continue
		}
		if err := node.RemovePod(klog.FromContext(t.ctx), member.pod); err != nil {
			return false
		}
		fits := t.handle.RunFilterPlugins(t.ctx, member.state, member.pod, node).IsSuccess()
		node.AddPodInfo(member.info)
		if !fits {
			return false
		}
	}
	return true
}
