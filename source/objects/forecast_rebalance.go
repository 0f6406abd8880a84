package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// plannedRebalance is LoadAwareRebalancing of one profile. What it predicts load from is known to koord-descheduler alone: the load that nodes
// report now is taken instead.
type plannedRebalance struct {
	profile *DeschedulerProfile
	nodes   labels.Selector
	may     evictability.Policy
	// first and last are the inputs of the first and the last round, message what came of the last.
	first, last rebalance.Input
	message     string
	stays       []rebalance.Skip
	// remedies that were listed, by what they are and whom they are about.
	remedies map[string]bool
}

func newPlannedRebalance(profile *DeschedulerProfile) (*plannedRebalance, []string, error) {
	nodes, err := nodesOf(profile.Rebalance.NodeSelector)
	if err != nil {
		return nil, nil, fmt.Errorf("arguments of %s: nodeSelector: %w", rebalance.PluginName, err)
	}
	may, unknown, err := evictionPolicy(profile.Migration)
	if err != nil {
		return nil, nil, err
	}
	unknown = append(unknown, rebalance.PluginName+" also knows the load of the past and evictions by other components, which were not read; "+
		"the load that nodes report now is taken for the predicted one")
	return &plannedRebalance{profile: profile, nodes: nodes, may: may, remedies: map[string]bool{}}, unknown, nil
}

// rebalanceView is an input with its objects.
type rebalanceView struct {
	in    rebalance.Input
	nodes []*corev1.Node
	pods  []*corev1.Pod
	of    map[types.UID]int
}

// view builds the input of a round.
func (p *plannedRebalance) view(f *forecast, number int) *rebalanceView {
	v := &rebalanceView{of: map[types.UID]int{}, in: rebalance.Input{
		Args: p.profile.Rebalance, Now: f.at(number), Resources: slices.Sorted(maps.Keys(p.profile.Rebalance.HighThresholds)), History: f.moved,
	}}
	for _, node := range f.nodes {
		if !p.profile.Nodes.Matches(labels.Set(node.Labels)) || !p.nodes.Matches(labels.Set(node.Labels)) {
			continue
		}
		p.addNode(f, v, node)
	}
	v.in.Feasible = rebalance.NodeFit(v.nodes, v.pods, func(pod int) int { return v.in.Pods[pod].Node })
	return v
}

// addNode adds a node with its pods and their usage.
func (p *plannedRebalance) addNode(f *forecast, v *rebalanceView, node *corev1.Node) {
	one, used := measuredNode(node, f.metrics[node.Name], f.pods[node.Name], v.in.Resources, v.in.Now, expirationOf(p.profile.Rebalance))
	one.Limit = rebalance.Limits(v.in.Resources, f.limits.Limits(node), f.agents[node.Name])
	bestEffort := make([]float64, len(v.in.Resources))
	for _, pod := range f.pods[node.Name] {
		limit := rebalance.CPULimitOf(pod)
		usage := throttled(v.in.Resources, used[podName{pod.Namespace, pod.Name}], limit, one.Usage)
		if extension.PodQoSClass(pod) == extension.QoSBE {
			for r := range usage {
				bestEffort[r] += usage[r]
			}
		}
		planned := p.podOf(f, v, pod, usage)
		planned.Limit = limit
		v.in.Pods = append(v.in.Pods, planned)
		v.pods = append(v.pods, pod)
	}
	one.Reclaimable = rebalance.Reclaimable(v.in.Resources, one.Capacity, one.Usage, bestEffort, f.agents[node.Name])
	v.in.Nodes, v.nodes = append(v.in.Nodes, one), append(v.nodes, node)
}

