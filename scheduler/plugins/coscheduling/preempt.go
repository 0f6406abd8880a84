package coscheduling

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// outlook is what preemption for a whole gang comes to.
type outlook struct {
	verdict diagnosticsv1alpha1.PreemptionVerdict
	// why no pods are evicted; empty when some are.
	why string
	// trial is nil where none was made; plan is empty where none was found.
	trial *trial
	plan  gang.Plan
}

// concerns returns the rules of the gang of a pod for which this plugin preempts, nil for others.
func (p *Plugin) concerns(key gang.Key) *gang.Spec {
	if !*p.args.EnablePreemption || !p.state.Together(key) {
		return nil
	}
	return p.state.Spec(key)
}

// preempt makes room for the whole gang or evicts nothing.
func (p *Plugin) preempt(ctx context.Context, pod *corev1.Pod, spec *gang.Spec) (*fwk.PostFilterResult, *fwk.Status) {
	found, err := p.outlook(ctx, pod, spec)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if found.trial != nil {
		metrics.PreemptionAttempts.Inc()
	}
	if found.verdict != diagnosticsv1alpha1.PreemptionEvicts {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "preemption: "+found.why)
	}
	return p.carryOut(ctx, pod, spec, found)
}

// outlook decides which pods preemption would evict for all members of a gang, or why it would evict none. It changes nothing.
func (p *Plugin) outlook(ctx context.Context, pod *corev1.Pod, spec *gang.Spec) (outlook, error) {
	if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever {
		return outlook{verdict: diagnosticsv1alpha1.PreemptionNotAllowed, why: "not eligible due to preemptionPolicy=Never."}, nil
	}
	helpless := func(format string, args ...any) outlook {
		return outlook{verdict: diagnosticsv1alpha1.PreemptionHelpless, why: fmt.Sprintf(format, args...)}
	}
	if slices.ContainsFunc(spec.Group, func(key gang.Key) bool { return p.gathers(key) != nil }) {
		return helpless("not for gangGroup %s, whose members have to be close together", spec.GroupID), nil
	}
	infos, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return outlook{}, fmt.Errorf("preempt for gangGroup %s: %w", spec.GroupID, err)
	}
	if left := p.terminating(infos, spec.GroupID); left > 0 {
		return outlook{verdict: diagnosticsv1alpha1.PreemptionWaits, why: fmt.Sprintf("gangGroup %s waits for %d victims to terminate", spec.GroupID, left)}, nil
	}
	trial, err := p.newTrial(ctx, infos, spec)
	if err != nil {
		return outlook{}, err
	}
	plan, found, err := gang.Preempt(trial.candidates, trial)
	switch {
	case err != nil:
		return outlook{}, fmt.Errorf("preempt for gangGroup %s: %w", spec.GroupID, err)
	case ctx.Err() != nil:
		return outlook{}, fmt.Errorf("preempt for gangGroup %s: %w", spec.GroupID, context.Cause(ctx))
	case !found:
		none := helpless("evicting pods with lower priority does not make room for gangGroup %s", spec.GroupID)
		none.trial = trial
		return none, nil
	}
	return outlook{verdict: diagnosticsv1alpha1.PreemptionEvicts, trial: trial, plan: plan}, nil
}

// terminating counts the pods that were evicted for a gang group and are still on their nodes.
func (p *Plugin) terminating(infos []fwk.NodeInfo, group string) int {
	victims := sets.New(p.state.Victims(group)...)
	if len(victims) == 0 {
		return 0
	}
	left := 0
	for _, info := range infos {
		for _, other := range info.GetPods() {
			if victims.Has(other.GetPod().UID) {
				left++
			}
		}
	}
	return left
}

