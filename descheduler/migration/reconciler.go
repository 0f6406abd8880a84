package migration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// minRequeue keeps a step that is due from being repeated without a pause.
const minRequeue = 20 * time.Millisecond

// reconciler takes jobs one step further.
type reconciler struct {
	client       client.Client
	cached, live objects
	// inForce are the arguments in force, and args those of one step, which does not see them change.
	inForce  func() *migration.Args
	args     *migration.Args
	evictor  evictor
	requests *requests
	rate     *evictionRate
	recorder events.EventRecorder
	clocks   *clocks
	// surges is held while a job starts to replace its pod.
	surges *sync.Mutex
}

// Reconcile takes one job one step further, by the arguments in force.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (ctrl.Result, error) {
	step := *r
	step.args = r.inForce()
	// Each line names its job. The logger of controller-runtime is quieter.
	ctx = klog.NewContext(ctx, klog.Background())
	return step.reconcile(ctx, request)
}

func (r *reconciler) reconcile(ctx context.Context, request reconcile.Request) (ctrl.Result, error) {
	job, err := r.cached.job(ctx, request.Name)
	if err != nil || job == nil {
		return ctrl.Result{}, err
	}
	s, verdict, err := r.decide(ctx, r.cached, job)
	if err != nil {
		return ctrl.Result{}, err
	}
	if startsSurge(job, &verdict) {
		// Two jobs of one Deployment must not both count the other as not yet started.
		r.surges.Lock()
		defer r.surges.Unlock()
	}
	if final(job, &verdict) {
		// The cache may be behind: a Reservation that is not there may be one that is not there yet.
		if job, err = r.live.job(ctx, request.Name); err != nil || job == nil {
			return ctrl.Result{}, err
		}
		if s, verdict, err = r.decide(ctx, r.live, job); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.apply(ctx, s, &verdict); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: minRetry}, nil
		}
		return ctrl.Result{}, fmt.Errorf("migration job %q: %w", job.Name, err)
	}
	if err := r.mark(ctx, s, verdict.Status); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: minRetry}, nil
		}
		return ctrl.Result{}, fmt.Errorf("migration job %q: %w", job.Name, err)
	}
	if verdict.RequeueAt.IsZero() {
		r.clocks.forget(job.UID)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(verdict.RequeueAt.Sub(r.now(job)), minRequeue)}, nil
}

func (r *reconciler) now(job *schedulingv1alpha1.PodMigrationJob) time.Time {
	return r.clocks.now(job.UID, migration.Latest(job))
}

func (r *reconciler) decide(ctx context.Context, from objects, job *schedulingv1alpha1.PodMigrationJob) (situation, migration.Verdict, error) {
	s, err := situationOf(ctx, from, job)
	if err != nil {
		return s, migration.Verdict{}, fmt.Errorf("migration job %q: %w", job.Name, err)
	}
	if err := r.readWorkload(ctx, from, &s); err != nil {
		return s, migration.Verdict{}, fmt.Errorf("migration job %q: %w", job.Name, err)
	}
	if err := r.readRequest(ctx, &s); err != nil {
		return s, migration.Verdict{}, fmt.Errorf("migration job %q: %w", job.Name, err)
	}
	return s, migration.Decide(migration.Input{Job: job, Args: r.args, World: s.world(), Now: r.now(job)}, nil), nil
}

// final reports whether a step must not be taken by what a cache says: an eviction, a replacement that starts, and the end of a job.
func final(job *schedulingv1alpha1.PodMigrationJob, verdict *migration.Verdict) bool {
	ends := !migration.Finished(job) && migration.Finished(&schedulingv1alpha1.PodMigrationJob{Status: verdict.Status})
	return ends || startsSurge(job, verdict) || verdict.Action.Kind == migration.EvictPod || verdict.Action.Kind == migration.DetachPod
}

