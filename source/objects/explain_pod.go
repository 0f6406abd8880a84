package objects

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/loadaware"
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
	s.Pod = facts(in.Pod, policy)
	if in.Unknown.Has(unknown.SchedulerConfiguration) {
		s.Pod.EstimatedUsage = nil // the factors of the estimate are not known
	}
	s.Origin = diagnosticsv1alpha1.Origin{Component: "koordctl", EvaluatedAt: metav1.NewTime(in.Now)}
	s.Incomplete, s.Unknown = slices.Clone(in.Missing), in.Unknown.List()
	if in.History {
		s.Incomplete = append(s.Incomplete, "past attempts: only the scheduler remembers them")
	}
	if verdictWithoutNodes(&in, s) {
		return answer
	}
	refused := evaluate(&in, policy)
	s.NodesTotal = int32(len(in.Nodes))
	s.NodesFeasible = s.NodesTotal - int32(len(refused))
	if in.unjudged() != "" {
		s.NodesFeasible, s.NodesUnknown = 0, s.NodesFeasible
	}
	s.Groups = group(refused, in.MaxNodes)
	s.Incomplete = append(s.Incomplete, unevaluated(&in)...)
	conclude(&in, s)
	return answer
}

func facts(pod *corev1.Pod, policy *loadaware.Policy) diagnosticsv1alpha1.PodFacts {
	requests := podrequest.Of(pod)
	created := pod.CreationTimestamp
	f := diagnosticsv1alpha1.PodFacts{
		Namespace: pod.Namespace, Name: pod.Name, QoSClass: string(requests.QoS), PriorityBand: string(requests.Band),
		Priority: pod.Spec.Priority, SchedulerName: pod.Spec.SchedulerName, NodeName: pod.Spec.NodeName, Phase: pod.Status.Phase,
		Requests: requestsOf(pod), EstimatedUsage: policy.ResourceList(policy.Estimate(pod).Usage),
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
	case finished(pod):
		s.Verdict = diagnosticsv1alpha1.PodFinished
		s.Summary = fmt.Sprintf("the pod has finished: %s", pod.Status.Phase)
	case pod.Spec.NodeName != "":
		s.Verdict = diagnosticsv1alpha1.PodBound
		s.Summary = fmt.Sprintf("the pod runs on %s", pod.Spec.NodeName)
		if since := scheduledAt(pod); !since.IsZero() {
			s.Summary = fmt.Sprintf("the pod was placed on %s %s", pod.Spec.NodeName, freshness.Ago(in.Now, since))
		}
		s.Incomplete = append(s.Incomplete, "why this node: only the scheduler knows the scores")
	case len(pod.Spec.SchedulingGates) > 0:
		s.Verdict, s.Code = diagnosticsv1alpha1.PodGated, string(finding.SchedulingGated)
		s.Summary = fmt.Sprintf("the pod waits for the removal of scheduling gate %q", pod.Spec.SchedulingGates[0].Name)
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

func schedulerName(pod *corev1.Pod) string {
	if pod.Spec.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return pod.Spec.SchedulerName
}

// evaluate returns the refusals of the nodes that have any.
func evaluate(in *PodSnapshot, policy *loadaware.Policy) map[string][]refusal {
	index, wanted, open := in.byNode(), demandOf(in.Pod), hostPorts(in.Pod)
	estimate := policy.Estimate(in.Pod)
	refused := map[string][]refusal{}
	for i := range in.Nodes {
		node := &in.Nodes[i]
		on := index[node.Name]
		if on == nil {
			on = &onNode{}
		}
		refusals := static(in.Pod, node)
		if r, taken := ports(open, on); taken {
			refusals = append(refusals, r)
		}
		if in.Unknown.Has(unknown.Pods) {
			refusals = append(refusals, wanted.beyond(node)...)
		} else {
			refusals = append(refusals, wanted.fit(node, on)...)
		}
		if in.evaluatesLoad() {
			if r, busy := load(policy, estimate, node, on, in.Now); busy {
				refusals = append(refusals, r)
			}
		}
		if len(refusals) > 0 {
			refused[node.Name] = refusals
		}
	}
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
func load(policy *loadaware.Policy, estimate loadaware.Estimate, node *corev1.Node, on *onNode, now time.Time) (refusal, bool) {
	input := loadaware.NodeInput{Node: node, Metric: on.metric}
	for _, pod := range on.pods {
		input.Assigned = append(input.Assigned, loadaware.AssignedPod{Pod: pod, AssignedAt: scheduledAt(pod)})
	}
	trace := &loadaware.Trace{}
	verdict := loadaware.Filter(loadaware.Input{Policy: policy, Node: policy.Observe(input), Pod: estimate, Now: now}, trace)
	if verdict.Passed() {
		return refusal{}, false
	}
	return refusal{
		plugin: loadaware.PluginName, code: verdict.Code, reason: verdict.Reason(), message: trace.Message(verdict),
		operands: trace.Operands(verdict), distance: float64(verdict.Percent - verdict.Threshold),
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
