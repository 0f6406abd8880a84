package agentview

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// BestEffortCPU is the resource of the waterfall that computes the budget of best-effort pods.
const BestEffortCPU = "best-effort-cpu"

// Suppression repeats a decision with a trace, and explains it. Nothing is read back from cgroups; the caller adds the values in force.
func Suppression(in suppression.Input) *diagnosticsv1alpha1.SuppressionExplanation {
	trace := &suppression.Trace{}
	d := suppression.Decide(in, trace)
	out := &diagnosticsv1alpha1.SuppressionExplanation{Enabled: &d.Enabled, Policy: string(d.Policy), Hold: d.Hold}
	if !d.Enabled {
		out.Message = "best-effort pods are not suppressed: resource-threshold-config.enable is not true"
		return out
	}
	if d.Budget != nil {
		out.Budget = &diagnosticsv1alpha1.Waterfall{
			Resource: BestEffortCPU, Unit: diagnosticsv1alpha1.MilliCPU, Policy: string(d.Policy), Terms: trace.Budget, Result: d.Budget.Milli,
		}
		out.BestEffortUsed = &d.Budget.BestEffortUsed
	}
	out.CPUs, out.CPUNote = d.CPUs.List, cpuNote(d.CPUs, &trace.CPUs)
	if d.Hold == "" {
		quota := d.Quota.Quota
		out.QuotaMicroseconds, out.QuotaNote = &quota, quotaNote(d.Quota)
	}
	out.Message = suppressionMessage(d)
	return out
}

func suppressionMessage(d suppression.Decision) string {
	switch {
	case d.Hold != "":
		return "the limits of best-effort pods are left unchanged: " + d.Hold
	case d.Budget == nil:
		return "the limits of best-effort pods were not decided"
	case d.Budget.Exceeded():
		return fmt.Sprintf("best-effort pods may use %s cores and use %s: suppressed", cores(d.Budget.Milli), cores(d.Budget.BestEffortUsed))
	}
	return fmt.Sprintf("best-effort pods may use %s cores and use %s", cores(d.Budget.Milli), cores(d.Budget.BestEffortUsed))
}

// limits says in words what decided a number.
var limits = map[string]string{
	suppression.LimitBudget:    "the budget",
	suppression.LimitLeast:     "the minimum kept for best-effort pods",
	suppression.LimitStep:      "the growth limit of 10% of the node per round",
	suppression.LimitAvailable: "the CPUs available to best-effort pods",
	suppression.LimitBypass:    "the change being below 1%",
}

func cpuNote(choice suppression.CPUChoice, trace *suppression.CPUTrace) string {
	if choice.Hold != "" || trace.Limit == "" {
		return choice.Hold
	}
	return fmt.Sprintf("%d CPUs, limited by %s; the budget asks for %d", trace.Count, limits[trace.Limit], trace.Wanted)
}

func quotaNote(choice suppression.QuotaChoice) string {
	if choice.Hold != "" || choice.Limit == "" {
		return choice.Hold
	}
	if choice.Quota == cfs.Unlimited {
		return "the policy sets no quota"
	}
	return "by " + limits[choice.Limit]
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }

// SuppressionInput is what the agent would decide of, from the objects. What is in force is not known, so that nothing bounds how
// fast the limits grow.
func (n *Node) SuppressionInput() suppression.Input {
	topology := n.cpus()
	in := suppression.Input{Now: n.Now, Strategy: n.strategy(), Measurement: n.measurement(), CPUs: n.lendable(topology), CurrentQuota: cfs.Unlimited}
	if topology != nil {
		in.CurrentCPUs = topology.CPUs
	}
	return in
}

// suppressionUnknown says why it cannot be decided how best-effort pods are held back; empty when all it depends on was read.
func (n *Node) suppressionUnknown() string {
	if why := n.Unknown.Because(unknown.NodeSLOs); why != "" {
		return why
	}
	if strategy := n.strategy(); strategy == nil || strategy.Enable == nil || !*strategy.Enable {
		return ""
	}
	return n.Unknown.Because(unknown.NodeMetrics, unknown.Pods)
}

// unknownSuppression says why it is not known how best-effort pods are suppressed.
func (n *Node) unknownSuppression(why string) *diagnosticsv1alpha1.SuppressionExplanation {
	if n.Unknown.Has(unknown.NodeSLOs) {
		return &diagnosticsv1alpha1.SuppressionExplanation{Message: "whether best-effort pods are suppressed is unknown: " + why}
	}
	return &diagnosticsv1alpha1.SuppressionExplanation{Enabled: new(true), Message: "how much CPU best-effort pods may use is unknown: " + why}
}

// heldTo is the list of CPUs that a decision holds best-effort pods to; empty where there is no decision.
func heldTo(d suppression.Decision, undecided string) string {
	if undecided != "" {
		return ""
	}
	return d.CPUs.List
}

// measurement is what the budget is computed from.
func (n *Node) measurement() suppression.Measurement {
	size := capacity.Of(n.Object)
	out := suppression.Measurement{
		Observation: n.Observation, Capacity: size.Total.MilliCPU, Reserved: max(size.Total.MilliCPU-size.Raw.MilliCPU, 0), NodeUsed: n.Used.MilliCPU,
	}
	for _, pod := range n.Pods {
		if used := n.used(pod); used != nil {
			out.Pods = append(out.Pods, suppression.Load{Namespace: pod.Namespace, Name: pod.Name, QoS: classOf(pod), Used: used.MilliCPU})
		}
	}
	return out
}

// lendable are the node's CPUs and those who lend none.
func (n *Node) lendable(topology *cpuset.Topology) suppression.CPUs {
	out := suppression.CPUs{Topology: topology}
	var lse cpuset.CPUSet
	for i, owner := range cpupool.Owners(n.Pods) {
		switch classOf(n.Pods[i]) {
		case extension.QoSLSE:
			lse = lse.Union(owner.CPUs)
		case extension.QoSLSR:
			out.LSR = out.LSR.Union(owner.CPUs)
		}
	}
	out.Excluded = suppression.Exclusions(n.Object.Annotations, n.annotations(), lse)
	return out
}

// classOf is the pod's class as requests are counted by.
func classOf(pod *corev1.Pod) extension.QoSClass { return podrequest.Of(pod).QoS }
