package migration

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// scavengeInterval is the time between two rounds.
const scavengeInterval = time.Minute

// scavenger deletes jobs that ended and are not kept any longer, and releases what jobs held that are gone: their Reservations, which the
// garbage collector of Kubernetes deletes, too, where it runs and knows the kinds, and pods that they took from their ReplicaSets.
type scavenger struct {
	client client.Client
	live   client.Reader
	clock  clock.WithTicker
	// pods lists all pods, which are not modified.
	pods func(context.Context) ([]*corev1.Pod, error)
	// retention in force.
	retention func() migration.Retention
}

// NeedLeaderElection is true: one scavenger is enough.
func (*scavenger) NeedLeaderElection() bool { return true }

// Start scavenges until the context ends.
func (s *scavenger) Start(ctx context.Context) error {
	ticker := s.clock.NewTicker(scavengeInterval)
	defer ticker.Stop()
	for {
		if err := s.scavenge(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Failed to scavenge migration jobs; it is tried again", "after", scavengeInterval)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

func (s *scavenger) scavenge(ctx context.Context) error {
	var list schedulingv1alpha1.PodMigrationJobList
	if err := s.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list migration jobs: %w", err)
	}
	publishJobs(list.Items)
	known := make(map[types.UID]bool, len(list.Items))
	for i := range list.Items {
		known[list.Items[i].UID] = true
	}
	for _, removal := range s.retention().Removals(list.Items, s.clock.Now()) {
		if err := s.remove(ctx, removal); err != nil {
			return err
		}
	}
	return errors.Join(s.releaseOrphans(ctx, known), s.attachOrphans(ctx, known))
}

// remove deletes a job that ended, unless it changed since.
func (s *scavenger) remove(ctx context.Context, removal migration.Removal) error {
	job := removal.Job
	err := s.client.Delete(ctx, job.DeepCopy(), client.Preconditions{UID: &job.UID, ResourceVersion: &job.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete migration job %q: %w", job.Name, err)
	}
	jobsRemoved.WithLabelValues(string(removal.Reason)).Inc()
	klog.FromContext(ctx).V(2).Info("Deleted migration job that ended", "job", job.Name, "phase", job.Status.Phase, "reason", removal.Reason)
	return nil
}