func (p *plannedRebalance) podOf(f *forecast, v *rebalanceView, pod *corev1.Pod, usage []float64) rebalance.Pod {
	out := rebalance.Pod{Name: pod.Namespace + "/" + pod.Name, Node: len(v.nodes), Workload: -1, Usage: usage}
	if workload := f.workload(pod); workload != nil {
		at, known := v.of[workload.UID]
		if !known {
			at = len(v.in.Workloads)
			v.of[workload.UID] = at
			v.in.Workloads = append(v.in.Workloads, rebalance.Workload{Key: keyOf(workload), Freeze: f.in.Frozen[workload.UID]})
		}
		v.in.Workloads[at].Replicas++
		out.Workload = at
	}
	if pod.Status.StartTime != nil {
		out.Started = pod.Status.StartTime.Time
	}
	if pod.Spec.Priority != nil {
		out.Priority = *pod.Spec.Priority
	}
	out.EvictionCost, _ = extension.EvictionCost(pod.Annotations) // an invalid cost counts as 0
	out.RunsJob(pod, nil, v.in.Now)
	if job := f.leaving[podName{pod.Namespace, pod.Name}]; job != "" {
		out.Protected = "PodMigrationJob " + job + " moves it already"
	} else if verdict := evictability.Decide(evictability.Input{Pod: pod, Policy: p.withoutNodeFit()}); !verdict.Allowed {
		out.Protected = verdict.Message()
	}
	return out
}

// withoutNodeFit leaves out the gate that the search for a target makes needless.
func (p *plannedRebalance) withoutNodeFit() evictability.Policy {
	policy := p.may
	policy.NodeFit = false
	return policy
}

// pass plans one round and moves its pods.
func (p *plannedRebalance) pass(f *forecast, number int, limits *evictionLimits) {
	if p.profile.Rebalance.Paused {
		p.message = "the plugin is paused: its argument paused is true"
		return
	}
	v, trace := p.view(f, number), rebalance.Trace{}
	plan := p.decide(f, v, &trace)
	if number == 0 {
		p.first = v.in
	}
	p.last, p.message, p.stays = v.in, trace.Message(plan), trace.Skipped
	p.remedy(f, number, v, plan, &trace)
	refused := 0
	for i, move := range plan.Moves() {
		pod := v.pods[move.Pod]
		if reached, _ := limits.take(pod); reached != "" {
			refused++
			p.message = fmt.Sprintf("%s planned and not made, because %s", phrase.Counted(refused, "move"), reached)
			p.stays = append(p.stays, rebalance.Skip{Pod: v.in.Pods[move.Pod].Name, Node: v.in.Nodes[move.From].Name, Reason: rebalance.LimitReached, Detail: reached})
			continue
		}
		f.answer.Moves = append(f.answer.Moves, p.moveOf(f, number, pod, &trace.Moves[i], v.in.Pods[move.Pod].Usage, v.in.Resources))
		f.move(pod, v.in.Nodes[move.From].Name, v.in.Nodes[move.To].Name)
	}
}

func (p *plannedRebalance) moveOf(f *forecast, number int, pod *corev1.Pod, traced *rebalance.MoveTrace, usage []float64, resources []corev1.ResourceName) diagnosticsv1alpha1.ForecastMove {
	move := diagnosticsv1alpha1.ForecastMove{
		Round: int32(number + 1), Seconds: int64(f.at(number).Sub(f.in.Now).Seconds()), Namespace: pod.Namespace, Name: pod.Name, From: traced.From, To: traced.To,
		Profile: p.profile.Name, Plugin: rebalance.PluginName,
		Reason: fmt.Sprintf("the potential falls by %.4g, at least %.4g is required", traced.Before-traced.After, traced.Required),
		Keys:   []diagnosticsv1alpha1.ForecastKey{{Name: "gain", Value: fmt.Sprintf("%.4g", traced.Before-traced.After)}, {Name: "cost", Value: fmt.Sprintf("%.3g", traced.Cost)}},
	}
	if traced.Loss != "" {
		move.Reason += "; " + traced.Loss
		move.Keys = append(move.Keys, diagnosticsv1alpha1.ForecastKey{Name: "done", Value: fmt.Sprint(traced.Done)})
	}
	for _, runner := range traced.Runners {
		if runner.Why == "gains less" && len(move.Alternatives) < mostAlternatives {
			move.Alternatives = append(move.Alternatives, runner.Node)
		}
	}
	for r, name := range resources {
		move.Usage = append(move.Usage, diagnosticsv1alpha1.ForecastAmount{Resource: string(name), Amount: inUnit(name, usage[r]), Unit: amount.UnitOf(name)})
	}
	return move
}

