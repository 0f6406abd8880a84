package elasticquota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/quotas"
)

const (
	// minCandidatePercent and minCandidates bound the nodes that are tried, as in kube-scheduler.
	minCandidatePercent = 10
	minCandidates       = 100
)

// PostFilter looks for a node on which the pod fits once less important, preemptible pods of the same quota are gone, and
// evicts those.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PostFilter, pod, &status)
	switch may, why := p.MayPreempt(pod); {
	case !may && why == "":
		return nil, fwk.NewStatus(fwk.Unschedulable)
	case !may:
		return nil, fwk.NewStatus(fwk.Unschedulable, "preemption: "+why)
	}
	metrics.PreemptionAttempts.Inc()
	result, status = p.evaluator.Preempt(ctx, state, pod, nodes)
	if message := status.Message(); message != "" {
		return result, fwk.NewStatus(status.Code(), "preemption: "+message)
	}
	return result, status
}

// MayPreempt implements reason.Preemptor.
func (p *Plugin) MayPreempt(pod *corev1.Pod) (bool, string) {
	switch {
	case p.state.Idle():
		return false, ""
	case !p.preempts(p.state.QuotaOf(pod)):
		return false, "pods of the default quota do not preempt each other"
	}
	return true, ""
}

// Spared implements reason.Preemptor: it counts the pods of the quota that do not give way, by the reason.
func (p *Plugin) Spared(pod *corev1.Pod) string {
	name, priority := p.state.QuotaOf(pod), corev1helpers.PodPriority(pod)
	counts, total := map[quota.Sparing]int{}, 0
	for _, other := range p.state.Pods(name) {
		if !other.Holding.Assigned || other.Pod.UID == pod.UID {
			continue
		}
		candidate := other.Candidate(time.Now())
		spared := quota.Spared(priority, name, &candidate, name)
		if spared == "" {
			return ""
		}
		total++
		counts[spared]++
	}
	if total == 0 {
		return fmt.Sprintf("quota %s has no pods on nodes", name)
	}
	var parts []string
	for _, why := range []quota.Sparing{quota.SparedByImportance, quota.SparedByPreemptible} {
		if counts[why] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[why], why))
		}
	}
	return fmt.Sprintf("none of the %d pods of quota %s can be preempted: %s", total, name, strings.Join(parts, ", "))
}

// preempts reports whether pods of the quota may preempt each other.
func (p *Plugin) preempts(name string) bool {
	return !*p.args.DisableDefaultQuotaPreemption || name != extension.DefaultQuotaName
}

// GetOffsetAndNumCandidates implements preemption.Interface.
func (p *Plugin) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	return rand.Int32N(nodes), min(nodes, max(minCandidates, nodes*minCandidatePercent/100))
}

// CandidatesToVictimsMap implements preemption.Interface.
func (p *Plugin) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	victims := make(map[string]*extenderv1.Victims, len(candidates))
	for _, candidate := range candidates {
		victims[candidate.Name()] = candidate.Victims()
	}
	return victims
}

// OrderedScoreFuncs implements preemption.Interface: kube-scheduler's own order.
func (p *Plugin) OrderedScoreFuncs(context.Context, map[string]*extenderv1.Victims) []func(string) int64 {
	return nil
}

// PodEligibleToPreemptOthers implements preemption.Interface. A pod that waits for victims on its nominated node does not
// look for more.
func (p *Plugin) PodEligibleToPreemptOthers(_ context.Context, pod *corev1.Pod, nominated *fwk.Status) (bool, string) {
	if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever {
		return false, "not eligible due to preemptionPolicy=Never."
	}
	if pod.Status.NominatedNodeName == "" || nominated.Code() == fwk.UnschedulableAndUnresolvable {
		return true, ""
	}
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(pod.Status.NominatedNodeName)
	if err != nil {
		return true, "" // the node is gone, and its pods with it
	}
	_, infos := p.candidates(pod, info, nil)
	for _, candidate := range infos {
		if terminatingByPreemption(candidate.GetPod()) {
			return false, "not eligible due to a terminating pod on the nominated node."
		}
	}
	return true, ""
}

func terminatingByPreemption(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.DisruptionTarget {
			return pod.DeletionTimestamp != nil && condition.Status == corev1.ConditionTrue && condition.Reason == corev1.PodReasonPreemptionByScheduler
		}
	}
	return false
}

// SelectVictimsOnNode implements preemption.Interface. State and node are copies, which it changes.
func (p *Plugin) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, budgets []*policyv1.PodDisruptionBudget) ([]*corev1.Pod, int, *fwk.Status) {
	candidates, infos := p.candidates(pod, node, budgets)
	if len(candidates) == 0 {
		return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")
	}
	trial := &trial{ctx: ctx, handle: p.handle, plugin: p, state: state, pod: pod, node: node, candidates: infos}
	chosen, budgeted, err := quota.Victims(candidates, trial)
	if err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	if len(chosen) == 0 {
		if trial.last.IsSuccess() {
			return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")
		}
		return nil, 0, trial.last
	}
	victims := make([]*corev1.Pod, len(chosen))
	for i, index := range chosen {
		victims[i] = infos[index].GetPod()
	}
	return victims, budgeted, nil
}

// candidates are the pods of the node that may give way to the pod.
func (p *Plugin) candidates(pod *corev1.Pod, node fwk.NodeInfo, budgets []*policyv1.PodDisruptionBudget) ([]quota.Candidate, []fwk.PodInfo) {
	name, priority := p.state.QuotaOf(pod), corev1helpers.PodPriority(pod)
	now := time.Now()
	var list []quota.Candidate
	var infos []fwk.PodInfo
	for _, info := range node.GetPods() {
		held, found := p.state.Held(info.GetPod().UID)
		if !found {
			continue
		}
		candidate := quotas.PodHolding{Pod: info.GetPod(), Holding: held.Holding}.Candidate(now)
		if quota.Eligible(priority, name, &candidate, held.Quota) {
			list, infos = append(list, candidate), append(infos, info)
		}
	}
	markBudgeted(list, infos, budgets)
	return list, infos
}

// trial is a node in a dry run.
type trial struct {
	ctx        context.Context
	handle     fwk.Handle
	plugin     *Plugin
	state      fwk.CycleState
	pod        *corev1.Pod
	node       fwk.NodeInfo
	candidates []fwk.PodInfo
	// last is the status of the last Fits.
	last *fwk.Status
}
