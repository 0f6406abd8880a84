package elasticquota

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

const (
	// assumeFor bounds how long something admitted is believed to be stored before the watch says so. Another webhook, or the
	// API server itself, may have refused it.
	assumeFor = 3 * time.Second
	// watchTimeout is how long a refusal waits for the watch: an object it misses may have been admitted just now, or by another replica.
	watchTimeout = 500 * time.Millisecond
)

// Registry is the quotas of the cluster. It is safe for concurrent use.
type Registry struct {
	clock clock.Clock

	mu sync.Mutex
	// index is of what is stored, with what is assumed in its place.
	index  *quotaadmission.Index
	stored map[types.NamespacedName]*quotaadmission.Quota
	// assumed is until when an admitted write is believed to be stored.
	assumed map[types.NamespacedName]time.Time
	// changed is closed and replaced when the watch brings something.
	changed chan struct{}
}

var _ toolscache.ResourceEventHandler = (*Registry)(nil)

// NewRegistry returns a registry without quotas; it is to be added to an informer of ElasticQuotas.
func NewRegistry(clock clock.Clock) *Registry {
	return &Registry{
		clock: clock, index: quotaadmission.NewIndex(), stored: map[types.NamespacedName]*quotaadmission.Quota{},
		assumed: map[types.NamespacedName]time.Time{}, changed: make(chan struct{}),
	}
}

// OnAdd takes a quota over from the watch.
func (r *Registry) OnAdd(object any, _ bool) { r.observe(object) }

// OnUpdate takes a changed quota over from the watch.
func (r *Registry) OnUpdate(_, object any) { r.observe(object) }

// OnDelete forgets a quota.
func (r *Registry) OnDelete(object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if quota, ok := object.(*schedulingsigsv1alpha1.ElasticQuota); ok {
		r.store(types.NamespacedName{Namespace: quota.Namespace, Name: quota.Name}, nil)
	}
}

func (r *Registry) observe(object any) {
	quota, ok := object.(*schedulingsigsv1alpha1.ElasticQuota)
	if !ok {
		return
	}
	read, _ := quotaadmission.Read(quota) // what cannot be decoded counts as absent
	r.store(types.NamespacedName{Namespace: quota.Namespace, Name: quota.Name}, &read)
}

// store puts what the watch says in the place of what was assumed; nil for nothing. A change of the status alone says nothing
// about what was assumed.
func (r *Registry) store(key types.NamespacedName, quota *quotaadmission.Quota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.stored[key]
	if quota == nil {
		delete(r.stored, key)
	} else {
		r.stored[key] = quota
	}
	if _, waits := r.assumed[key]; waits && before != nil && quota != nil && quota.SameRequest(before) {
		return
	}
	delete(r.assumed, key)
	r.put(key, quota)
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Registry) put(key types.NamespacedName, quota *quotaadmission.Quota) {
	if quota == nil {
		r.index.Remove(key.Namespace, key.Name)
		return
	}
	r.index.Set(quota)
}

// expire goes back to what is stored where the watch has not confirmed what was assumed.
func (r *Registry) expire() {
	now := r.clock.Now()
	for key, until := range r.assumed {
		if now.After(until) {
			delete(r.assumed, key)
			r.put(key, r.stored[key])
		}
	}
}

// ask calls question with the index until it is content or watchTimeout ends, again whenever the watch brings something. The
// index must not be kept.
func (r *Registry) ask(ctx context.Context, question func(*quotaadmission.Index) (content bool)) {
	timeout := r.clock.NewTimer(watchTimeout)
	defer timeout.Stop()
	for {
		changed, content := r.askOnce(question)
		if content {
			return
		}
		select {
		case <-changed:
		case <-timeout.C():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (r *Registry) askOnce(question func(*quotaadmission.Index) bool) (<-chan struct{}, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	return r.changed, question(r.index)
}

// Admit judges a request, and believes one that it admits to be stored soon, unless it is a dry run. in.Quotas is the registry's.
func (r *Registry) Admit(ctx context.Context, in quotaadmission.Input, dryRun bool) quotaadmission.Verdict {
	var verdict quotaadmission.Verdict
	r.ask(ctx, func(index *quotaadmission.Index) bool {
		in.Quotas = index
		verdict = quotaadmission.Validate(in)
		if verdict.Refused() {
			return !verdict.DependsOnOthers()
		}
		if !dryRun {
			r.assume(in)
		}
		return true
	})
	return verdict
}

// assume puts what was admitted in its place. r.mu is held.
func (r *Registry) assume(in quotaadmission.Input) {
	quota := in.Quota
	if quota == nil {
		quota = in.Old
	}
	key := types.NamespacedName{Namespace: quota.Namespace, Name: quota.Name}
	r.assumed[key] = r.clock.Now().Add(assumeFor)
	r.put(key, in.Quota)
}

// Default completes a quota, waiting for a parent that is not known yet.
func (r *Registry) Default(ctx context.Context, quota, old *schedulingsigsv1alpha1.ElasticQuota) (labels, annotations map[string]string, err error) {
	r.ask(ctx, func(index *quotaadmission.Index) bool {
		labels, annotations, err = quotaadmission.Default(quota, old, index)
		return err != nil || !quotaadmission.AwaitsParent(quota, index)
	})
	return labels, annotations, err
}