// carryOut nominates all members and has the victims evicted.
func (p *Plugin) carryOut(ctx context.Context, pod *corev1.Pod, spec *gang.Spec, found outlook) (*fwk.PostFilterResult, *fwk.Status) {
	trial, plan := found.trial, found.plan
	victims := make([]*corev1.Pod, len(plan.Victims))
	uids := make([]types.UID, len(plan.Victims))
	for i, index := range plan.Victims {
		victims[i] = trial.pods[index].GetPod()
		uids[i] = victims[i].UID
	}
	p.state.Evict(spec.GroupID, uids)
	nominated := ""
	for i, member := range trial.members {
		node := plan.Nodes[i]
		if member.pod.UID == pod.UID {
			nominated = node
		} else if info, err := framework.NewPodInfo(member.pod); err == nil && node != "" {
			p.handle.AddNominatedPod(klog.FromContext(ctx), info, &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: node})
		}
	}
	metrics.PreemptionVictims.Observe(float64(len(victims)))
	go p.evict(pod, spec.GroupID, victims)
	return framework.NewPostFilterResultWithNominatedNode(nominated), fwk.NewStatus(fwk.Success)
}

// evict deletes victims. It runs beside the scheduling cycle, which must not wait for the API server.
func (p *Plugin) evict(preemptor *corev1.Pod, group string, victims []*corev1.Pod) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-stop:
		}
	}()
	logger := klog.Background().WithValues("gangGroup", group, "preemptor", klog.KObj(preemptor))
	for _, victim := range victims {
		if p.handle.RejectWaitingPod(victim.UID) {
			continue
		}
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}}
		if err := p.handle.ClientSet().CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, options); err != nil && !apierrors.IsNotFound(err) {
			logger.Error(err, "A victim could not be evicted", "victim", klog.KObj(victim))
			p.state.Evict(group, nil)
			continue
		}
		p.handle.EventRecorder().WithLogger(logger).Eventf(victim, preemptor, corev1.EventTypeNormal, "Preempted", "Preempting", "Preempted by gangGroup %v on node %v", group, victim.Spec.NodeName)
	}
}

// mayGiveWay reports whether a running pod is less important than every member, and may be a victim at all.
func mayGiveWay(pod *corev1.Pod, priority int32, spec *gang.Spec) bool {
	if key, belongs := gang.KeyOf(pod); belongs && slices.Contains(spec.Group, key) || reservation.IsReservePod(pod) {
		return false // what stands for a Reservation is in no cluster, where it could be evicted
	}
	return corev1helpers.PodPriority(pod) < priority && pod.DeletionTimestamp == nil &&
		extension.IsPodPreemptible(pod.Labels) && pod.Labels[extension.LabelQuotaPreemptible] != "false"
}

func candidateOf(pod *corev1.Pod, budgeted bool, now time.Time) gang.Candidate {
	started := pod.CreationTimestamp.Time
	if pod.Status.StartTime != nil {
		started = pod.Status.StartTime.Time
	}
	return gang.Candidate{
		Name: pod.Namespace + "/" + pod.Name, Node: pod.Spec.NodeName, Priority: corev1helpers.PodPriority(pod), Started: started.UnixNano(), Budgeted: budgeted,
		Done: jobinsight.ProgressOf(pod).Quarter(now),
	}
}

// budgets counts down what disruption budgets allow.
type budgets struct {
	list    []*policyv1.PodDisruptionBudget
	allowed []int32
}

func (p *Plugin) newBudgets() (*budgets, error) {
	list, err := p.handle.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list disruption budgets: %w", err)
	}
	b := &budgets{list: list, allowed: make([]int32, len(list))}
	for i, budget := range list {
		b.allowed[i] = budget.Status.DisruptionsAllowed
	}
	return b, nil
}

// exceeded takes a disruption off every budget that covers the pod, and reports whether one of them has none left.
func (b *budgets) exceeded(pod *corev1.Pod) bool {
	exceeded := false
	for i, budget := range b.list {
		if budget.Namespace != pod.Namespace || len(pod.Labels) == 0 {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if _, disrupted := budget.Status.DisruptedPods[pod.Name]; !disrupted {
			b.allowed[i]--
			exceeded = exceeded || b.allowed[i] < 0
		}
	}
	return exceeded
}
