package arbitrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// DefaultInterval between two rounds.
const DefaultInterval = 500 * time.Millisecond

// Config of an Arbitrator.
type Config struct {
	// Client reads from a cache, and writes. Live reads past the cache.
	Client client.Client
	Live   client.Reader
	// Pods of a namespace, or of all for an empty one; they are not modified. By default they are listed with Client, which copies what
	// an informer's lister shares: in large clusters, that should be given here.
	Pods func(ctx context.Context, namespace string) ([]*corev1.Pod, error)
	// Settings in force; they are asked for in every round.
	Settings func() Settings
	// Namespace of the ledger.
	Namespace string
	// Order of pods, the one that leaves first is the smallest. Without one all are alike.
	Order func(a, b *corev1.Pod) int
	// Held says which pending jobs must not start yet for reasons outside of limits; nil holds none.
	Held func(jobs []schedulingv1alpha1.PodMigrationJob) map[types.UID]string
	// Now is the time; time.Now by default.
	Now func() time.Time
	Log logr.Logger
}

// Settings that a configuration may change.
type Settings struct {
	// Interval between two rounds; DefaultInterval when it is not above 0.
	Interval time.Duration
	// DryRun lets no job start, and fails none.
	DryRun bool
	// DefaultMode of jobs that have none; ReservationFirst when it is empty.
	DefaultMode schedulingv1alpha1.PodMigrationJobMode
	Policy      evictability.Policy
	Limits      arbitration.Limits
	// Args by which jobs are carried out, with defaults; nil are the defaults.
	Args *migration.Args
}

// Arbitrator lets jobs start.
type Arbitrator struct {
	config Config
	owners *owners
	// seen is the version of the ledger up to which the cache shows all jobs that ever were in it; empty when that is not known. Round alone
	// uses it.
	seen string

	mutex sync.Mutex
	last  arbitration.Verdict
}

// New makes an arbitrator, which does nothing before Run.
func New(config Config) *Arbitrator {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Pods == nil {
		config.Pods = func(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
			return list(ctx, config.Client, namespace)
		}
	}
	return &Arbitrator{config: config, owners: newOwners(config.Client, config.Now)}
}

// Run arbitrates until the context ends. Rounds that fail are logged and repeated.
func (a *Arbitrator) Run(ctx context.Context) error {
	for {
		if err := a.Round(ctx); err != nil && ctx.Err() == nil {
			a.config.Log.Error(err, "Arbitration failed, it is repeated")
		}
		interval := a.config.Settings().Interval
		if interval <= 0 {
			interval = DefaultInterval
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// Start is Run, for a controller manager.
func (a *Arbitrator) Start(ctx context.Context) error { return a.Run(ctx) }

// Last is the verdict of the last round, with what each pending job waits for.
func (a *Arbitrator) Last() arbitration.Verdict {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.last
}

// Round arbitrates once. It must not be called by two goroutines at a time.
func (a *Arbitrator) Round(ctx context.Context) error {
	settings := a.config.Settings()
	var jobs schedulingv1alpha1.PodMigrationJobList
	// Jobs that ended are kept for long, and are not modified here: what is written is copied first.
	if err := a.config.Client.List(ctx, &jobs, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PodMigrationJobs: %w", err)
	}
	round, err := a.decide(ctx, settings, jobs.Items, nil)
	if err != nil {
		return err
	}
	a.mutex.Lock()
	a.last = round.verdict
	a.mutex.Unlock()
	if settings.DryRun {
		return nil
	}
	err = errors.Join(a.refuse(ctx, round), a.record(ctx, round))
	if round.verdict.Admitted() > 0 {
		err = errors.Join(err, a.admit(ctx, settings, round))
	}
	return err
}

// refuse fails the jobs that can never start.
func (a *Arbitrator) refuse(ctx context.Context, round *round) error {
	var errs []error
	for _, outcome := range round.verdict.Outcomes {
		if outcome.Decision != arbitration.Refused {
			continue
		}
		job := round.jobs[outcome.UID]
		if outcome.Gate == arbitration.MissingPod {
			switch there, err := a.exists(ctx, job.Spec.PodRef); {
			case err != nil:
				errs = append(errs, err)
				continue
			case there: // the cache has not seen it yet
				continue
			}
		}
		if err := a.fail(ctx, job, outcome); err != nil {
			errs = append(errs, err)
			continue
		}
		a.config.Log.Info("PodMigrationJob failed", "job", job.Name, "gate", outcome.Gate, "reason", outcome.Reason, "message", outcome.Message)
	}
	return errors.Join(errs...)
}

// exists asks past the cache whether the pod of a job exists.
func (a *Arbitrator) exists(ctx context.Context, ref *corev1.ObjectReference) (bool, error) {
	var pod corev1.Pod
	err := a.config.Live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, &pod)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get pod %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return ref.UID == "" || ref.UID == pod.UID, nil
}

// fail writes that a job was refused. A conflict is no error: the change that caused it triggers another round.
func (a *Arbitrator) fail(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, outcome arbitration.Outcome) error {
	before, after := job, job.DeepCopy()
	after.Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
	after.Status.Reason, after.Status.Message = outcome.Reason, outcome.Message
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := a.config.Client.Status().Patch(ctx, after, patch); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("fail PodMigrationJob %s: %w", job.Name, err)
	}
	return nil
}
