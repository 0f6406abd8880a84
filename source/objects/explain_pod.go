package objects

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/fanout"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/decision/scheduling/refusals"
	"koordinator.sh/koord/decision/scheduling/schedulinghint"
)

// DefaultProfile is the scheduler's profile when its configuration cannot be read.
const DefaultProfile = "koord-scheduler"

const defaultMaxNodes = 5

// ExplainPod says which nodes refuse a pod and why, as far as objects tell. Its Incomplete names the checks it could not
// run, so that "schedulable" is never claimed of a pod the scheduler itself has refused.
func ExplainPod(in PodSnapshot) *diagnosticsv1alpha1.PodExplanation {
	if in.MaxNodes <= 0 {
		in.MaxNodes = defaultMaxNodes
	}
	if len(in.Profiles) == 0 {
		in.Profiles = []string{DefaultProfile}
	}
	policy := loadaware.NewPolicy(in.Args)
	answer := &diagnosticsv1alpha1.PodExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "PodExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Pod.Namespace, Name: in.Pod.Name},
		Spec:       diagnosticsv1alpha1.PodExplanationSpec{PodName: in.Pod.Name, History: in.History},
	}
	s := &answer.Status
	s.Pod = facts(in.Pod, policy, in.Now)
	s.Findings = schedulinghint.Findings(in.Pod, s.Pod.Hint)
	if in.Unknown.Has(unknown.SchedulerConfiguration) {
		s.Pod.EstimatedUsage = nil // the factors of the estimate are not known
	}
	s.Origin = diagnosticsv1alpha1.Origin{Component: "koordctl", EvaluatedAt: metav1.NewTime(in.Now)}
	s.Incomplete, s.Unknown = slices.Clone(in.Missing), in.Unknown.List()
	if in.History {
		s.Incomplete = append(s.Incomplete, "past attempts: only the scheduler records them")
	}
	if verdictWithoutNodes(&in, s) {
		return answer
	}
	refused, names := evaluate(&in, policy), make([]string, len(in.Nodes))
	s.NodesTotal = int32(len(in.Nodes))
	for i := range in.Nodes {
		names[i] = in.Nodes[i].Name
		if len(refused[i]) == 0 {
			s.NodesFeasible++
		}
	}
	if in.unjudged() != "" {
		s.NodesFeasible, s.NodesUnknown = 0, s.NodesFeasible
	}
	groups := refusals.GroupByReason(names, refused)
	for _, group := range groups {
		s.Groups = append(s.Groups, group.Publish(in.MaxNodes))
	}
	s.Incomplete = append(s.Incomplete, unevaluated(&in)...)
	conclude(&in, s, groups)
	return answer
}

func facts(pod *corev1.Pod, policy *loadaware.Policy, now time.Time) diagnosticsv1alpha1.PodFacts {
	requests := podrequest.Of(pod)
	created := pod.CreationTimestamp
	f := diagnosticsv1alpha1.PodFacts{
		Namespace: pod.Namespace, Name: pod.Name, QoSClass: string(requests.QoS), PriorityBand: string(requests.Band),
		Priority: pod.Spec.Priority, SchedulerName: pod.Spec.SchedulerName, NodeName: pod.Spec.NodeName, Phase: pod.Status.Phase,
		Requests: nodefit.RequestsOf(pod), EstimatedUsage: policy.ResourceList(policy.Estimate(pod).Usage),
		Hint: schedulinghint.Explain(pod, now),
	}
	if !created.IsZero() {
		f.CreatedAt = &created
	}
	return f
}

