package framework

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/descheduler/replicasets"
)

// circles are the workloads that a pass does not move because they go in circles. It is safe for concurrent use.
type circles struct {
	guard loopguard.Guard
	// above returns the controller of a ReplicaSet.
	above func(namespace string, set *metav1.OwnerReference) (above *metav1.OwnerReference, found bool, err error)

	mu sync.Mutex
	// refusals by the controllers of pods.
	refusals map[types.UID]string
}

// circles finds the workloads that are not moved, from the jobs and from evictions by other components.
func (d *Descheduler) circles(ctx context.Context, window time.Duration, now time.Time, jobs []schedulingv1alpha1.PodMigrationJob) (*circles, error) {
	moves := loopguard.MovesOf(jobs)
	if d.config.Evictions != nil {
		more, err := d.config.Evictions(ctx, jobs)
		if err != nil {
			return nil, fmt.Errorf("read the evictions by other components: %w", err)
		}
		moves = append(moves, more...)
	}
	return &circles{
		guard: loopguard.NewGuard(loopguard.History{Moves: moves, Now: now, Window: window}), refusals: map[types.UID]string{},
		above: func(namespace string, set *metav1.OwnerReference) (*metav1.OwnerReference, bool, error) {
			return replicasets.Above(ctx, d.config.Jobs, namespace, set)
		},
	}, nil
}

// refusal is why the workload of a pod is not moved; empty when it may be. The moves of a pod are recorded for its Deployment, so a
// ReplicaSet is looked up. One that cannot be is taken to go in circles, as other workloads of its namespace do.
func (c *circles) refusal(pod *corev1.Pod) string {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil || !c.guard.Concerns(pod.Namespace) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	refusal, known := c.refusals[controller.UID]
	if !known {
		refusal = c.refusalOf(pod.Namespace, controller)
		c.refusals[controller.UID] = refusal
	}
	return refusal
}

func (c *circles) refusalOf(namespace string, controller *metav1.OwnerReference) string {
	if loop := c.guard.Of(controller.UID); loop != nil {
		return loop.Refusal()
	}
	if controller.Kind != replicasets.Kind.Kind {
		return ""
	}
	above, found, err := c.above(namespace, controller)
	switch {
	case err != nil:
		return "whether its workload goes in circles is unknown: " + err.Error()
	case !found:
		return fmt.Sprintf("whether its workload goes in circles is unknown: ReplicaSet %s is not found", controller.Name)
	case above == nil:
		return ""
	}
	if loop := c.guard.Of(above.UID); loop != nil {
		return loop.Refusal()
	}
	return ""
}
