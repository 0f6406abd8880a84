package objects

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podorder"
)

// mostAlternatives bounds the nodes that are named beside the one that was found.
const mostAlternatives = 3

// plannedPlugin is LowNodeLoad of one profile, or LoadAwareRebalancing in the mode Upstream, with what its passes remember.
type plannedPlugin struct {
	name    string
	profile *DeschedulerProfile
	args    *lownodeload.Args
	policy  *lownodeload.Policy
	may     evictability.Policy
	// history begins with what koord-descheduler counted, if that is recalled.
	history  lownodeload.History
	recalled bool
	// first is the trace of the first pass, and last that of the last one with its verdict.
	first, last lownodeload.Trace
	verdict     lownodeload.Verdict
	// ended says why pods stopped leaving a node, and stays are the pods that stay, both by the last pass that said so.
	ended map[string]string
	stays map[podName]lownodeload.Skipped
}

// newPlannedPlugin compiles the arguments. A plugin in dry run is forecast as if it were not.
func newPlannedPlugin(profile *DeschedulerProfile, args *lownodeload.Args, name string) (*plannedPlugin, []string, error) {
	wet := *args
	wet.DryRun = new(false)
	policy, err := lownodeload.Compile(&wet)
	if err != nil {
		return nil, nil, err
	}
	may, unknown, err := evictionPolicy(profile.Migration)
	if err != nil {
		return nil, nil, err
	}
	return &plannedPlugin{
		name: name, profile: profile, args: args, policy: policy, may: may, ended: map[string]string{}, stays: map[podName]lownodeload.Skipped{},
	}, unknown, nil
}

func (p *plannedPlugin) input(f *forecast, number int) lownodeload.Input {
	in := lownodeload.Input{Policy: p.policy, Now: f.at(number), Interval: f.in.Descheduler.Interval, History: p.history}
	for _, node := range f.nodes {
		if p.profile.Nodes.Matches(labels.Set(node.Labels)) {
			pods := slices.DeleteFunc(slices.Clone(f.pods[node.Name]), func(pod *corev1.Pod) bool { return f.leaving[podName{pod.Namespace, pod.Name}] != "" })
			in.Nodes = append(in.Nodes, lownodeload.Node{Node: node, Metric: nodeload.Of(f.metrics[node.Name]), Pods: pods})
		}
	}
	return in
}

// pass runs the plugin once and moves its victims.
func (p *plannedPlugin) pass(f *forecast, number int, limits *evictionLimits) {
	trace := lownodeload.Trace{}
	round := lownodeload.Begin(p.input(f, number), &trace)
	arrived := map[string][]*corev1.Pod{}
	var alternatives [][]string
	for victim, any := round.Next(); any; victim, any = round.Next() {
		if refusal := p.refusal(f, victim.Pod); refusal != "" {
			round.Refused(refusal)
			continue
		}
		if reached, node := limits.take(victim.Pod); reached != "" {
			if node {
				round.LeaveNode(reached)
			} else {
				round.Refused(reached)
			}
			continue
		}
		alternatives = append(alternatives, p.alternatives(f, &trace, victim, arrived))
		if victim.Target != "" {
			arrived[victim.Target] = append(arrived[victim.Target], victim.Pod)
		}
		round.Evicted()
	}
	p.verdict = round.Verdict()
	p.history, p.last = p.verdict.History, trace
	if number == 0 {
		p.first = trace
	}
	for i := range p.verdict.Victims {
		f.answer.Moves = append(f.answer.Moves, p.moveOf(f, number, &p.verdict.Victims[i], &trace.Victims[i], alternatives[i]))
		f.move(p.verdict.Victims[i].Pod, p.verdict.Victims[i].Node, p.verdict.Victims[i].Target)
	}
	p.remember(&trace)
}

