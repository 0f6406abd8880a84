package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// discoveryInterval is how long an answer to whether the cluster serves EvictionRequests holds. It is asked for only while a job needs it.
const discoveryInterval = time.Minute

// requests reads and writes the EvictionRequests of jobs.
type requests struct {
	objects   dynamic.Interface
	discovery discovery.DiscoveryInterface
	clock     clock.PassiveClock

	mu     sync.Mutex
	served bool
	// asked is when served was last asked for; zero when it has to be.
	asked time.Time
	// logged is what was last logged of served.
	logged *bool
}

func newRequests(objects dynamic.Interface, discovery discovery.DiscoveryInterface) *requests {
	return &requests{objects: objects, discovery: discovery, clock: clock.RealClock{}}
}

// read reads the EvictionRequest of a job; nil when there is none. The refusal says why none can be used; it is empty when one can.
func (r *requests) read(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob) (_ *migration.EvictionRequest, refusal string, _ error) {
	if served, err := r.isServed(ctx); err != nil || !served {
		return nil, migration.EvictionRequestsNotServed, err
	}
	name := migration.EvictionRequestName(job)
	object, err := r.objects.Resource(migration.EvictionRequests).Namespace(job.Spec.PodRef.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		return migration.EvictionRequestOf(object, job), "", nil
	case apierrors.IsForbidden(err):
		return nil, err.Error(), nil
	case isUnserved(err):
		r.forget()
		return nil, migration.EvictionRequestsNotServed, nil
	case apierrors.IsNotFound(err):
		return nil, "", nil
	}
	return nil, "", fmt.Errorf("get EvictionRequest %q: %w", name, err)
}

// create requests the eviction of the pod of a job. One of the name that exists is no error: whose it is, the next step reads.
func (r *requests) create(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob) error {
	request := migration.NewEvictionRequest(job)
	_, err := r.objects.Resource(migration.EvictionRequests).Namespace(request.GetNamespace()).Create(ctx, request, metav1.CreateOptions{})
	if isUnserved(err) {
		r.forget()
	}
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// withdraw withdraws the request of a job, on the condition of its UID. One that is gone is withdrawn.
func (r *requests) withdraw(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, uid types.UID) error {
	patch, err := json.Marshal(migration.EvictionRequestWithdrawal(uid))
	if err != nil {
		return fmt.Errorf("encode the withdrawal: %w", err)
	}
	name := migration.EvictionRequestName(job)
	_, err = r.objects.Resource(migration.EvictionRequests).Namespace(job.Spec.PodRef.Namespace).
		Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("withdraw EvictionRequest %q: %w", name, err)
	}
	klog.FromContext(ctx).Info("Withdrew the request for the eviction of the pod", "job", job.Name, "evictionRequest", klog.KRef(job.Spec.PodRef.Namespace, name))
	return nil
}

// isServed reports whether the cluster serves EvictionRequests. The API server may be upgraded or set back while this process runs.
func (r *requests) isServed(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && r.clock.Since(r.asked) < discoveryInterval {
		return r.served, nil
	}
	list, err := r.discovery.ServerResourcesForGroupVersion(migration.EvictionRequests.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("discover %s: %w", migration.EvictionRequests.GroupVersion(), err)
	}
	r.served, r.asked = err == nil && migration.ServesEvictionRequests(list), r.clock.Now()
	if r.logged == nil || *r.logged != r.served {
		r.logged = new(r.served)
		if r.served {
			klog.FromContext(ctx).Info("The cluster serves EvictionRequests: pods with the eviction policy EvictionRequest are evicted by their responders")
		} else {
			klog.FromContext(ctx).Info("The cluster serves no EvictionRequests: pods with the eviction policy EvictionRequest are evicted by the eviction API")
		}
	}
	return r.served, nil
}

// forget has the next step ask whether EvictionRequests are served.
func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Time{}
}

// isUnserved reports whether an error says that there is no such resource, not that there is no such object.
func isUnserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// readRequest reads the EvictionRequest of a job, past the cache, where the next step depends on it.
func (r *reconciler) readRequest(ctx context.Context, s *situation) (err error) {
	if !migration.ReadsEvictionRequest(s.job, migration.PodOf(s.pod), r.args) {
		return nil
	}
	s.request, s.requestRefusal, err = r.requests.read(ctx, s.job)
	return err
}

// logUnavailable logs that a job starts to use the eviction API instead of an EvictionRequest.
func logUnavailable(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob, status *schedulingv1alpha1.PodMigrationJobStatus) {
	const kind = schedulingv1alpha1.PodMigrationJobConditionEvictionRequest
	before, after := migration.Condition(&job.Status, kind), migration.Condition(status, kind)
	if after == nil || after.Reason != schedulingv1alpha1.PodMigrationJobReasonRequestUnavailable || before != nil && before.Reason == after.Reason {
		return
	}
	klog.FromContext(ctx).V(1).Info("The pod is evicted without an EvictionRequest", "job", job.Name, "reason", after.Message)
}
