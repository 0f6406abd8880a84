package reservation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// maxVictims that a Reservation lists, which bounds the size of its annotation.
const maxVictims = 200

// recordVictims lets Reservations list the pods that are preempted for them. Each is recorded first, so that the list is complete when the
// Reservation has the room; it has a pod whose preemption failed, too. One that cannot be recorded is preempted nevertheless.
func (p *Plugin) recordVictims(plugin *defaultpreemption.DefaultPreemption) {
	preemptPod := plugin.Executor.PreemptPod
	plugin.Executor.PreemptPod = func(ctx context.Context, candidate preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *corev1.Pod, pluginName string) error {
		if reservePod := preemptor.Pods()[preemptor.GetName()]; reservePod != nil && decision.IsReservePod(reservePod) {
			if err := p.recordVictim(ctx, reservePod, victim); err != nil {
				klog.FromContext(ctx).Error(err, "A pod that is preempted for a reservation is not recorded", "reservation", decision.NameOf(reservePod), "pod", klog.KObj(victim))
			}
		}
		return preemptPod(ctx, candidate, preemptor, victim, pluginName)
	}
}

func (p *Plugin) recordVictim(ctx context.Context, reservePod, victim *corev1.Pod) error {
	p.victims.Lock()
	defer p.victims.Unlock()
	object, err := p.writer.Get(ctx, decision.NameOf(reservePod))
	if err != nil || object.UID != reservePod.UID {
		return err
	}
	preempted, err := extension.GetReservationPreempted(object.Annotations)
	if err != nil {
		return err
	}
	listed := func(ref corev1.ObjectReference) bool { return ref.UID == victim.UID }
	if len(preempted) >= maxVictims || slices.ContainsFunc(preempted, listed) {
		return nil
	}
	text, err := json.Marshal(append(preempted, corev1.ObjectReference{Namespace: victim.Namespace, Name: victim.Name, UID: victim.UID}))
	if err != nil {
		return fmt.Errorf("encode the preempted pods: %w", err)
	}
	_, err = p.writer.Annotate(ctx, object, map[string]string{extension.AnnotationReservationPreempted: string(text)})
	return err
}