// refusal says why the evictor refuses a pod; empty when it does not.
func (p *plannedPlugin) refusal(f *forecast, pod *corev1.Pod) string {
	in := evictability.Input{Pod: pod, Policy: p.may}
	if workload := f.workload(pod); workload != nil {
		in.Loop = f.guard.Of(workload.UID)
	}
	if p.may.NodeFit {
		for _, node := range f.nodes {
			in.Nodes = append(in.Nodes, evictability.Node{Node: node, Pods: f.pods[node.Name]})
		}
	}
	if verdict := evictability.Decide(in); !verdict.Allowed {
		return verdict.Message()
	}
	return ""
}

// alternatives are other underutilized nodes that take the pod by its requests, taints and affinity.
func (p *plannedPlugin) alternatives(f *forecast, trace *lownodeload.Trace, victim lownodeload.Victim, arrived map[string][]*corev1.Pod) []string {
	if victim.Target == "" || len(trace.Parts) == 0 {
		return nil
	}
	var out []string
	pod := placement.NewPod(victim.Pod)
	for _, name := range trace.Parts[len(trace.Parts)-1].Targets {
		at := slices.IndexFunc(f.nodes, func(node *corev1.Node) bool { return node.Name == name })
		if name == victim.Target || at < 0 {
			continue
		}
		node := placement.NewNode(f.nodes[at], slices.Concat(f.pods[name], arrived[name]))
		if node.Fits(pod) {
			if out = append(out, name); len(out) == mostAlternatives {
				break
			}
		}
	}
	return out
}

func (p *plannedPlugin) moveOf(f *forecast, number int, victim *lownodeload.Victim, traced *lownodeload.VictimTrace, alternatives []string) diagnosticsv1alpha1.ForecastMove {
	move := diagnosticsv1alpha1.ForecastMove{
		Round: int32(number + 1), Seconds: int64(f.at(number).Sub(f.in.Now).Seconds()), Namespace: victim.Pod.Namespace, Name: victim.Pod.Name,
		From: victim.Node, To: victim.Target, Alternatives: alternatives, Profile: p.profile.Name, Plugin: p.name, Reason: victim.Reason,
		Keys: keysOf(&traced.Rank),
	}
	for _, used := range traced.Used {
		move.Usage = append(move.Usage, diagnosticsv1alpha1.ForecastAmount{Resource: string(used.Resource), Amount: used.Amount, Unit: amount.UnitOf(used.Resource)})
	}
	return move
}

// keysOf are the keys of the order in which pods leave, the first deciding first. Those that no pod has are left out.
func keysOf(rank *podorder.Rank) []diagnosticsv1alpha1.ForecastKey {
	keys := []diagnosticsv1alpha1.ForecastKey{
		{Name: "priorityClass", Value: string(rank.PriorityClass)}, {Name: "priority", Value: strconv.Itoa(int(rank.Priority))},
		{Name: "kubeQOS", Value: string(rank.KubeQOS)}, {Name: "qos", Value: string(rank.QoS)},
		{Name: "deletionCost", Value: strconv.Itoa(int(rank.DeletionCost))}, {Name: "evictionCost", Value: strconv.Itoa(int(rank.EvictionCost))},
		{Name: "score", Value: fmt.Sprintf("%.2f", rank.Score)},
	}
	if rank.Done > 0 {
		keys = append(keys, diagnosticsv1alpha1.ForecastKey{Name: "done", Value: fmt.Sprint(float64(rank.Done) / 4)})
	}
	return slices.DeleteFunc(keys, func(key diagnosticsv1alpha1.ForecastKey) bool { return key.Value == "" })
}

// remember keeps why pods stay and why nodes are left alone.
func (p *plannedPlugin) remember(trace *lownodeload.Trace) {
	for _, skipped := range trace.Skipped {
		p.stays[podName{skipped.Namespace, skipped.Name}] = skipped
	}
	for _, victim := range trace.Victims {
		delete(p.stays, podName{victim.Rank.Namespace, victim.Rank.Name})
	}
	for _, node := range trace.Nodes {
		if node.Ended != "" {
			p.ended[node.Name] = node.Ended
		}
	}
}
