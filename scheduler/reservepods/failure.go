package reservepods

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// attempt to place a Reservation that failed.
type attempt struct {
	uid     types.UID
	message string
}

// failureHandler returns reserve pods to the queue, which the scheduler would drop because no such pod is in the cluster. All
// other pods are left to it.
func (b *Bridge) failureHandler(other scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		if !decision.IsReservePod(info.Pod) {
			other(ctx, profile, info, status, nominating, start)
			return
		}
		b.failed(ctx, info, status)
	}
}

func (b *Bridge) failed(ctx context.Context, info *framework.QueuedPodInfo, status *fwk.Status) {
	logger, uid, name := klog.FromContext(ctx), info.Pod.UID, decision.NameOf(info.Pod)
	object, found := b.state.Get(name)
	if !found || object.UID != uid || b.waiting(object) == nil {
		b.scheduler.SchedulingQueue.Done(uid) // it was deleted, or placed after all
		return
	}
	info.ClearRejectorPlugins()
	err := status.AsError()
	var unfit *framework.FitError
	if errors.As(err, &unfit) {
		info.UnschedulablePlugins, info.PendingPlugins = unfit.Diagnosis.UnschedulablePlugins, unfit.Diagnosis.PendingPlugins
	} else if !errors.Is(err, scheduler.ErrNoNodesAvailable) {
		utilruntime.HandleErrorWithContext(ctx, err, "Error scheduling a reservation; retrying", "reservation", name)
	}
	fresh, err := framework.NewPodInfo(b.waiting(object))
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "The template of a reservation has terms that cannot be read", "reservation", name)
	}
	info.PodInfo = fresh
	if err := b.scheduler.SchedulingQueue.AddUnschedulableIfNotPresent(logger, info, b.scheduler.SchedulingQueue.SchedulingCycle()); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "A reservation cannot be tried again", "reservation", name)
	}
	b.mutex.Lock()
	b.messages[name] = attempt{uid: uid, message: status.Message()}
	b.mutex.Unlock()
	b.outbox.Add(name)
}

// writeMessages writes the latest failed attempt of each Reservation.
func (b *Bridge) writeMessages(ctx context.Context) {
	for {
		name, shutdown := b.outbox.Get()
		if shutdown {
			return
		}
		if err := b.writeMessage(ctx, name); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).V(2).Info("The condition of a reservation is not written; retrying", "reservation", name, "err", err)
			b.outbox.AddRateLimited(name)
		} else {
			b.outbox.Forget(name)
		}
		b.outbox.Done(name)
	}
}

func (b *Bridge) writeMessage(ctx context.Context, name string) error {
	b.mutex.Lock()
	latest := b.messages[name]
	b.mutex.Unlock()
	object, found := b.state.Get(name)
	if found && object.UID == latest.uid && decision.Pending(object) {
		if status, changed := decision.Unplaced(object, latest.message, b.now()); changed {
			if err := b.writer.WriteStatus(ctx, object, status); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.messages[name] == latest {
		delete(b.messages, name)
	}
	return nil
}

// evict ends a Reservation in favour of a pod of higher priority.
func (b *Bridge) evict(ctx context.Context, reservePod *corev1.Pod, preemptor string) error {
	name := decision.NameOf(reservePod)
	object, err := b.writer.Get(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("preempt reservation %s: %w", name, err)
	case object.UID != reservePod.UID || object.Status.Phase == schedulingv1alpha1.ReservationFailed:
		return nil
	}
	if err := b.writer.WriteStatus(ctx, object, decision.Preempted(object, "preempted by "+preemptor, b.now())); err != nil {
		return fmt.Errorf("preempt reservation %s: %w", name, err)
	}
	return nil
}
