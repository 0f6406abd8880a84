package evictor

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/softeviction"
)

const (
	// callTimeout bounds one eviction.
	callTimeout = 10 * time.Second
	// leavingFor is how long a pod that was evicted counts as gone while it is still there.
	leavingFor = 2 * time.Minute
	// refusedInterval is how long a pod is left alone after its eviction was refused, by a PodDisruptionBudget as a rule.
	refusedInterval = 10 * time.Second
	// logInterval is the shortest time between two entries about one pod that stays.
	logInterval = time.Minute
)

// planHolds is how long after its reading a plan is followed: what holds the API server up must not have pods go that need not any more.
const planHolds = 5 * time.Second

// work is a plan that is to be followed, and the time of the reading that it was made of.
type work struct {
	at      time.Time
	victims []eviction.Victim
}

// Options of an Evictor.
type Options struct {
	Client kubernetes.Interface
	// On says which features are switched on.
	On map[eviction.Feature]bool
	// Soft carries out requests for a soft eviction.
	Soft  bool
	Audit *audit.Log
	// Events records evictions.
	Events events.EventRecorder
	// InDanger lets pods be deleted although a PodDisruptionBudget protects them, when the kernel is about to kill one of its choice.
	InDanger bool
	// History keeps the times of evictions, so that an agent that is started again and again evicts no more than one that runs on;
	// nil keeps none.
	History Store
	// Containers ends containers of schedulers outside of Kubernetes; nil where the node has none.
	Containers ContainerKiller
	Clock      clock.PassiveClock
}

// Evictor evicts the pods of one node. Plan may be called while Run works.
type Evictor struct {
	options Options
	work    chan work
	// loadErr is why the history of evictions could not be read.
	loadErr error

	mu sync.Mutex
	// decided is what the latest decision was made of, and plan what it came to.
	decided *eviction.Input
	plan    eviction.Plan
	// soft is what was decided last of requests for a soft eviction.
	soft softeviction.Verdict
	// counts of evictions by feature, and the pods of the latest.
	counts map[eviction.Feature]int
	gone   []Evicted
	// evicted are the times of evictions within the longest window, and last those by resource.
	evicted []time.Time
	last    map[eviction.Resource]time.Time
	// leaving are pods that were evicted and are still there, and refused those that could not be.
	leaving map[types.UID]time.Time
	refused map[types.UID]refusal
	// unanswered is when the agent of a container, by name, did not answer a request to end one.
	unanswered map[string]time.Time
	windows    windows
	danger     danger
}

// New returns an Evictor that knows of earlier evictions what their history has.
func New(options Options) *Evictor {
	e := &Evictor{
		options: options, work: make(chan work, 1), last: map[eviction.Resource]time.Time{}, counts: map[eviction.Feature]int{},
		leaving: map[types.UID]time.Time{}, refused: map[types.UID]refusal{}, unanswered: map[string]time.Time{},
	}
	e.evicted, e.loadErr = loadHistory(options.History)
	return e
}

// Enabled is false when no feature is switched on.
func (e *Evictor) Enabled() bool {
	for _, on := range e.options.On {
		if on {
			return true
		}
	}
	return e.options.Soft
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
	// Containers of schedulers outside of Kubernetes.
	Containers []eviction.Container
	// BestEffortLimit is what suppression leaves to best-effort pods, in milli-cores; negative when it leaves all.
	BestEffortLimit int64
}

// Decide looks at a reading, and has Run evict the victims. While an earlier eviction is under way no other pod is evicted.
func (e *Evictor) Decide(reading Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.input(reading)
	e.decided, e.plan = &in, eviction.Decide(in, nil)
	victims := e.plan.Victims
	if e.options.Soft {
		e.soft = softeviction.Decide(softInput(&in, reading, len(victims)))
		victims = slices.Concat(victims, e.soft.Victims())
	}
	if len(victims) == 0 {
		return
	}
	select {
	case e.work <- work{at: reading.Now, victims: victims}:
	default:
	}
}

// Plan returns what was decided last.
func (e *Evictor) Plan() eviction.Plan {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.plan
}

