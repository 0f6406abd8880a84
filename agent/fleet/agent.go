package fleet

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/api/extension"
)

// agent is the agent of one simulated node.
type agent struct {
	opts Options
	pods cache.Indexer
	name string

	mu sync.Mutex
	// node and metric are the latest records; metric is nil while there is no NodeMetric.
	node   *nodeRecord
	metric *metricRecord
	// podsChanged says that the index has other pods than running.
	podsChanged bool
	// running are the pods of the host, in its order.
	running []*podRecord

	// host is nil until the agent first has something to report to.
	host      *simulated.Host
	metrics   *metrics.Node
	past      metrics.Past
	predictor *prediction.Node
	// nextSample and nextTraining are simulated times.
	nextSample, nextTraining time.Time
	// nextReport is a real time.
	nextReport time.Time
	// frozenReport says that the one report of a frozen node was made.
	frozenReport bool
	// reported is the real time of the last report that was taken, or since when reports are expected.
	reported time.Time
	random   *rand.Rand
	// turned is when the agent began to enforce, or ceased to.
	turned time.Time
}

func newAgent(opts Options, pods cache.Indexer, node *nodeRecord, metric *metricRecord) *agent {
	return &agent{
		opts: opts, pods: pods, name: node.Name, node: node, metric: metric, podsChanged: true, reported: opts.Clock.Now(),
		turned: opts.Clock.Now(),
		random: rand.New(rand.NewPCG(opts.Seed, hashOf(node.Name))),
	}
}

// setNode takes a new record of the node. A machine that changed is simulated again from the start, past included, and reported at
// once: a report that was under way may have found no machine.
func (a *agent) setNode(node *nodeRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if node.sim != a.node.sim {
		if !node.sim.Frozen {
			a.frozenReport = false
		}
		if a.node.sim.Frozen && !node.sim.Frozen {
			a.reported = a.opts.Clock.Now()
		}
		if node.sim.Capacity != a.node.sim.Capacity || node.sim.HotPercent != a.node.sim.HotPercent {
			a.host, a.nextReport = nil, time.Time{}
		}
		if node.sim.Fault != a.node.sim.Fault {
			a.nextReport, a.turned = time.Time{}, a.opts.Clock.Now() // an agent reports at once when it starts
		}
	}
	a.node = node
}

// setMetric takes a new record of the NodeMetric, nil when it was deleted. A new NodeMetric is reported to at once.
func (a *agent) setMetric(metric *metricRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if metric != nil && (a.metric == nil || a.metric.UID != metric.UID) {
		a.nextReport, a.frozenReport, a.reported = time.Time{}, false, a.opts.Clock.Now()
	}
	a.metric = metric
}

func (a *agent) markPods() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.podsChanged = true
}

// advance samples up to now and reports whether a report is due, which it then takes for made.
func (a *agent) advance(now time.Time, scratch *host.Snapshot) (due bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.metric == nil {
		return false
	}
	simulatedNow := a.opts.timeline().At(now)
	policy := report.MetricsPolicy(&a.metric.spec, a.opts.SamplePeriod)
	switch {
	case a.host == nil || !a.metrics.Policy().Equal(policy):
		a.start(simulatedNow, policy)
	case a.podsChanged:
		a.refreshPods(simulatedNow)
	}
	a.sample(simulatedNow, scratch)
	return a.due(now)
}

func (a *agent) due(now time.Time) bool {
	if node := a.node.sim; node.Frozen {
		once := !a.frozenReport && !a.silent()
		a.frozenReport = true
		a.nextReport = time.Time{}
		return once
	}
	if now.Before(a.nextReport) {
		return false
	}
	interval := a.opts.ReportInterval
	if interval == 0 {
		interval = report.Interval(&a.metric.spec)
	}
	if a.nextReport.IsZero() {
		// All nodes report when the fleet starts; from the second report on they are spread over the interval.
		a.nextReport = now.Add(between(a.random, interval/2, interval))
	} else {
		a.nextReport = now.Add(between(a.random, interval*95/100, interval*105/100))
	}
	return true
}

// start makes the machine and fills its windows with the past.
func (a *agent) start(now time.Time, policy metrics.Policy) {
	a.host = simulated.New(a.opts.Seed, a.node.sim, a.opts.Clock, a.opts.timeline())
	a.metrics, a.past = metrics.NewNode(policy), metrics.Past{}
	a.running = nil
	a.loadPods()
	if a.predictor == nil {
		a.predictor = prediction.NewNode(a.opts.Prediction)
		a.learnPast(now, a.running, true)
	}
	a.nextSample = now.Add(-policy.Longest() - policy.Period).Truncate(policy.Period)
	a.nextTraining = now.Add(prediction.TrainInterval)
}

// refreshPods takes the node's pods from the index, and learns how new ones behaved before the fleet knew them. If a new pod is older
// than the windows, the machine is simulated again, so that the pod is measured over all of them. One that began within them is
// measured from now on, because that costs nothing and its windows are soon complete.
func (a *agent) refreshPods(now time.Time) {
	known := make(map[types.UID]bool, len(a.running))
	for _, pod := range a.running {
		known[pod.sim.UID] = true
	}
	a.loadPods()
	a.learnPast(now, a.running, false)
	policy := a.metrics.Policy()
	begin := now.Add(-policy.Longest() - policy.Period).Truncate(policy.Period)
	for _, pod := range a.running {
		if !known[pod.sim.UID] && pod.sim.Started.Before(begin) {
			a.start(now, policy)
			return
		}
	}
}

func (a *agent) loadPods() {
	a.podsChanged = false
	objects, err := a.pods.ByIndex(byNode, a.name)
	if err != nil {
		return // the index was added before the informer started
	}
	running := make([]*podRecord, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*podRecord); ok && pod.running {
			running = append(running, pod)
		}
	}
	slices.SortFunc(running, func(x, y *podRecord) int { return cmp.Compare(x.sim.Name, y.sim.Name) })
	a.running = running
	pods := make([]*simulated.Pod, len(running))
	for i, pod := range running {
		pods[i] = pod.sim
	}
	a.host.SetPods(pods)
}

// sample takes the samples that are due. After a pause longer than all windows it goes on where they begin.
func (a *agent) sample(now time.Time, scratch *host.Snapshot) {
	policy := a.metrics.Policy()
	if begin := now.Add(-policy.Longest() - policy.Period).Truncate(policy.Period); a.nextSample.Before(begin) {
		a.nextSample = begin
	}
	for ; !a.nextSample.After(now); a.nextSample = a.nextSample.Add(policy.Period) {
		a.host.ReadAt(a.nextSample, scratch)
		a.metrics.Observe(scratch)
		a.past.Observe(a.metrics, a.bands)
		if !a.nextSample.Before(a.nextTraining) {
			a.train(a.nextSample)
		}
	}
}

// bands of the pods that run. A simulated machine has no applications beside.
func (a *agent) bands() metrics.Bands {
	bands := metrics.Bands{Pods: make(map[types.UID]extension.PriorityClass, len(a.running))}
	for _, pod := range a.running {
		bands.Pods[pod.sim.UID] = pod.band
	}
	return bands
}

// lastSample is the simulated time of the latest sample.
func (a *agent) lastSample() time.Time { return a.nextSample.Add(-a.metrics.Policy().Period) }

// between draws a duration.
func between(random *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(random.Int64N(int64(max(high-low, 1))))
}