func inUnit(name corev1.ResourceName, value float64) int64 {
	if amount.UnitOf(name) == diagnosticsv1alpha1.MilliCPU {
		value *= 1000
	}
	return int64(value + 0.5)
}

// conclude adds the nodes, why nothing more moves, and the pods that stay.
func (p *plannedRebalance) conclude(f *forecast) {
	overutilized := int32(0)
	if !p.profile.Rebalance.Paused {
		after := p.view(f, f.in.Rounds-1).in
		first, last := rebalance.Classify(p.first), rebalance.Classify(after)
		for i := range p.first.Nodes {
			node := p.nodeOf(&p.first.Nodes[i], &after.Nodes[i])
			node.Class, node.ClassAfter = string(first[i].Class), string(last[i].Class)
			f.answer.Nodes = append(f.answer.Nodes, node)
			if last[i].Class == rebalance.High {
				overutilized++
			}
		}
	}
	stop := p.message
	if highest := p.highest(); highest != "" {
		stop += "; " + highest
	}
	f.answer.Pools = append(f.answer.Pools, diagnosticsv1alpha1.ForecastPool{Profile: p.profile.Name, Overutilized: overutilized, Stop: stop})
	for _, skip := range p.stays {
		namespace, name, _ := strings.Cut(skip.Pod, "/")
		reason := string(skip.Reason)
		if skip.Detail != "" {
			reason += ": " + skip.Detail
		}
		f.answer.Stays = append(f.answer.Stays, diagnosticsv1alpha1.ForecastStay{Namespace: namespace, Name: name, Node: skip.Node, Reason: reason})
	}
}

// highest names for each resource the node with the highest load in the last round, beside the threshold.
func (p *plannedRebalance) highest() string {
	var parts []string
	for r, name := range p.last.Resources {
		most, node := -1.0, ""
		for i := range p.last.Nodes {
			one := &p.last.Nodes[i]
			if one.Usage != nil && one.Capacity[r] > 0 && one.Usage[r]/one.Capacity[r] > most {
				most, node = one.Usage[r]/one.Capacity[r], one.Name
			}
		}
		if node != "" {
			parts = append(parts, fmt.Sprintf("highest %s usage %.1f%% on %s, threshold %d%%", name, most*100, node, p.profile.Rebalance.HighThresholds[name]))
		}
	}
	return strings.Join(parts, "; ")
}

// nodeOf is a node with its load before and after, without its class.
func (p *plannedRebalance) nodeOf(before, after *rebalance.Node) diagnosticsv1alpha1.ForecastNode {
	out := diagnosticsv1alpha1.ForecastNode{Name: before.Name, Profile: p.profile.Name, Problem: problemOf(before)}
	if before.Usage == nil {
		return out
	}
	for r, name := range slices.Sorted(maps.Keys(p.profile.Rebalance.HighThresholds)) {
		load := diagnosticsv1alpha1.ForecastLoad{
			Resource: string(name), Unit: amount.UnitOf(name), Capacity: inUnit(name, before.Capacity[r]), Before: inUnit(name, before.Usage[r]),
			HighBasisPoints: new(p.profile.Rebalance.HighThresholds[name] * 100),
		}
		load.After = load.Before
		if after.Usage != nil {
			load.After = inUnit(name, after.Usage[r])
		}
		if load.Capacity > 0 {
			load.BeforeBasisPoints = basisPoints(float64(load.Before) / float64(load.Capacity) * 100)
			load.AfterBasisPoints = basisPoints(float64(load.After) / float64(load.Capacity) * 100)
		}
		out.Resources = append(out.Resources, load)
	}
	return out
}