// verdictWithoutNodes answers what needs no look at the nodes, and says whether it did.
func verdictWithoutNodes(in *PodSnapshot, s *diagnosticsv1alpha1.PodExplanationStatus) bool {
	pod := in.Pod
	switch {
	case podstate.Ended(pod):
		s.Verdict = diagnosticsv1alpha1.PodFinished
		s.Summary = podstate.Ending(pod)
	case pod.Spec.NodeName != "":
		s.Verdict = diagnosticsv1alpha1.PodBound
		s.Summary = fmt.Sprintf("the pod runs on %s", pod.Spec.NodeName)
		if since := scheduledAt(pod); !since.IsZero() {
			s.Summary = fmt.Sprintf("the pod was placed on %s %s", pod.Spec.NodeName, freshness.Ago(in.Now, since))
		}
		s.Incomplete = append(s.Incomplete, "why this node: only the scheduler knows the scores")
	case len(pod.Spec.SchedulingGates) > 0:
		s.Verdict, s.Code = diagnosticsv1alpha1.PodGated, string(finding.SchedulingGated)
		s.Summary = fmt.Sprintf("gated: waiting for scheduling gates: %s", gatesOf(pod))
	case !slices.Contains(in.Profiles, schedulerName(pod)) && in.Unknown.Has(unknown.SchedulerConfiguration):
		s.Verdict = diagnosticsv1alpha1.PodUnknown
		s.Summary = fmt.Sprintf("whether %q is a profile of koord-scheduler is unknown: %s",
			schedulerName(pod), in.Unknown.Because(unknown.SchedulerConfiguration))
	case !slices.Contains(in.Profiles, schedulerName(pod)):
		s.Verdict, s.Code = diagnosticsv1alpha1.PodNotResponsible, string(finding.OtherScheduler)
		s.Summary = fmt.Sprintf("scheduler %q is not a profile of koord-scheduler", schedulerName(pod))
	default:
		return false
	}
	return true
}

// gatesOf lists scheduling gates as the scheduler does.
func gatesOf(pod *corev1.Pod) string {
	names := make([]string, len(pod.Spec.SchedulingGates))
	for i, gate := range pod.Spec.SchedulingGates {
		names[i] = gate.Name
	}
	return fmt.Sprint(names)
}

func schedulerName(pod *corev1.Pod) string {
	if pod.Spec.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return pod.Spec.SchedulerName
}

// evaluate returns the refusals of each node.
func evaluate(in *PodSnapshot, policy *loadaware.Policy) [][]refusals.Refusal {
	index, pod := in.byNode(), nodefit.NewPod(in.Pod)
	estimate := policy.Estimate(in.Pod)
	refused := make([][]refusals.Refusal, len(in.Nodes))
	fanout.Each(len(in.Nodes), func(i int) {
		node := &in.Nodes[i]
		on := index[node.Name]
		if on == nil {
			on = &onNode{}
		}
		refused[i] = nodefit.Decide(nodefit.Input{Pod: pod, Node: node, Pods: on.pods, PodsUnknown: in.Unknown.Has(unknown.Pods)})
		if in.evaluatesLoad() {
			if r, busy := load(policy, estimate, node, on, in.Now); busy {
				refused[i] = append(refused[i], r)
			}
		}
	})
	return refused
}

// evaluatesLoad says whether what load-aware scheduling looks at is known.
func (s *PodSnapshot) evaluatesLoad() bool {
	return s.LoadAware && !s.Unknown.Has(unknown.NodeMetrics, unknown.SchedulerConfiguration)
}

// unjudged says why a node that no check refuses is not known to be feasible; empty when every check had what it looks at.
func (s *PodSnapshot) unjudged() string {
	return s.Unknown.Because(unknown.Pods, unknown.NodeMetrics, unknown.SchedulerConfiguration)
}

// load asks load-aware scheduling, with the pods already assigned.
func load(policy *loadaware.Policy, estimate loadaware.Estimate, node *corev1.Node, on *onNode, now time.Time) (refusals.Refusal, bool) {
	input := loadaware.NodeInput{Node: node, Metric: on.metric}
	for _, pod := range on.pods {
		input.Assigned = append(input.Assigned, loadaware.AssignedPod{Pod: pod, AssignedAt: scheduledAt(pod)})
	}
	filtered := loadaware.Input{Policy: policy, Node: policy.Observe(input), Pod: estimate, Now: now}
	if loadaware.Filter(filtered, nil).Passed() {
		return refusals.Refusal{}, false
	}
	trace := &loadaware.Trace{}
	verdict := loadaware.Filter(filtered, trace)
	return refusals.Refusal{
		Plugin: loadaware.PluginName, Code: verdict.Code, Final: true, Reason: verdict.Reason(), Phrase: verdict.Phrase(), Distance: verdict.Distance(),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands(verdict) },
	}, true
}

// scheduledAt is when the pod got its node; zero when unknown.
func scheduledAt(pod *corev1.Pod) time.Time {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time
		}
	}
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return time.Time{}
}
