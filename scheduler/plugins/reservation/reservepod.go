package reservation

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/recovery"
)

// preFilterReservePod restricts a reserve pod to the node that its Reservation names, and finds the running pods whose room it
// may take.
func (p *Plugin) preFilterReservePod(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	object, found := p.state.Get(decision.NameOf(pod))
	if !found || object.UID != pod.UID {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonInactive)
	}
	c := &cycle{}
	state.Write(stateKey, c)
	if object.Spec.PreAllocation {
		plan, refusal := decision.NewPreAllocation(object, p.args.PreAllocationConfig)
		if !refusal.Passed() {
			c.refusal = refusal
			return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, refusal.Reason)
		}
		c.ahead = map[string][]*corev1.Pod{}
		frameworkext.Restore(state, p.takeAhead(ctx, c, plan, nodes))
	}
	if node := decision.RequiredNode(pod); node != "" {
		return &fwk.PreFilterResult{NodeNames: sets.New(node)}, nil
	}
	return nil, nil
}

// takeAhead shows nodes without the pods whose room is taken.
func (p *Plugin) takeAhead(ctx context.Context, c *cycle, plan *decision.PreAllocation, nodes []fwk.NodeInfo) map[string]frameworkext.Restored {
	restored := map[string]frameworkext.Restored{}
	for _, info := range nodes {
		infos := make(map[types.UID]fwk.PodInfo, len(info.GetPods()))
		pods := make([]*corev1.Pod, 0, len(info.GetPods()))
		for _, other := range info.GetPods() {
			infos[other.GetPod().UID] = other
			pods = append(pods, other.GetPod())
		}
		room := decision.Room{Allocatable: amountsOf(info.GetAllocatable()), Requested: amountsOf(info.GetRequested())}
		chosen, enough := plan.Choose(plan.Candidates(pods), room, p.ignore)
		if !enough || len(chosen) == 0 {
			continue
		}
		removed := make([]fwk.PodInfo, len(chosen))
		for i, pod := range chosen {
			removed[i] = infos[pod.UID]
		}
		if node := without(ctx, info, removed...); node != nil {
			restored[info.Node().Name], c.ahead[info.Node().Name] = *node, chosen
		}
	}
	return restored
}

// filterReservePod keeps a reserve pod on the node that is named, and away from reservations with which it cannot share one.
func (p *Plugin) filterReservePod(c *cycle, pod *corev1.Pod, node string) *fwk.Status {
	if required := decision.RequiredNode(pod); required != "" && required != node {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonNodeName)
	}
	object, found := p.state.Get(decision.NameOf(pod))
	if !found {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonInactive)
	}
	for _, other := range p.state.OnNode(node) {
		if other.Object != nil && other.UID != pod.UID && (other.Policy == "") != (object.Spec.AllocatePolicy == "") {
			return fwk.NewStatus(fwk.Unschedulable, decision.ReasonPolicyConflict)
		}
	}
	return nil
}

// bindAttempts bounds the writes of a status that others change at the same time.
const bindAttempts = 5

// Bind makes a Reservation available on its node. Other pods are left to the next binder.
func (p *Plugin) Bind(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Bind, pod, &status)
	if !decision.IsReservePod(pod) {
		return fwk.NewStatus(fwk.Skip)
	}
	object, found := p.state.Get(decision.NameOf(pod))
	if !found || object.UID != pod.UID {
		return fwk.AsStatus(fmt.Errorf("place reservation %s: it is gone", decision.NameOf(pod)))
	}
	if err := p.annotateAhead(ctx, state, object, node); err != nil {
		return fwk.AsStatus(err)
	}
	if allocated := defaultprebind.Annotations(state); len(allocated) > 0 {
		changed, err := p.writer.Annotate(ctx, object, allocated)
		if err != nil {
			return fwk.AsStatus(err)
		}
		object = changed
	}
	return fwk.AsStatus(p.place(ctx, object, node))
}

// place writes the status, for as long as the Reservation waits for it. A write that is not answered may have been stored: it
// is read back, because the room would be given away otherwise.
func (p *Plugin) place(ctx context.Context, object *schedulingv1alpha1.Reservation, node string) error {
	name, uid, lost := object.Name, object.UID, false
	for attempt := 1; ; attempt++ {
		if !decision.Pending(object) {
			return fmt.Errorf("place reservation %s: it is no longer pending", name)
		}
		err := p.writer.WriteStatus(ctx, object, decision.Placed(object, node, p.now()))
		switch {
		case err == nil:
			return nil
		case !frameworkext.Answered(err):
			lost = true
		case !apierrors.IsConflict(err) || attempt >= bindAttempts && !lost:
			return err
		}
		err = frameworkext.UntilAnswered(ctx, func() (err error) {
			object, err = p.writer.Get(ctx, name)
			return err
		})
		switch {
		case err != nil:
			return err
		case object.UID != uid:
			return fmt.Errorf("place reservation %s: it was replaced by another", name)
		case lost && decision.Active(object) && object.Status.NodeName == node:
			return nil
		}
	}
}

// annotateAhead makes the pods whose room was taken say that they use the Reservation.
func (p *Plugin) annotateAhead(ctx context.Context, state fwk.CycleState, object *schedulingv1alpha1.Reservation, node string) error {
	c := cycleOf(state)
	if c == nil || len(c.ahead[node]) == 0 {
		return nil
	}
	value, err := json.Marshal(extension.ReservationAllocated{Name: object.Name, UID: object.UID})
	if err != nil {
		return fmt.Errorf("encode annotation %q: %w", extension.AnnotationReservationAllocated, err)
	}
	for _, giving := range c.ahead[node] {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": giving.UID, "annotations": map[string]string{extension.AnnotationReservationAllocated: string(value)},
		}})
		if err != nil {
			return fmt.Errorf("encode annotation %q: %w", extension.AnnotationReservationAllocated, err)
		}
		if _, err := p.handle.ClientSet().CoreV1().Pods(giving.Namespace).Patch(ctx, giving.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("annotate pod %s/%s, whose room reservation %s takes: %w", giving.Namespace, giving.Name, object.Name, err)
		}
	}
	return nil
}
