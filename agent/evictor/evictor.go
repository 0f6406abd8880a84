package evictor

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/eviction"
	"koordinator.sh/koord/decision/freshness"
	"koordinator.sh/koord/decision/podrequest"
)

const (
	// callTimeout bounds one eviction.
	callTimeout = 10 * time.Second
	// leavingFor is how long a pod that was evicted counts as gone while it is still there.
	leavingFor = 2 * time.Minute
	// refusedFor is how long a pod is left alone after its eviction was refused, by a PodDisruptionBudget as a rule.
	refusedFor = 10 * time.Second
)

// Options of an Evictor.
type Options struct {
	Client kubernetes.Interface
	// On says which features are switched on.
	On    map[eviction.Feature]bool
	Audit *audit.Log
	// Events tells of evictions.
	Events events.EventRecorder
	Clock  clock.PassiveClock
}

// Evictor evicts the pods of one node. Plan may be called while Run works.
type Evictor struct {
	options Options
	work    chan []eviction.Victim

	mu sync.Mutex
	// plan of the latest decision.
	plan eviction.Plan
	// evicted are the times of evictions within the longest window, and last those by resource.
	evicted []time.Time
	last    map[eviction.Resource]time.Time
	// leaving are pods that were evicted and are still there, and refused those that could not be.
	leaving, refused map[types.UID]time.Time
	windows          windows
}

// New returns an Evictor that has evicted nobody.
func New(options Options) *Evictor {
	return &Evictor{
		options: options, work: make(chan []eviction.Victim, 1), last: map[eviction.Resource]time.Time{},
		leaving: map[types.UID]time.Time{}, refused: map[types.UID]time.Time{},
	}
}

// Enabled is false when no feature is switched on.
func (e *Evictor) Enabled() bool {
	for _, on := range e.options.On {
		if on {
			return true
		}
	}
	return false
}

// Reading is what the evictions of a moment depend on.
type Reading struct {
	// Now is the time of the reading, and Period the time between two.
	Now      time.Time
	Period   time.Duration
	Strategy *slov1alpha1.ResourceThresholdStrategy
	Node     *corev1.Node
	Pods     []*state.Pod
	Capacity podrequest.Amount
	// Used by the node, and by a pod; false for what was not measured.
	Used    func() (metrics.Usage, bool)
	PodUsed func(types.UID) (metrics.Usage, bool)
	// BestEffortLimit is what suppression leaves to best-effort pods, in milli-cores; negative when it leaves all.
	BestEffortLimit int64
}

// Decide looks at a reading, and has Run evict the victims. While an earlier eviction is under way nobody else is evicted.
func (e *Evictor) Decide(reading Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.input(reading)
	e.plan = eviction.Decide(in)
	if len(e.plan.Victims) == 0 {
		return
	}
	select {
	case e.work <- e.plan.Victims:
	default:
	}
}

// Plan returns what was decided last.
func (e *Evictor) Plan() eviction.Plan {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.plan
}

// Run evicts until the context ends.
func (e *Evictor) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case victims := <-e.work:
			for _, victim := range victims {
				e.evict(ctx, victim)
			}
		}
	}
}

// evict asks the API server to evict one pod.
func (e *Evictor) evict(ctx context.Context, victim eviction.Victim) {
	uid := types.UID(victim.Pod.UID)
	if e.isLeaving(uid) {
		return // it was in two plans
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := e.options.Client.PolicyV1().Evictions(victim.Pod.Namespace).Evict(call, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
	now := e.options.Clock.Now()
	entry := audit.Entry{Time: now, Owner: string(victim.Feature), Object: "pod " + victim.Pod.String(), Old: "running", New: "evicted", Why: victim.Reason}
	if err != nil && !apierrors.IsNotFound(err) {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	e.options.Audit.Add(entry)
	e.record(victim, now, err)
	logger := klog.FromContext(ctx)
	switch {
	case apierrors.IsNotFound(err):
	case apierrors.IsTooManyRequests(err):
		logger.Info("A pod stays, because a PodDisruptionBudget protects it", "pod", victim.Pod.String(), "feature", victim.Feature, "reason", victim.Reason)
	case err != nil && ctx.Err() == nil:
		logger.Error(err, "A pod could not be evicted", "pod", victim.Pod.String(), "feature", victim.Feature)
	case err == nil:
		logger.Info("Evicted a pod", "pod", victim.Pod.String(), "feature", victim.Feature, "reason", victim.Reason)
		e.tell(victim)
	}
}

func (e *Evictor) isLeaving(uid types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, leaving := e.leaving[uid]
	return leaving
}

// record remembers what came of an eviction.
func (e *Evictor) record(victim eviction.Victim, now time.Time, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	uid := types.UID(victim.Pod.UID)
	if err != nil && !apierrors.IsNotFound(err) {
		e.refused[uid] = now
		return
	}
	e.leaving[uid] = now
	e.last[victim.Feature.Resource()] = now
	e.evicted = append(e.evicted, now)
}

func (e *Evictor) tell(victim eviction.Victim) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name, UID: types.UID(victim.Pod.UID)},
	}
	e.options.Events.Eventf(pod, nil, corev1.EventTypeWarning, victim.EventReason(), "Evict", "%s", victim.Reason)
}

// input is what the decision is made of.
func (e *Evictor) input(reading Reading) eviction.Input {
	e.forget(reading)
	in := eviction.Input{
		Now: reading.Now, Strategy: reading.Strategy, On: e.options.On, LastEviction: e.last, LeavingFor: leavingFor, Budget: eviction.DefaultBudget(),
		Node: eviction.Node{Capacity: reading.Capacity, Offers: offers(reading.Node)},
	}
	in.Budget.Evicted = e.evicted
	if used, measured := reading.Used(); measured {
		in.Node.Observation = freshness.Observation{At: reading.Now, Period: reading.Period}
		in.Node.Used = used.Amount()
	}
	for _, pod := range reading.Pods {
		if at, refused := e.refused[pod.Object.UID]; refused && reading.Now.Sub(at) < refusedFor {
			continue
		}
		var amount *podrequest.Amount
		if used, measured := reading.PodUsed(pod.UID); measured {
			amount = new(used.Amount())
		}
		read := eviction.PodOf(pod.Object, amount)
		if at, leaving := e.leaving[pod.Object.UID]; leaving && !read.Leaving {
			read.Leaving, read.LeavingSince = true, at
		}
		in.Pods = append(in.Pods, read)
	}
	e.windows.add(reading, in.Pods)
	in.BestEffort, in.Node.Used.MilliCPU = e.windows.satisfaction(reading), e.windows.nodeCPU(in.Node.Used.MilliCPU)
	return in
}

// forget drops what is too old to matter, and pods that are gone.
func (e *Evictor) forget(reading Reading) {
	const longest = time.Hour
	kept := e.evicted[:0]
	for _, at := range e.evicted {
		if reading.Now.Sub(at) < longest {
			kept = append(kept, at)
		}
	}
	e.evicted = kept
	there := make(map[types.UID]bool, len(reading.Pods))
	for _, pod := range reading.Pods {
		there[pod.Object.UID] = true
	}
	for _, times := range []map[types.UID]time.Time{e.leaving, e.refused} {
		for uid := range times {
			if !there[uid] {
				delete(times, uid)
			}
		}
	}
}
