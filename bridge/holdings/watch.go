package holdings

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Watch fills the ledger by informers until ctx ends. It returns once all pods are in it. A cluster that has no reservations, or does not
// serve the kind, has none.
func (l *Ledger) Watch(ctx context.Context, informers cache.Informers) error {
	pods, err := informers.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	registration, err := pods.AddEventHandler(l.handler(ctx))
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	reservations, err := informers.GetInformer(ctx, &schedulingv1alpha1.Reservation{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch reservations: %w", err)
	}
	if _, err := reservations.AddEventHandler(l.handler(ctx)); err != nil {
		return fmt.Errorf("watch reservations: %w", err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return fmt.Errorf("watch pods: %w", ctx.Err())
	}
	return nil
}

func (l *Ledger) handler(ctx context.Context) toolscache.ResourceEventHandler {
	set := func(object any) {
		if ctx.Err() != nil {
			return
		}
		switch o := object.(type) {
		case *corev1.Pod:
			l.SetPod(o)
		case *schedulingv1alpha1.Reservation:
			l.SetReservation(o)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, after any) { set(after) },
		DeleteFunc: func(object any) {
			if gone, is := object.(toolscache.DeletedFinalStateUnknown); is {
				object = gone.Obj
			}
			if o, is := object.(client.Object); is && ctx.Err() == nil {
				l.Remove(o.GetUID())
			}
		},
	}
}

// Transform drops what is not read of pods, of which there may be many.
func Transform(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil
	}
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, Labels: pod.Labels, Annotations: pod.Annotations,
		},
		Spec: corev1.PodSpec{
			NodeName: pod.Spec.NodeName, Priority: pod.Spec.Priority, PriorityClassName: pod.Spec.PriorityClassName,
			Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
			Hostname: pod.Spec.Hostname, Subdomain: pod.Spec.Subdomain, HostNetwork: pod.Spec.HostNetwork,
			InitContainers: requestsOf(pod.Spec.InitContainers), Containers: requestsOf(pod.Spec.Containers),
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP},
	}
	delete(out.Annotations, corev1.LastAppliedConfigAnnotation)
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			out.Status.Conditions = []corev1.PodCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason}}
		}
	}
	return out, nil
}

func requestsOf(containers []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(containers))
	for i := range containers {
		out[i] = corev1.Container{Name: containers[i].Name, Resources: containers[i].Resources, RestartPolicy: containers[i].RestartPolicy}
	}
	return out
}
