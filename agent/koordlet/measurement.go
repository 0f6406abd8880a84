package koordlet

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/capacity"
	"koordinator.sh/koord/decision/cpuset"
	"koordinator.sh/koord/decision/podrequest"
)

// measurement reads the machine, and knows what it used over time.
type measurement struct {
	options *Options
	host    host.Host
	cluster *state.State

	mu        sync.Mutex
	metrics   *metrics.Node
	predictor *prediction.Node
	// last reading.
	last host.Snapshot
	// capacity and topology of the machine as it was described last.
	capacity  podrequest.Amount
	topology  *cpuset.Topology
	described time.Time
	// nextTraining is when the prediction learns again.
	nextTraining time.Time
}

func newMeasurement(options *Options, host host.Host, cluster *state.State) *measurement {
	return &measurement{
		options: options, host: host, cluster: cluster, predictor: prediction.NewNode(prediction.Options{}),
		metrics: metrics.NewNode(report.MetricsPolicy(&slov1alpha1.NodeMetricSpec{}, options.SamplePeriod)),
	}
}

// run takes a reading each period, and has the enforcement look at it.
func (m *measurement) run(ctx context.Context, enforcement *enforcement) {
	ticker := m.options.Clock.NewTicker(m.options.SamplePeriod)
	defer ticker.Stop()
	failing := false
	for {
		err := m.sample(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			klog.FromContext(ctx).Error(err, "the machine cannot be read, retrying")
		case err == nil:
			enforcement.act(ctx, m.cluster, m)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// sample takes one reading.
func (m *measurement) sample(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.host.Read(ctx, &m.last); err != nil {
		return err
	}
	if err := m.build(ctx); err != nil {
		return err
	}
	m.follow()
	m.metrics.Observe(&m.last)
	if at := m.last.Time; !at.Before(m.nextTraining) {
		m.nextTraining = at.Add(prediction.TrainInterval)
		m.predictor.Learn(at, m.metrics, m.predicted())
	}
	return nil
}

// follow measures what the NodeMetric asks for. Windows begin anew when that changes.
func (m *measurement) follow() {
	metric := m.cluster.Metric()
	if metric == nil {
		return
	}
	if policy := report.MetricsPolicy(&metric.Spec, m.options.SamplePeriod); !m.metrics.Policy().Equal(policy) {
		m.metrics = metrics.NewNode(policy)
	}
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

// status is what the NodeMetric is to say; nil before the first reading.
func (m *measurement) status(now time.Time) *slov1alpha1.NodeMetricStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Time.IsZero() {
		return nil
	}
	in := report.Input{UpdateTime: now, At: m.last.Time, Metrics: m.metrics}
	if node := m.cluster.Node(); node != nil {
		estimate := m.predictor.Estimate(m.last.Time, m.predicted(), capacity.Of(node).Raw)
		in.Prediction = &estimate
	}
	for _, pod := range m.cluster.Pods() {
		if pod.Running() {
			in.Pods = append(in.Pods, report.Pod{
				UID: pod.UID, Namespace: pod.Object.Namespace, Name: pod.Object.Name, Band: pod.Requests.Band, QoS: pod.Requests.QoS,
			})
		}
	}
	return report.Status(in)
}

// describeEvery is how often the machine is asked how it is built: CPUs may be taken offline.
const describeEvery = time.Minute

// describe says how the machine is built, and what was used of it at the latest reading.
func (m *measurement) describe(in *qos.Situation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.last.Time
	in.Now, in.Capacity, in.Topology = at, m.capacity, m.topology
	in.Used = func() (metrics.Usage, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.metrics.LatestUsage(at)
	}
	in.PodUsed = func(uid types.UID) (metrics.Usage, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.metrics.LatestPodUsage(uid, at)
	}
}

// build asks the machine how it is built. What cannot be told stays as it was.
func (m *measurement) build(ctx context.Context) error {
	if at := m.last.Time; !m.described.IsZero() && at.Sub(m.described) < describeEvery && !at.Before(m.described) {
		return nil
	}
	capacity, err := m.host.Capacity(ctx)
	if err != nil {
		return err
	}
	built, err := m.host.Topology(ctx)
	if err != nil {
		return err
	}
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: built.CPUs})
	if err != nil {
		return err
	}
	m.capacity, m.topology, m.described = capacity, topology, m.last.Time
	return nil
}
