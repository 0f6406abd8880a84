package quotas

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/informer"
)

// Kind of the objects watched.
var Kind = informer.Kind{
	Resource: schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas"),
	Object:   &schedulingsigsv1alpha1.ElasticQuota{},
	Register: schedulingsigsv1alpha1.AddToScheme,
	Absent:   "no quotas are enforced",
}

// syncTimeout bounds how long the first pods wait for quotas to be known.
const syncTimeout = 10 * time.Second

// State is the live picture of all quotas. It is safe for concurrent use.
type State struct {
	View
	quotas        *informer.Informer
	pods, nodes   cache.SharedIndexInformer
	registrations []cache.ResourceEventHandlerRegistration
	// idle is true while there is no quota that could refuse a pod.
	idle atomic.Bool
	// settled is true once everything that existed at the start is known; deadline is when waiting for that ends, by the
	// steady clock, which a time.Time carries until it is made a number.
	settled  atomic.Bool
	deadline atomic.Pointer[time.Time]
	settings atomic.Pointer[quota.Args]
	// first are the arguments of the first profile, with what profiles may differ in.
	first atomic.Pointer[quota.Args]
	// freed is closed and replaced when pods may be admitted because of something that no event of the scheduler reports.
	freed notice
}

// New creates the state of a scheduler from the cluster that config reaches. Pods and nodes come from the scheduler's own
// informers. ElasticQuotas are watched from Run on.
func New(config *rest.Config, pods, nodes cache.SharedIndexInformer) (*State, error) {
	watched, err := informer.New(config, Kind)
	if err != nil {
		return nil, err
	}
	return newState(watched, pods, nodes)
}

// NewFrom is New for ElasticQuotas from another source.
func NewFrom(source cache.ListerWatcher, pods, nodes cache.SharedIndexInformer) (*State, error) {
	watched, err := informer.NewFrom(source, Kind)
	if err != nil {
		return nil, err
	}
	return newState(watched, pods, nodes)
}

func newState(watched *informer.Informer, pods, nodes cache.SharedIndexInformer) (*State, error) {
	defaults := &quota.Args{}
	quota.SetDefaults(defaults)
	s := &State{View: View{book: newBook(defaults.Options())}, quotas: watched, pods: pods, nodes: nodes}
	s.idle.Store(true)
	handlers := []struct {
		informer cache.SharedIndexInformer
		observe  func(object any)
	}{{watched, s.quotaChanged}, {pods, s.podChanged}, {nodes, s.nodeChanged}}
	for _, handler := range handlers {
		registration, err := handler.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: handler.observe, UpdateFunc: func(_, object any) { handler.observe(object) }, DeleteFunc: handler.observe,
		})
		if err != nil {
			return nil, fmt.Errorf("watch what quotas depend on: %w", err)
		}
		s.registrations = append(s.registrations, registration)
	}
	return s, nil
}

// Run watches ElasticQuotas until the context ends. A cluster that does not serve them is one without quotas.
func (s *State) Run(ctx context.Context) { s.quotas.RunWithContext(ctx) }

// Informer of ElasticQuotas.
func (s *State) Informer() *informer.Informer { return s.quotas }

// Configure sets what the profiles of a scheduler must agree on. The first profile decides; another one that asks for
// something else is an error.
func (s *State) Configure(args *quota.Args) error {
	shared := *args
	shared.EnableCheckParentQuota, shared.EnableRuntimeQuota, shared.DisableDefaultQuotaPreemption, shared.EnableQueueHint = nil, nil, nil, nil
	if !s.settings.CompareAndSwap(nil, &shared) {
		if !reflect.DeepEqual(s.settings.Load(), &shared) {
			return fmt.Errorf("configure %s: all profiles must agree on everything but enableCheckParentQuota, enableRuntimeQuota and disableDefaultQuotaPreemption", quota.Kind)
		}
		return nil
	}
	s.first.Store(args)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.book.options, s.book.replant = args.Options(), true
	s.assess()
	return nil
}

// Settings that the profiles agree on; the defaults while no profile uses quotas.
func (s *State) Settings() *quota.Args {
	if settings := s.settings.Load(); settings != nil {
		return settings
	}
	defaults := &quota.Args{}
	quota.SetDefaults(defaults)
	return defaults
}

// Served is false while the cluster has no ElasticQuotas.
func (s *State) Served() bool { return s.quotas.HasSynced() && !s.quotas.Missing() }

// Idle is true while no pod can be refused: there are no quotas but the built-in ones.
func (s *State) Idle() bool { return s.idle.Load() }

// WaitForSync waits until everything that existed at the start of the scheduler is known: before that, a pod could be admitted
// into a quota that is full. It returns an error once that takes too long, or the context ends.
func (s *State) WaitForSync(ctx context.Context) error {
	if s.settled.Load() {
		return nil
	}
	s.deadline.CompareAndSwap(nil, new(time.Now().Add(syncTimeout)))
	for !s.synced() {
		if time.Now().After(*s.deadline.Load()) {
			return fmt.Errorf("quotas are not known yet: %s cannot be listed", Kind.Resource.GroupResource())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for quotas: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.settled.Store(true)
	return nil
}

func (s *State) synced() bool {
	if !s.quotas.Settled() {
		return false
	}
	for i, registration := range s.registrations {
		if !registration.HasSynced() && (i > 0 || !s.quotas.Missing()) {
			return false
		}
	}
	return true
}

// Reserve counts a pod as using its quota, before its binding is written.
func (s *State) Reserve(pod *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.book.reserve(pod)
}

// Unreserve takes back Reserve, unless the pod was bound meanwhile.
func (s *State) Unreserve(pod *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.book.unreserve(pod)
}

// assess expects the lock to be held. A quota of another name than the built-in ones, or a built-in one with a limit of its
// own, can refuse pods.
func (s *State) assess() {
	s.idle.Store(s.book.idle())
}

func (b *book) idle() bool {
	for key, entry := range b.entries {
		if !extension.IsBuiltInQuota(key.Name) || key.Name != extension.RootQuotaName && !boundless(entry.spec.Max) {
			return false
		}
	}
	return boundless(b.options.DefaultMax) && boundless(b.options.SystemMax)
}

// boundless limits are those that no cluster reaches: an eighth of the largest integer and more.
func boundless(limit quota.Amounts) bool {
	for _, amount := range limit {
		if amount.Value < quota.Unlimited/8 {
			return false
		}
	}
	return true
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}
