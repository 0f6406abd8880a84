package invariants

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

const (
	// Window is how far from a binding what there is to hold may have been in force: a scheduler binds what it decided
	// a moment before, and watches of different kinds of objects do not keep in step.
	Window = 5 * time.Second
	// GangGrace is for how long a part of a gang may be bound.
	GangGrace = 20 * time.Second
)

// Seen is what a watcher had to check, so that a test can tell that it checked anything.
type Seen struct {
	// Events of all kinds, Bindings among them, and pods bound with CPUs, zones or devices.
	Events, Bindings, Allocations int
	// Reserved are pods bound with room of a reservation, and Gangs those that became whole.
	Reserved, Gangs int
	// LongestPart is for how long a part of a gang was bound at most.
	LongestPart time.Duration
	// Relists are how often a watch was broken so that what happened in between was seen as a whole.
	Relists int
}

// Watcher checks a cluster. It is safe for concurrent use.
type Watcher struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	streams []*stream
	now     func() time.Time

	mutex  sync.Mutex
	seen   Seen
	synced map[string]bool
	pods   map[types.NamespacedName]*corev1.Pod
	nodes  map[string]*nodeHistory
	// reservations, podGroups and quotas are the present objects.
	reservations map[string]*schedulingv1alpha1.Reservation
	podGroups    map[types.NamespacedName]*schedulingsigsv1alpha1.PodGroup
	// reserved are the versions of each reservation, also of those that are gone.
	reserved map[types.UID][]reservationVersion
	quotas   map[types.NamespacedName]*schedulingsigsv1alpha1.ElasticQuota
	// limits of the quotas over time.
	limits []limitsVersion
	// suspects are bindings that only another version of the node or the quotas can justify.
	suspects []suspect
	// parts is since when a part of a gang is bound; whole gangs have been bound once.
	parts map[types.NamespacedName]time.Time
	whole map[types.NamespacedName]bool

	violations []Violation
	known      map[Violation]bool
}

// Watch follows the cluster that config reaches, which must serve Koordinator's kinds, until Stop. It returns when the
// present objects are known; what was bound before is not checked against what there is to hold.
func Watch(ctx context.Context, config *rest.Config) (*Watcher, error) {
	w := newWatcher(time.Now)
	followers, err := w.followers(config)
	if err != nil {
		return nil, err
	}
	// The error of a broken watch is returned by Seen.
	following, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.Logger{}))
	w.stop = stop
	for _, follower := range followers {
		w.running.Go(func() { follower.RunWithContext(following) })
	}
	if err := w.sync(ctx, len(followers)); err != nil {
		w.Stop()
		return nil, err
	}
	return w, nil
}

func newWatcher(now func() time.Time) *Watcher {
	return &Watcher{
		now: now, stop: func() {}, synced: map[string]bool{}, known: map[Violation]bool{},
		pods: map[types.NamespacedName]*corev1.Pod{}, nodes: map[string]*nodeHistory{},
		reservations: map[string]*schedulingv1alpha1.Reservation{},
		podGroups:    map[types.NamespacedName]*schedulingsigsv1alpha1.PodGroup{},
		quotas:       map[types.NamespacedName]*schedulingsigsv1alpha1.ElasticQuota{},
		reserved:     map[types.UID][]reservationVersion{},
		parts:        map[types.NamespacedName]time.Time{}, whole: map[types.NamespacedName]bool{},
	}
}

func (w *Watcher) sync(ctx context.Context, kinds int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		w.mutex.Lock()
		synced := len(w.synced)
		w.mutex.Unlock()
		if synced == kinds {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("list what to watch: %d of %d kinds are listed: %w", synced, kinds, ctx.Err())
		case <-tick.C:
		}
	}
}

// Stop ends the watches. The watcher still answers what it saw.
func (w *Watcher) Stop() {
	w.stop()
	w.running.Wait()
}

// Seen counts what was checked so far.
func (w *Watcher) Seen() Seen {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.seen
}

// Violations returns what did not hold so far, in the order in which it was seen. Bindings of the last Window may turn out
// to be justified when it has passed.
func (w *Watcher) Violations() []Violation {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.checkGangs()
	all := append([]Violation(nil), w.violations...)
	for _, s := range w.suspects {
		all = append(all, s.judge(s)...)
	}
	return all
}

// Pods returns the pods as they were last seen, by namespace and name.
func (w *Watcher) Pods() map[types.NamespacedName]*corev1.Pod {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	pods := make(map[types.NamespacedName]*corev1.Pod, len(w.pods))
	for name, pod := range w.pods {
		pods[name] = pod
	}
	return pods
}

// report remembers violations, each once. The mutex is held.
func (w *Watcher) report(revision string, violations []Violation) {
	for _, v := range violations {
		if w.known[v] {
			continue
		}
		w.known[v] = true
		v.Revision = revision
		w.violations = append(w.violations, v)
	}
}

// nodeVersion is a node from some moment on, until the next version.
type nodeVersion struct {
	since time.Time
	// found is true for what was there when the watcher began: what had been before is not known.
	found bool
	node  Node
}

type nodeHistory struct {
	object   *corev1.Node
	topology *topologyv1alpha1.NodeResourceTopology
	device   *schedulingv1alpha1.Device
	versions []nodeVersion
}

type limitsVersion struct {
	since  time.Time
	found  bool
	limits map[string]Limits
}

// suspect is a binding that the version then in force did not justify.
type suspect struct {
	at       time.Time
	revision string
	judge    func(suspect) []Violation
}

// inForce reports whether a version that holds from since until next was in force within Window of a moment. A zero next
// has not come.
func inForce(at, since, next time.Time) bool {
	return !since.After(at.Add(Window)) && (next.IsZero() || !next.Before(at.Add(-Window)))
}
