package objects

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/evictors"
	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/softeviction"
	"koordinator.sh/koord/decision/nodeqos/suppression"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// agent is what the node agent decides about the pod, by its own decision. It also says what cannot be decided.
func (in *EvictionSnapshot) agent() (evictors.Agent, []string) {
	out := evictors.Agent{Installed: in.Reported}
	if in.Node == nil || !in.Reported {
		return out, nil
	}
	var undecided []string
	if soft, requested := in.softEviction(); requested {
		out.Features = append(out.Features, soft)
	}
	var trace eviction.Trace
	plan := eviction.Decide(in.Node.EvictionInput(suppression.Decide(in.Node.SuppressionInput(), nil)), &trace)
	for i, outcome := range plan.Outcomes {
		exclusion, concerned := in.excluded(&trace.Considered[i])
		if !concerned {
			continue
		}
		name := string(outcome.Feature)
		if outcome.Tier != "" {
			name += "/" + string(outcome.Tier)
		}
		if outcome.State == eviction.Unknown && exclusion == "" {
			undecided = append(undecided, fmt.Sprintf("%s: %s", name, outcome.Reason))
		}
		out.Features = append(out.Features, evictors.Feature{
			Name: name, On: outcome.State != eviction.Off && outcome.State != eviction.Unset, Short: outcome.State == eviction.Triggered,
			Trigger: trigger(&outcome.Demand), Exclusion: exclusion,
		})
	}
	return out, undecided
}

// softEviction is what the agent does with the request for a soft eviction of the pod; false without a request.
func (in *EvictionSnapshot) softEviction() (evictors.Feature, bool) {
	state := eviction.PodOf(in.Pod, nil)
	pod, requested := softeviction.PodOf(in.Pod, &state)
	if !requested {
		return evictors.Feature{}, false
	}
	out := evictors.Feature{Name: string(eviction.SoftEvict), On: true}
	request := softeviction.Decide(softeviction.Input{Now: in.Now, Pods: []softeviction.Pod{pod}, Budget: eviction.DefaultBudget()}).Requests[0]
	switch {
	case !in.Node.On[eviction.SoftEvict]:
		out.Exclusion = "its soft eviction is requested, and the feature is off"
	case request.State == softeviction.Due:
		out.Short = true
	case request.State == softeviction.Waiting:
		out.Waits = "its soft eviction waits: " + request.Reason
	default:
		out.Exclusion = fmt.Sprintf("the request for its soft eviction is %s: %s", request.State, request.Reason)
	}
	return out, true
}

// excluded says why a feature does not take the pod, and whether it looked at it at all.
func (in *EvictionSnapshot) excluded(considered *eviction.Considered) (reason string, concerned bool) {
	for _, one := range considered.Excluded {
		if one.Pod.Namespace == in.Pod.Namespace && one.Pod.Name == in.Pod.Name {
			return one.Reason, true
		}
	}
	for _, one := range considered.Candidates {
		if one.Pod.Namespace == in.Pod.Namespace && one.Pod.Name == in.Pod.Name {
			return "", true
		}
	}
	return "", false
}

// trigger says when a feature evicts, beside what it observes now.
func trigger(demand *eviction.Demand) string {
	what, than := string(demand.Feature.Resource())+" usage", ">="
	switch {
	case demand.Feature == eviction.BECPUEvict:
		what, than = "CPU satisfaction of best-effort pods", "<"
	case demand.Tier != "":
		what = fmt.Sprintf("%s requests of tier %s", demand.Feature.Resource(), demand.Tier)
	}
	return fmt.Sprintf("%s %s %d%%, is %d%% now", what, than, demand.ThresholdPercent, demand.ObservedPercent)
}

// quota is what is known of the pod's quota. It also says what is not.
func (in *EvictionSnapshot) quota() (evictors.Quota, string) {
	var specs []*quota.Spec
	for i := range in.Quotas {
		spec, _ := quota.Decode(&in.Quotas[i])
		specs = append(specs, &spec)
	}
	out := evictors.Quota{Name: quota.BelongingTo(specs).Name(in.Pod), Revokes: in.MonitorsQuotas, Preemptible: in.Pod.Labels[extension.LabelQuotaPreemptible] != "false"}
	if out.Name == "" {
		return out, ""
	}
	for i := range in.Quotas {
		object := &in.Quotas[i]
		if object.Name != out.Name {
			continue
		}
		var runtime corev1.ResourceList
		if err := json.Unmarshal([]byte(object.Annotations[extension.AnnotationQuotaRuntime]), &runtime); err != nil {
			return out, fmt.Sprintf("the runtime of ElasticQuota %s is not reported in its annotation %s", out.Name, extension.AnnotationQuotaRuntime)
		}
		out.Over = len(quota.Overused(quota.AmountsOf(object.Status.Used), quota.AmountsOf(runtime))) > 0
		return out, ""
	}
	return out, fmt.Sprintf("there is no ElasticQuota %s; the pod counts against %s", out.Name, extension.DefaultQuotaName)
}

// preemption are the pods that wait, may preempt, and may run on the pod's node.
func (in *EvictionSnapshot) preemption() evictors.Preemption {
	var out evictors.Preemption
	if in.Node == nil {
		return out
	}
	node := placement.NewNode(in.Node.Object, nil)
	for i := range in.Pending {
		pod := &in.Pending[i]
		if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever || pod.Spec.Priority == nil || !node.Admits(placement.NewPod(pod)) {
			continue
		}
		out.Pending = append(out.Pending, evictors.Preemptor{Name: strings.Join([]string{pod.Namespace, pod.Name}, "/"), Priority: *pod.Spec.Priority})
	}
	return out
}
