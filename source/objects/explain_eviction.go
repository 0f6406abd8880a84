package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/disruption"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/evictors"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// EvictionSnapshot is what was read of the cluster to say who could evict a pod. None of it is changed.
type EvictionSnapshot struct {
	// Pod in question, whole.
	Pod *corev1.Pod
	// Node of the pod as its agent sees it; nil for a pod without a node, or when the node could not be read.
	Node *agentview.Node
	// Reported is true where koordlet reports the usage of the node.
	Reported bool
	// Budgets of the pod's namespace.
	Budgets []policyv1.PodDisruptionBudget
	// Quotas of the cluster; MonitorsQuotas is true where the scheduler evicts pods of those that use too much.
	Quotas         []schedulingsigsv1alpha1.ElasticQuota
	MonitorsQuotas bool
	// Pending are the pods that wait for a node.
	Pending []corev1.Pod
	// Descheduler is its configuration, and Descheduling is true where it runs.
	Descheduler  *Descheduler
	Descheduling bool
	Jobs         []schedulingv1alpha1.PodMigrationJob
	// Above is the controller of the pod's ReplicaSet; nil for a pod without one. It is read where a workload of the namespace goes in circles.
	Above *metav1.OwnerReference
	// Nodes and Pods of the cluster, for the gate NodeFit.
	Nodes []corev1.Node
	Pods  []corev1.Pod
	// Undecided are the evictors of which nothing can be said, and why. Unsure are those that may be able to do more, or less, than is said.
	Undecided, Unsure map[string][]string
	// Missing says what could not be read, why, and what follows.
	Missing []string
	// Now is the moment of the answer.
	Now time.Time
}

// StateUnknown is the state of an evictor of which too little was read.
const StateUnknown = "unknown"

// ExplainEviction says who could evict the pod now, in which order, and what protects it.
func ExplainEviction(in *EvictionSnapshot) (*diagnosticsv1alpha1.EvictionExplanation, error) {
	pod := in.Pod
	out := &diagnosticsv1alpha1.EvictionExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "EvictionExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, NodeName: pod.Spec.NodeName,
		Evictors: []diagnosticsv1alpha1.PodEvictor{}, Incomplete: slices.Clone(in.Missing),
	}
	budgets := disruption.Selecting(pod, in.Budgets)
	for _, budget := range budgets {
		out.Budgets = append(out.Budgets, diagnosticsv1alpha1.PodBudget{
			Name: budget.Name, DisruptionsAllowed: budget.Status.DisruptionsAllowed, CurrentHealthy: budget.Status.CurrentHealthy, DesiredHealthy: budget.Status.DesiredHealthy,
		})
	}
	descheduler, unsure, err := in.descheduler()
	if err != nil {
		return nil, err
	}
	out.Incomplete = append(out.Incomplete, unsure...)
	quota, unsureQuota := in.quota()
	agent, undecided := in.agent()
	input := evictors.Input{
		Pod: pod, Disruption: disruption.Refusal(pod, budgets), Agent: agent, Quota: quota, Preemption: in.preemption(), Descheduler: descheduler,
	}
	if in.Node != nil {
		input.Node = in.Node.Object
	}
	for _, evictor := range evictors.Decide(input) {
		out.Evictors = append(out.Evictors, in.known(evictor, undecided, unsureQuota))
	}
	slices.SortStableFunc(out.Evictors, func(a, b diagnosticsv1alpha1.PodEvictor) int {
		return cmp.Compare(stateRank(a.State), stateRank(b.State))
	})
	out.Message = evictionMessage(out)
	return out, nil
}

func stateRank(state string) int {
	return slices.Index([]string{string(evictors.Now), string(evictors.Possible), StateUnknown, string(evictors.Protected)}, state)
}