// Run evicts until the context ends. Of a plan that is old the rest is left: the next one is made of the next reading.
func (e *Evictor) Run(ctx context.Context) {
	if e.loadErr != nil {
		klog.FromContext(ctx).Error(e.loadErr, "Failed to read the eviction history, the eviction budget starts over")
	}
	for {
		select {
		case <-ctx.Done():
			return
		case plan := <-e.work:
			for _, victim := range plan.victims {
				if age := e.options.Clock.Since(plan.at); age < 0 || age > planHolds {
					break
				}
				e.evict(ctx, victim)
			}
		}
	}
}

// evict asks the API server to evict one pod, or to delete it where a budget is overridden.
func (e *Evictor) evict(ctx context.Context, victim eviction.Victim) {
	uid := types.UID(victim.Pod.UID)
	if e.isLeaving(uid) {
		return // it was in two plans
	}
	err := e.end(ctx, victim)
	now := e.options.Clock.Now()
	logged := e.record(victim, now, err)
	if !logged {
		return
	}
	if err == nil {
		e.saveHistory(ctx)
	}
	entry := audit.Entry{Time: now, Owner: string(victim.Feature), Object: victim.Pod.Kind() + " " + victim.Pod.String(), Old: "running", New: "evicted", Why: reasonOf(victim)}
	switch {
	case victim.Override != "":
		entry.New = "deleted"
	case victim.Pod.IsContainer():
		entry.New = "killed"
	}
	if err != nil && !isGone(err) {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	e.options.Audit.Add(entry)
	if victim.Pod.IsContainer() {
		logKill(ctx, victim, err)
		return
	}
	logger := klog.FromContext(ctx).WithValues("pod", victim.Pod.String(), "feature", victim.Feature)
	switch {
	case isGone(err):
	case isBudget(err):
		logger.Info("Pod not evicted: a PodDisruptionBudget protects it", "reason", victim.Reason)
	case isClusterBudget(err):
		logger.Info("Pod not evicted: the eviction budget of the cluster is used up", "reason", victim.Reason)
	case apierrors.IsForbidden(err) && victim.Override != "":
		logger.Error(err, "Node is about to run out of memory, and koordlet may not delete a pod against its PodDisruptionBudget", "reason", reasonOf(victim))
	case err != nil && ctx.Err() == nil:
		logger.Error(err, "Failed to evict pod")
	case err == nil:
		logger.Info("Evicted pod", "reason", reasonOf(victim))
		e.recordEvent(victim)
	}
}

// end asks for the end of a pod or a container from who can.
func (e *Evictor) end(ctx context.Context, victim eviction.Victim) error {
	if victim.Pod.IsContainer() {
		return e.kill(ctx, victim.Pod)
	}
	return e.ask(ctx, victim)
}

// ask the API server for one pod, and for no other that has its name meanwhile.
func (e *Evictor) ask(ctx context.Context, victim eviction.Victim) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	uid := types.UID(victim.Pod.UID)
	options := metav1.DeleteOptions{}
	if victim.DeleteOptions != nil {
		options = *victim.DeleteOptions.DeepCopy()
	}
	options.Preconditions = &metav1.Preconditions{UID: &uid}
	if victim.Override != "" {
		return e.options.Client.CoreV1().Pods(victim.Pod.Namespace).Delete(call, victim.Pod.Name, options)
	}
	return e.options.Client.PolicyV1().Evictions(victim.Pod.Namespace).Evict(call, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name},
		DeleteOptions: &options,
	})
}

// reasonOf an eviction, with that of overriding a budget.
func reasonOf(victim eviction.Victim) string {
	if victim.Override == "" {
		return victim.Reason
	}
	return victim.Reason + "; its PodDisruptionBudget was overridden: " + victim.Override
}

func (e *Evictor) isLeaving(uid types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, leaving := e.leaving[uid]
	return leaving
}

