package koordlet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

// measurement reads the machine, and knows what it used over time.
type measurement struct {
	options *Options
	host    host.Host
	cluster *state.State

	mu        sync.Mutex
	metrics   *metrics.Node
	past      metrics.Past
	predictor *prediction.Node
	// history is nil unless a profile other than Koordinator's is chosen.
	history *history
	// last reading.
	last host.Snapshot
	// capacity and topology of the machine as it was described last.
	capacity  podrequest.Amount
	topology  *cpuset.Topology
	described time.Time
	// topologyReads counts how often capacity and topology were read, by whether that succeeded.
	topologyReads map[bool]int
	// nextTraining is when the prediction learns again.
	nextTraining time.Time
	// between is the latest reading between two regular ones.
	between host.Snapshot
	// alarm asks for a reading before the period is over; nil without alarms.
	alarm <-chan struct{}
	// devices measure GPUs; nil when they are not measured.
	devices *devices
	// latest is the time of the latest reading of any kind.
	latest time.Time
	// readErrors logs why usage could not be read, and topologyErrors why capacity and topology could not.
	readErrors, topologyErrors errorLog
}

func newMeasurement(options *Options, host host.Host, cluster *state.State) *measurement {
	return &measurement{
		options: options, host: host, cluster: cluster, predictor: prediction.NewNode(prediction.Options{}), history: newHistory(options.Predictor),
		metrics: metrics.NewNode(report.MetricsPolicy(&slov1alpha1.NodeMetricSpec{}, options.SamplePeriod)), topologyReads: map[bool]int{},
	}
}

// run takes a reading each period, and has the enforcement look at it. After an alarm it takes two in between, to know what is
// used at that moment.
func (m *measurement) run(ctx context.Context, enforcement *enforcement) {
	ticker := m.options.Clock.NewTicker(m.options.SamplePeriod)
	defer ticker.Stop()
	for {
		err := m.sample(ctx)
		if ctx.Err() != nil {
			return
		}
		m.readErrors.Report(ctx, err, m.options.Clock.Now(), "Failed to read node statistics, will retry")
		if err == nil {
			enforcement.enforce(ctx, m.cluster, m)
		}
		if !m.wait(ctx, ticker.C(), enforcement) {
			return
		}
	}
}

// wait returns true when the next reading is due, and false when there will be none. Alarms that are given meanwhile are
// attended to.
func (m *measurement) wait(ctx context.Context, next <-chan time.Time, enforcement *enforcement) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-next:
			return true
		case <-m.alarm:
		}
		if m.sampleTwice(ctx) {
			enforcement.suppressNow(ctx, m.cluster, m)
		}
	}
}

// doubleSampleGap is the time between the two readings after an alarm: long enough for the counters of the node, which move in steps of 10
// ms, and short enough to act within a quarter of a second.
const doubleSampleGap = 50 * time.Millisecond

// sampleTwice takes two readings, and reports whether what is used between them is known. Windows and predictions do not see them.
func (m *measurement) sampleTwice(ctx context.Context) bool {
	if !m.readOnce(ctx) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-m.options.Clock.After(doubleSampleGap):
	}
	return m.readOnce(ctx)
}

func (m *measurement) readOnce(ctx context.Context) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Time.IsZero() || m.read(ctx, &m.between) != nil {
		return false // the next regular reading reports the error
	}
	m.metrics.ObserveBetween(&m.between)
	m.latest = m.between.Time
	return true
}

// stalePeriods is how many sample periods a reading may take. What it ends with is read that much later than what it began with: an
// agent that got no CPU in between would take the pods to have used in one period what they used in several.
const stalePeriods = 2

// read takes a reading; one that took too long is an error, and the next one counts from the one before it.
func (m *measurement) read(ctx context.Context, into *host.Snapshot) error {
	if err := m.host.Read(ctx, into); err != nil {
		return err
	}
	if took := m.options.Clock.Since(into.Time); took > stalePeriods*m.options.SamplePeriod {
		return fmt.Errorf("reading statistics took longer than %d sample periods of %s, so their values are not of the same time", stalePeriods, m.options.SamplePeriod)
	}
	return nil
}

// sample takes one reading.
func (m *measurement) sample(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.read(ctx, &m.last); err != nil {
		return err
	}
	m.latest = m.last.Time
	if err := m.describeMachine(ctx); err != nil {
		return err
	}
	m.applyPolicy()
	m.metrics.Observe(&m.last)
	m.past.Observe(m.metrics, m.bands)
	if at := m.last.Time; !at.Before(m.nextTraining) {
		m.nextTraining = at.Add(prediction.TrainInterval)
		m.predictor.Learn(at, m.metrics, m.predicted())
		if m.history != nil {
			m.history.observe(m, at)
		}
	}
	return nil
}

// applyPolicy measures what the NodeMetric asks for. Windows restart when that changes.
func (m *measurement) applyPolicy() {
	m.watchApplications()
	metric := m.cluster.Metric()
	if metric == nil {
		return
	}
	if policy := report.MetricsPolicy(&metric.Spec, m.options.SamplePeriod); !m.metrics.Policy().Equal(policy) {
		m.metrics = metrics.NewNode(policy)
	}
}

// watchApplications has the machine count the applications that the NodeSLO names. One whose cgroup is not known is left out, and what it
// uses is part of what the system uses.
func (m *measurement) watchApplications() {
	watcher, can := m.host.(interface{ Watch([]host.Application) })
	if !can {
		return
	}
	var wanted []host.Application
	for _, application := range m.applications() {
		if at, err := m.options.layout.HostApplication(&application); err == nil {
			wanted = append(wanted, host.Application{Name: application.Name, Cgroup: at})
		}
	}
	watcher.Watch(wanted)
}