// known is an evictor with what is not known of it. Nothing is said to need or to lack what was not read.
func (in *EvictionSnapshot) known(evictor evictors.Evictor, undecidedAgent []string, unsureQuota string) diagnosticsv1alpha1.PodEvictor {
	undecided := in.Undecided[evictor.Name]
	if evictor.Name == evictors.NodeAgent && evictor.State != evictors.Now {
		undecided = slices.Concat(undecided, undecidedAgent)
	}
	out := diagnosticsv1alpha1.PodEvictor{
		Name: evictor.Name, State: string(evictor.State), Needs: evictor.Needs, Protections: evictor.Protections, IgnoresBudgets: evictor.IgnoresBudgets,
		Unknown: slices.Concat(undecided, in.Unsure[evictor.Name]),
	}
	if evictor.Name == evictors.Revoking && unsureQuota != "" {
		out.Unknown = append(out.Unknown, unsureQuota)
	}
	if evictor.Name == evictors.NodeAgent && in.Pod.Spec.NodeName == "" {
		out.Protections = []string{"the pod has no node"}
	}
	if len(undecided) > 0 {
		out.State, out.Needs, out.Protections = StateUnknown, nil, nil
	}
	return out
}

func (in *EvictionSnapshot) descheduler() (evictors.Descheduler, []string, error) {
	out := evictors.Descheduler{Installed: in.Descheduling, Evictability: evictability.Verdict{Allowed: true}}
	for i := range in.Jobs {
		job := &in.Jobs[i]
		ref, phase := job.Spec.PodRef, job.Status.Phase
		open := phase == "" || phase == schedulingv1alpha1.PodMigrationJobPending || phase == schedulingv1alpha1.PodMigrationJobRunning
		if open && ref != nil && ref.Namespace == in.Pod.Namespace && ref.Name == in.Pod.Name && (ref.UID == "" || ref.UID == in.Pod.UID) {
			out.Job = job.Name
			out.Running = phase == schedulingv1alpha1.PodMigrationJobRunning || extension.HasPassedArbitration(job.Annotations)
		}
	}
	if in.Descheduler == nil || len(in.Descheduler.Profiles) == 0 {
		return out, nil, nil
	}
	policy, unsure, err := evictionPolicy(in.Descheduler.Profiles[0].Migration)
	if err != nil {
		return out, nil, err
	}
	gate := evictability.Input{Pod: in.Pod, Policy: policy}
	if out.Job == "" {
		gate.Loop = in.loop()
	}
	if policy.NodeFit {
		pods := map[string][]*corev1.Pod{}
		for i := range in.Pods {
			if pod := &in.Pods[i]; !podstate.Ended(pod) {
				pods[pod.Spec.NodeName] = append(pods[pod.Spec.NodeName], pod)
			}
		}
		for i := range in.Nodes {
			gate.Nodes = append(gate.Nodes, evictability.Node{Node: &in.Nodes[i], Pods: pods[in.Nodes[i].Name]})
		}
	}
	out.Evictability = evictability.Decide(gate)
	return out, unsure, nil
}

// loop in which the workload of the pod goes; nil when it goes in none.
func (in *EvictionSnapshot) loop() *loopguard.Loop {
	guard := in.Descheduler.Guard(in.Jobs, in.Now)
	for _, owner := range []*metav1.OwnerReference{metav1.GetControllerOf(in.Pod), in.Above} {
		if owner == nil {
			continue
		}
		if loop := guard.Of(owner.UID); loop != nil {
			return loop
		}
	}
	return nil
}

func evictionMessage(e *diagnosticsv1alpha1.EvictionExplanation) string {
	names := map[string][]string{}
	for i := range e.Evictors {
		names[e.Evictors[i].State] = append(names[e.Evictors[i].State], e.Evictors[i].Name)
	}
	var parts []string
	if now := names[string(evictors.Now)]; len(now) > 0 {
		parts = append(parts, "can be evicted now by "+strings.Join(now, ", "))
	} else {
		parts = append(parts, "nothing is known that can evict it now")
		if len(names[StateUnknown]) == 0 {
			parts[0] = "nothing can evict it now"
		}
	}
	for _, state := range []struct{ name, text string }{
		{string(evictors.Possible), "possible by "}, {StateUnknown, "unknown for "}, {string(evictors.Protected), "protected from "},
	} {
		if list := names[state.name]; len(list) > 0 {
			parts = append(parts, state.text+strings.Join(list, ", "))
		}
	}
	on := "pod without a node"
	if e.NodeName != "" {
		on = "pod on node " + e.NodeName
	}
	return fmt.Sprintf("%s: %s", on, strings.Join(parts, "; "))
}