// record remembers what came of an eviction, and reports whether that is news: that a pod stays is once a minute.
func (e *Evictor) record(victim eviction.Victim, now time.Time, err error) (logged bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	uid := types.UID(victim.Pod.UID)
	if err != nil && !isGone(err) {
		if errors.Is(err, copilot.ErrUnanswered) {
			e.unanswered[victim.Pod.Agent] = now
		}
		next := refusal{at: now, why: eviction.RefusedFailure, loggedAt: e.refused[uid].loggedAt}
		switch {
		case isBudget(err):
			next.why = eviction.RefusedBudget
		case isClusterBudget(err):
			next.why = eviction.RefusedCluster
		}
		if next.loggedAt == nil {
			next.loggedAt = map[eviction.Refusal]time.Time{}
		}
		told, before := next.loggedAt[next.why]
		if logged = !before || !within(now, told, logInterval); logged {
			next.loggedAt[next.why] = now
		}
		e.refused[uid] = next
		return logged
	}
	e.leaving[uid] = now
	if victim.Feature != eviction.SoftEvict { // which releases no resource that the node is short of
		e.last[victim.Feature.Resource()] = now
	}
	e.evicted = append(e.evicted, now)
	e.counts[victim.Feature]++
	e.recordEvicted(victim)
	return true
}

func (e *Evictor) recordEvent(victim eviction.Victim) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name, UID: types.UID(victim.Pod.UID)},
	}
	e.options.Events.Eventf(pod, nil, corev1.EventTypeWarning, victim.EventReason(), "Evict", "%s", reasonOf(victim))
}

// input is what the decision is made of.
func (e *Evictor) input(reading Reading) eviction.Input {
	e.forget(reading)
	in := eviction.Input{
		Now: reading.Now, Strategy: reading.Strategy, On: e.options.On, LastEviction: e.last, LeavingFor: leavingFor, Budget: eviction.DefaultBudget(),
		Node: eviction.Node{Capacity: reading.Capacity, Offers: eviction.OffersOf(reading.Node)},
	}
	in.Budget.Evicted = e.evicted
	if used, measured := reading.Used(); measured {
		in.Node.Observation = freshness.Observation{At: reading.Now, Period: reading.Period}
		in.Node.Used = used.Amount()
	}
	in.Danger = eviction.Danger{Allowed: e.options.InDanger, Readings: e.danger.observe(reading, in.Node)}
	for _, pod := range reading.Pods {
		var amount *podrequest.Amount
		if used, measured := reading.PodUsed(pod.UID); measured {
			amount = new(used.Amount())
		}
		in.Pods = append(in.Pods, e.remembered(eviction.PodOf(pod.Object, amount), reading.Now))
	}
	e.addContainers(reading, &in)
	e.windows.add(reading, in.Pods)
	in.BestEffort, in.Node.Used.MilliCPU = e.windows.satisfaction(reading), e.windows.nodeCPU(in.Node.Used.MilliCPU)
	return in
}

// remembered adds what became of evicting a pod or a container before.
func (e *Evictor) remembered(read eviction.Pod, now time.Time) eviction.Pod {
	uid := types.UID(read.UID)
	if at, leaving := e.leaving[uid]; leaving && !read.Leaving {
		read.Leaving, read.LeavingSince = true, at
	}
	if refused := e.refused[uid]; within(now, refused.at, refusedInterval) {
		read.Refused = refused.why
	}
	if read.IsContainer() && within(now, e.unanswered[read.Agent], refusedInterval) {
		read.Refused = eviction.RefusedFailure
	}
	return read
}

// forget drops what is too old to matter, and pods that are gone. What seems to lie ahead was timed by a clock that was set back since,
// and counts as of now.
func (e *Evictor) forget(reading Reading) {
	const longest = time.Hour
	kept := e.evicted[:0]
	for _, at := range e.evicted {
		if at = earlier(at, reading.Now); reading.Now.Sub(at) < longest {
			kept = append(kept, at)
		}
	}
	e.evicted = kept
	for resource, at := range e.last {
		e.last[resource] = earlier(at, reading.Now)
	}
	there := make(map[types.UID]bool, len(reading.Pods)+len(reading.Containers))
	for _, pod := range reading.Pods {
		there[pod.Object.UID] = true
	}
	for i := range reading.Containers {
		there[types.UID(reading.Containers[i].UID())] = true
	}
	for uid, at := range e.leaving {
		if e.leaving[uid] = earlier(at, reading.Now); !there[uid] {
			delete(e.leaving, uid)
		}
	}
	maps.DeleteFunc(e.refused, func(uid types.UID, _ refusal) bool { return !there[uid] })
}
