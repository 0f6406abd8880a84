package coscheduling

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/gang"
)

// preemptions are the gangs for which pods are being evicted.
type preemptions struct {
	mutex sync.Mutex
	// victims by gang group.
	victims map[string][]types.UID
}

func (p *preemptions) start(group string, victims []types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.victims == nil {
		p.victims = map[string][]types.UID{}
	}
	p.victims[group] = victims
}

// pending counts the victims for a group that are still there, and forgets a group without any.
func (p *preemptions) pending(group string, there func(types.UID) bool) int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	left := slices.DeleteFunc(p.victims[group], func(uid types.UID) bool { return !there(uid) })
	if len(left) == 0 {
		delete(p.victims, group)
		return 0
	}
	p.victims[group] = left
	return len(left)
}

// preempt makes room for the whole gang, or for nobody.
func (p *Plugin) preempt(ctx context.Context, pod *corev1.Pod, spec *gang.Spec) (*fwk.PostFilterResult, *fwk.Status) {
	const final = fwk.UnschedulableAndUnresolvable
	if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever {
		return nil, fwk.NewStatus(final, "preemption: not eligible due to preemptionPolicy=Never.")
	}
	if slices.ContainsFunc(spec.Group, func(key gang.Key) bool { return p.gathers(key) != nil }) {
		return nil, fwk.NewStatus(final, fmt.Sprintf("preemption: not for gangGroup %s, whose members have to be close together", spec.GroupID))
	}
	infos, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	running := map[types.UID]bool{}
	for _, info := range infos {
		for _, other := range info.GetPods() {
			running[other.GetPod().UID] = true
		}
	}
	if left := p.preempting.pending(spec.GroupID, func(uid types.UID) bool { return running[uid] }); left > 0 {
		return nil, fwk.NewStatus(final, fmt.Sprintf("preemption: gangGroup %s waits for %d victims to end", spec.GroupID, left))
	}
	metrics.PreemptionAttempts.Inc()
	trial, err := p.newTrial(ctx, infos, spec)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	plan, found, err := gang.Preempt(trial.candidates, trial)
	switch {
	case err != nil:
		return nil, fwk.AsStatus(err)
	case !found:
		return nil, fwk.NewStatus(final, fmt.Sprintf("preemption: no set of less important pods makes room for gangGroup %s", spec.GroupID))
	}
	return p.carryOut(ctx, pod, spec, trial, plan)
}

// carryOut nominates all members and has the victims evicted.
func (p *Plugin) carryOut(ctx context.Context, pod *corev1.Pod, spec *gang.Spec, trial *trial, plan gang.Plan) (*fwk.PostFilterResult, *fwk.Status) {
	victims := make([]*corev1.Pod, len(plan.Victims))
	uids := make([]types.UID, len(plan.Victims))
	for i, index := range plan.Victims {
		victims[i] = trial.pods[index].GetPod()
		uids[i] = victims[i].UID
	}
	p.preempting.start(spec.GroupID, uids)
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
			p.preempting.start(group, nil)
			continue
		}
		p.handle.EventRecorder().WithLogger(logger).Eventf(victim, preemptor, corev1.EventTypeNormal, "Preempted", "Preempting", "Preempted by gangGroup %v on node %v", group, victim.Spec.NodeName)
	}
}

// mayGiveWay tells whether a running pod is less important than every member, and may be a victim at all.
func mayGiveWay(pod *corev1.Pod, priority int32, spec *gang.Spec) bool {
	if key, belongs := gang.KeyOf(pod); belongs && slices.Contains(spec.Group, key) {
		return false
	}
	return corev1helpers.PodPriority(pod) < priority && pod.DeletionTimestamp == nil &&
		extension.IsPodPreemptible(pod.Labels) && pod.Labels[extension.LabelQuotaPreemptible] != "false"
}

func candidateOf(pod *corev1.Pod, budgeted bool) gang.Candidate {
	started := pod.CreationTimestamp.Time
	if pod.Status.StartTime != nil {
		started = pod.Status.StartTime.Time
	}
	return gang.Candidate{
		Name: pod.Namespace + "/" + pod.Name, Node: pod.Spec.NodeName, Priority: corev1helpers.PodPriority(pod), Started: started.UnixNano(), Budgeted: budgeted,
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

// exceeded takes a disruption off every budget that covers the pod, and tells whether one of them has none left.
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
