package koordlet

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// trendOver is how far back the trend of a forecast looks.
const trendOver = 5 * time.Minute

// round is what came of the latest round of enforcement. Its methods may be called at the same time.
type round struct {
	mu          sync.Mutex
	input       suppression.Input
	suppression suppression.Decision
	failures    map[string]diagnostics.Failure
}

// record keeps what a round came to, and what suppression was decided of.
func (r *round) record(at time.Time, in suppression.Input, decided suppression.Decision, outcome executor.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.input, r.suppression = in, decided
	if r.failures == nil {
		r.failures = map[string]diagnostics.Failure{}
	}
	for _, failure := range outcome.Failures {
		r.failures[failure.Owner] = diagnostics.Failure{At: at, Err: failure.Error()}
	}
}

// latestFailures are the latest failures of features, by their names, in a map of the caller's own.
func (r *round) latestFailures() map[string]diagnostics.Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]diagnostics.Failure{}
	maps.Copy(out, r.failures)
	return out
}

func (r *round) suppressionDecision() suppression.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.suppression
}

// suppressionInput is what suppression was decided of.
func (r *round) suppressionInput() suppression.Input {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.input
}

// explainer answers questions about the node that the agent runs on.
type explainer struct {
	options     *Options
	cluster     *state.State
	measurement *measurement
	enforcement *enforcement
	status      *enforcingStatus
	instance    string
	started     time.Time

	// containers are found by one question at a time.
	mu         sync.Mutex
	containers *qos.Containers
}

func newExplainer(options *Options, cluster *state.State, measurement *measurement, enforcement *enforcement, status *enforcingStatus) *explainer {
	return &explainer{
		options: options, cluster: cluster, measurement: measurement, enforcement: enforcement, status: status, started: options.Clock.Now(), instance: rand.Text()[:8],
		containers: qos.NewContainers(enforcement.tree, enforcement.layout),
	}
}

// Explain implements diagnostics.Explainer.
func (e *explainer) Explain(_ context.Context, node string, question *diagnosticsv1alpha1.AgentQuestion) (diagnosticsv1alpha1.AgentExplanation, error) {
	object := e.cluster.Node()
	if node != e.options.NodeName {
		return diagnosticsv1alpha1.AgentExplanation{}, diagnostics.UnknownNode(node)
	}
	layout := e.enforcement.layout
	out := diagnosticsv1alpha1.AgentExplanation{
		Component: agentview.ByAgent, Instance: e.instance, StartedAt: new(metav1.NewTime(e.started)), ReadOnly: e.options.ReadOnly,
		Cgroups: fmt.Sprintf("v%d, %s", layout.Version, layout.Driver),
	}
	if agentview.Asked(question, diagnosticsv1alpha1.SectionAudit) {
		out.Audit = diagnostics.AuditPage(e.enforcement.audit, e.instance, question.Audit)
	}
	if agentview.Asked(question, diagnosticsv1alpha1.SectionUsage) {
		out.Usage = e.measurement.pastUsage()
	}
	if coded, damaged := finding.From(e.enforcement.executor.StoreErr()); damaged {
		out.Incomplete = append(out.Incomplete, fmt.Sprintf("%s: koordlet sets nothing: %v", coded.Code, coded))
	} else if err := e.status.ready(); err != nil {
		out.Incomplete = append(out.Incomplete, fmt.Sprintf("%s: koordlet cannot limit best-effort pods: %v", finding.AgentNotEnforcing, err))
	}
	if object == nil || !e.cluster.Known() {
		out.Incomplete = append(out.Incomplete, "koordlet has not read the node's objects yet and sets nothing until then")
		return out, nil
	}
	view := e.view(object)
	if at := view.Observation.At; !at.IsZero() {
		out.ObservedAt = new(metav1.NewTime(at))
	}
	e.answer(question, view, &out)
	return out, nil
}

// answer fills in the sections that a question wants.
func (e *explainer) answer(question *diagnosticsv1alpha1.AgentQuestion, view *agentview.Node, out *diagnosticsv1alpha1.AgentExplanation) {
	in := e.enforcement.round.suppressionInput()
	if e.options.ReadOnly {
		in = view.SuppressionInput() // what would be done, because nothing is
	}
	decided := suppression.Decide(in, nil)
	root := e.enforcement.layout.QoS(corev1.PodQOSBestEffort)
	if agentview.Asked(question, diagnosticsv1alpha1.SectionSuppression) {
		out.Suppression = agentview.Suppression(in)
		e.readBack(root, out.Suppression)
	}
	if agentview.Asked(question, diagnosticsv1alpha1.SectionCPUs) {
		cpus, missing := view.CPUs(decided.CPUs.List)
		if out.CPUs = cpus; missing != "" {
			out.Incomplete = append(out.Incomplete, missing)
		}
	}
	evictions, features := agentview.Asked(question, diagnosticsv1alpha1.SectionEvictions), agentview.Asked(question, diagnosticsv1alpha1.SectionFeatures)
	if evictions || features {
		forecast := e.forecast(view, decided, agentview.Candidates(question))
		if evictions {
			out.Evictions = forecast
		}
		if features {
			out.Features = e.features(root, view, forecast)
		}
	}
	if agentview.Asked(question, diagnosticsv1alpha1.SectionContainers) {
		out.Agents = e.agents(view.SLO, view.Now, agentview.Candidates(question))
	}
	if agentview.Asked(question, diagnosticsv1alpha1.SectionPods) {
		e.pods(question, out)
	}
}