// bands of the pods and applications that are known.
func (m *measurement) bands() metrics.Bands {
	bands := metrics.Bands{Pods: map[types.UID]extension.PriorityClass{}, Applications: map[string]extension.PriorityClass{}}
	for _, pod := range m.cluster.Pods() {
		bands.Pods[pod.UID] = pod.Requests.Band
	}
	for _, application := range m.applications() {
		bands.Applications[application.Name] = application.Priority
	}
	return bands
}

// applications are those that the NodeSLO names.
func (m *measurement) applications() []slov1alpha1.HostApplicationSpec {
	if slo := m.cluster.SLO(); slo != nil {
		return slo.Spec.HostApplications
	}
	return nil
}

// predicted are the pods that run, as the prediction knows them.
func (m *measurement) predicted() []prediction.Pod {
	var pods []prediction.Pod
	for _, pod := range m.cluster.Pods() {
		if pod.Running() {
			pods = append(pods, prediction.Pod{UID: pod.UID, Band: pod.Requests.Band, Request: pod.Requests.Requests.Plain, Started: pod.Started})
		}
	}
	return pods
}

// missedReadings is how many readings may fail in a row before nothing is reported any more: a report is as old as it says, and a
// node whose usage is not known must not look as if it were.
const missedReadings = 10

// status is what the NodeMetric is to say; nil before the second reading, from which on it is known what is used, and while the machine cannot be
// read. An agent that has just been restarted would otherwise take back what was reported before, and with it what the node offers.
func (m *measurement) status(now time.Time) *slov1alpha1.NodeMetricStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest.IsZero() || now.Sub(m.latest) > missedReadings*m.options.SamplePeriod {
		return nil
	}
	in := report.Input{UpdateTime: now, At: m.last.Time, Metrics: m.metrics}
	in.Prediction = m.estimate()
	if m.devices != nil {
		in.NodeDevices, in.PodDevices = m.devices.used(now)
	}
	for _, pod := range m.cluster.Pods() {
		if pod.Running() {
			in.Pods = append(in.Pods, report.Pod{
				UID: pod.UID, Namespace: pod.Object.Namespace, Name: pod.Object.Name, Band: pod.Requests.Band, QoS: pod.Requests.QoS,
			})
		}
	}
	for _, application := range m.applications() {
		in.Applications = append(in.Applications, report.Application{Name: application.Name, Band: application.Priority, QoS: application.QoS})
	}
	if status := report.Status(in); status.NodeMetric != nil {
		return status
	}
	return nil
}

// describeInterval is how often the machine is asked how it is built: CPUs may be taken offline.
const describeInterval = time.Minute

// describe says how the machine is built, and what was used of it at the latest reading.
func (m *measurement) describe(in *qos.NodeSnapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.latest
	in.Now, in.Capacity, in.Topology = at, m.capacity, m.topology
	in.Used = measured(m, func() (metrics.Usage, bool) { return m.metrics.LatestUsage(at) })
	in.PodUsed = measuredOf(m, func(uid types.UID) (metrics.Usage, bool) { return m.metrics.LatestPodUsage(uid, at) })
	in.Measured = qos.Measured{
		ContainerUsed:      measuredOf(m, func(id string) (metrics.Usage, bool) { return m.metrics.LatestContainerUsage(id, at) }),
		ContainerThrottled: measuredOf(m, func(id string) (metrics.Throttling, bool) { return m.metrics.ContainerThrottling(id) }),
		PodPressure:        measuredOf(m, func(uid types.UID) (metrics.Pressure, bool) { return m.metrics.PodPressure(uid) }),
		BestEffortUsed:     measured(m, func() (metrics.Usage, bool) { return m.metrics.LatestBestEffortUsage(at) }),
		ApplicationUsed:    measuredOf(m, func(name string) (metrics.Usage, bool) { return m.metrics.LatestApplicationUsage(name, at) }),
	}
}

// measured asks the metrics, which may be replaced, under the lock.
func measured[T any](m *measurement, ask func() (T, bool)) func() (T, bool) {
	return func() (T, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return ask()
	}
}

// measuredOf is measured for one of many.
func measuredOf[K, T any](m *measurement, ask func(K) (T, bool)) func(K) (T, bool) {
	return func(of K) (T, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return ask(of)
	}
}

// describeMachine reads capacity and topology once a minute. What cannot be read stays as it was; there is an error only while it was
// never read.
func (m *measurement) describeMachine(ctx context.Context) error {
	if at := m.last.Time; !m.described.IsZero() && at.Sub(m.described) < describeInterval && !at.Before(m.described) {
		return nil
	}
	capacity, topology, err := m.machine(ctx)
	m.topologyReads[err == nil]++
	switch {
	case err == nil:
		m.capacity, m.topology = capacity, topology
	case m.described.IsZero():
		return err
	}
	m.described = m.last.Time
	m.topologyErrors.Report(ctx, err, m.options.Clock.Now(), "Failed to read capacity and CPU topology, keeping the previous ones")
	return nil
}

// machine is how the machine is built.
func (m *measurement) machine(ctx context.Context) (podrequest.Amount, *cpuset.Topology, error) {
	capacity, err := m.host.Capacity(ctx)
	if err != nil {
		return podrequest.Amount{}, nil, err
	}
	built, err := m.host.Topology(ctx)
	if err != nil {
		return podrequest.Amount{}, nil, err
	}
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: built.CPUs})
	return capacity, topology, err
}