// apply records and does what was decided. An action is taken only when what it follows from is recorded.
func (r *reconciler) apply(ctx context.Context, s situation, verdict *migration.Verdict) error {
	job, err := r.recordReferences(ctx, s.job, *verdict)
	if err != nil {
		return err
	}
	logUnavailable(ctx, job, &verdict.Status)
	if job, err = r.writeStatus(ctx, job, verdict.Status); err != nil {
		return err
	}
	s.job = job
	switch verdict.Action.Kind {
	case migration.CreateReservation:
		return r.createReservation(ctx, s)
	case migration.DeleteReservation:
		return r.deleteReservation(ctx, s, verdict.Action)
	case migration.EvictPod:
		if wait := r.rate.take(r.args); wait > 0 {
			verdict.RequeueAt = r.now(job).Add(wait)
			return nil
		}
		return r.evict(ctx, s, verdict.Action)
	case migration.DetachPod, migration.AttachPod:
		return r.patchPod(ctx, s, verdict.Action)
	case migration.WithdrawRequest:
		return r.requests.withdraw(ctx, job, verdict.Action.UID)
	}
	return nil
}

// recordReferences records in the spec which pod and which Reservation the job is about.
func (r *reconciler) recordReferences(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, verdict migration.Verdict) (*schedulingv1alpha1.PodMigrationJob, error) {
	if verdict.PodUID == "" && verdict.ReservationRef == nil {
		return job, nil
	}
	changed := job.DeepCopy()
	if verdict.PodUID != "" {
		changed.Spec.PodRef.UID = verdict.PodUID
	}
	if verdict.ReservationRef != nil {
		if changed.Spec.ReservationOptions == nil {
			changed.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{}
		}
		changed.Spec.ReservationOptions.ReservationRef = verdict.ReservationRef
	}
	if err := r.client.Patch(ctx, changed, lockedPatch(job)); err != nil {
		return nil, fmt.Errorf("patch the spec: %w", err)
	}
	return changed, nil
}

// lockedPatch is a patch on the condition that the job did not change. It sends changed fields only, so that fields that this version
// does not know stay.
func lockedPatch(job *schedulingv1alpha1.PodMigrationJob) client.Patch {
	return client.MergeFromWithOptions(job.DeepCopy(), client.MergeFromWithOptimisticLock{})
}

// writeStatus writes the status if it changed, and reports the end of the job.
func (r *reconciler) writeStatus(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, status schedulingv1alpha1.PodMigrationJobStatus) (*schedulingv1alpha1.PodMigrationJob, error) {
	if equality.Semantic.DeepEqual(job.Status, status) {
		return job, nil
	}
	changed := job.DeepCopy()
	changed.Status = status
	if err := r.client.Status().Patch(ctx, changed, lockedPatch(job)); err != nil {
		return nil, fmt.Errorf("patch the status: %w", err)
	}
	if job.Status.Phase != status.Phase {
		klog.FromContext(ctx).Info("Migration job changed its phase", "job", job.Name, "phase", status.Phase, "reason", status.Reason, "message", status.Message)
	}
	if !migration.Finished(job) && migration.Finished(changed) {
		countFinished(changed, r.now(changed))
		kind := corev1.EventTypeWarning
		if status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded {
			kind = corev1.EventTypeNormal
		}
		r.recorder.Eventf(changed, nil, kind, status.Reason, "Migrating", "%s", status.Message)
	}
	return changed, nil
}

// createReservation reserves room. One that exists is seen by the next step. The pod is read live, because cached pods are trimmed; one that
// was replaced meanwhile is seen by the next step, too.
func (r *reconciler) createReservation(ctx context.Context, s situation) error {
	if s.pod == nil {
		return errors.New("create the reservation: the pod is not known")
	}
	pod, err := r.live.pod(ctx, s.pod.Namespace, s.pod.Name)
	if err != nil || pod == nil || pod.UID != s.pod.UID {
		return err
	}
	reservation := migration.NewReservation(s.job, pod, r.args, r.now(s.job))
	err = r.client.Create(ctx, reservation)
	switch {
	case err == nil:
		klog.FromContext(ctx).Info("Created reservation", "job", s.job.Name, "reservation", reservation.Name)
		return nil
	case apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err):
		_, err = r.writeStatus(ctx, s.job, migration.ReservationRefused(s.job, err.Error(), r.now(s.job)))
		return err
	}
	return fmt.Errorf("create reservation %q: %w", reservation.Name, err)
}

func (r *reconciler) deleteReservation(ctx context.Context, s situation, action migration.Action) error {
	if s.reservation == nil {
		return nil
	}
	err := r.client.Delete(ctx, s.reservation.DeepCopy(), client.Preconditions{UID: &action.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete reservation %q: %w", s.reservation.Name, err)
	}
	klog.FromContext(ctx).Info("Released reservation", "job", s.job.Name, "reservation", s.reservation.Name)
	return nil
}