// view is the node by the objects of the cluster and by measurements.
func (e *explainer) view(object *corev1.Node) *agentview.Node {
	view := &agentview.Node{
		Now: e.options.Clock.Now(), Object: object, Topology: e.cluster.Topology(), Samples: e.measurement.samples(trendOver), On: e.options.evicting(),
		PodUsed: func(pod *corev1.Pod) (podrequest.Amount, bool) { return e.measurement.podUsed(pod.UID) },
	}
	if slo := e.cluster.SLO(); slo != nil {
		view.SLO = &slo.Spec
	}
	for _, pod := range e.cluster.Pods() {
		view.Pods = append(view.Pods, pod.Object)
	}
	if at, used, measured := e.measurement.used(); measured {
		view.Observation, view.Used = freshness.Observation{At: at, Period: e.options.SamplePeriod}, used
	}
	return view
}

// forecast asks the decision with what it was made of last, or with what it would be.
func (e *explainer) forecast(view *agentview.Node, decided suppression.Decision, most int) *diagnosticsv1alpha1.EvictionForecast {
	in, any := e.enforcement.evictor.Input()
	if !any {
		in = view.EvictionInput(decided)
	}
	return agentview.Evictions(in, view.Samples, most)
}

// readBack says what is in force for best-effort pods.
func (e *explainer) readBack(root string, out *diagnosticsv1alpha1.SuppressionExplanation) {
	if cpus, found := e.read(cgroup.CPUSet, root); found {
		out.EffectiveCPUs = cpus
	}
	if text, found := e.read(cgroup.CPUQuota, root); found {
		if quota, err := strconv.ParseInt(text, 10, 64); err == nil {
			out.EffectiveQuotaMicroseconds = &quota
		}
	}
}

// read a setting of a cgroup; false when there is none to be had.
func (e *explainer) read(setting cgroup.Setting, at string) (string, bool) {
	layout := e.enforcement.layout
	path, has := layout.Path(setting, at)
	if !has {
		return "", false
	}
	content, err := e.enforcement.tree.Read(path, nil)
	if err != nil {
		return "", false
	}
	value, err := setting.Decode(layout.Version, string(content))
	return value, err == nil
}

func (e *explainer) features(root string, view *agentview.Node, forecast *diagnosticsv1alpha1.EvictionForecast) []diagnosticsv1alpha1.AgentFeature {
	failures, problems := e.failures(), qos.Problems(e.enforcement.snapshot(e.cluster, e.measurement))
	statuses, on := map[string]diagnostics.FeatureStatus{}, map[string]bool{}
	specs := featureSpecs()
	for i := range specs {
		name := specs[i].Name
		on[name] = e.options.isOn(&specs[i].Spec)
		status := e.statusOf(name, on[name])
		status.Problems = slices.Concat(status.Problems, problems[name])
		statuses[name] = status
	}
	out := diagnostics.CgroupFeatures(diagnostics.FeatureInput{
		Owners: owners(), On: func(name string) bool { return on[name] }, SLO: view.SLO, Targets: e.enforcement.executor.Targets(), Failures: failures,
		Supports: diagnostics.Supports(e.enforcement.tree, e.enforcement.layout, root), Statuses: statuses,
		Kernel: func(name string) ([]cgroup.Setting, bool) { spec := specOf(name); return spec.Kernel, spec.EveryKernel },
	})
	for i := range specs {
		switch name := specs[i].Name; specs[i].Kind {
		case nodefeature.Eviction:
			out = append(out, diagnostics.EvictionFeature(name, on[name], view.SLO, forecast.Triggers, failures))
		case nodefeature.Other:
			out = append(out, diagnostics.OtherFeature(name, on[name], view.SLO, statuses[name], failures))
		}
	}
	return out
}

// failures are the latest of all features: some set cgroup values and something beside them.
func (e *explainer) failures() map[string]diagnostics.Failure {
	out := e.enforcement.round.latestFailures()
	for name, failure := range e.enforcement.results.latestFailures() {
		if before, failed := out[name]; !failed || failure.At.After(before.At) {
			out[name] = failure
		}
	}
	return out
}

// pods lists what is set for the pods.
func (e *explainer) pods(question *diagnosticsv1alpha1.AgentQuestion, out *diagnosticsv1alpha1.AgentExplanation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.options.Clock.Now()
	var places []diagnostics.Place
	for _, pod := range e.cluster.Pods() {
		if diagnostics.AskedPod(question, pod.Object.Namespace, pod.Object.Name) {
			places = append(places, diagnostics.PlaceOf(e.enforcement.layout, pod, e.containers.Of(pod, now)))
		}
	}
	e.containers.Forget(now.Add(-forgetInterval))
	out.Pods = diagnostics.Pods(e.enforcement.executor, places)
	if len(places) == 0 && question.PodName != "" {
		out.Incomplete = append(out.Incomplete, diagnostics.UnknownPod(question))
	}
}

// pastUsage is what the node used in the past.
func (m *measurement) pastUsage() *diagnosticsv1alpha1.UsageHistory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return diagnostics.UsageHistory(&m.past, func(at time.Time) time.Time { return at }, 1)
}

// used by the node at the latest reading, and when that was.
func (m *measurement) used() (time.Time, podrequest.Amount, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	usage, measured := m.metrics.LatestUsage(m.last.Time)
	return m.last.Time, usage.Amount(), measured && !m.last.Time.IsZero()
}

// podUsed by a pod at the latest reading.
func (m *measurement) podUsed(uid types.UID) (podrequest.Amount, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	usage, measured := m.metrics.LatestPodUsage(uid, m.last.Time)
	return usage.Amount(), measured
}

// samples of what the node used.
func (m *measurement) samples(over time.Duration) []agentview.Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []agentview.Sample
	for _, sample := range m.metrics.Samples(m.last.Time, over) {
		out = append(out, agentview.Sample{At: sample.At, Used: sample.Usage.Amount()})
	}
	return out
}
