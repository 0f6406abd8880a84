package koordlet

import (
	"context"
	"errors"
	"maps"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/serving"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// port is the agent's secured one.
type port struct {
	server    *serving.Server
	explainer *explainer
	handlers  diagnostics.Options
}

// listen opens the port; nil when the options have none.
func listen(ctx context.Context, options *Options, cluster *state.State, measurement *measurement, enforcement *enforcement, status *enforcingStatus) (*port, error) {
	if options.Serving.SecurePort == 0 {
		return nil, nil
	}
	asked := *options.Serving
	asked.Directory, asked.Name, asked.RESTConfig, asked.Clock = options.StateDirectory, options.NodeName, options.RESTConfig, options.Clock
	server, err := serving.Listen(ctx, asked)
	if err != nil {
		return nil, err
	}
	explainer := newExplainer(options, cluster, measurement, enforcement, status)
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		diagnostics.NewCollector(explainer.nodeMetrics, describedMetrics()...), enforcement.writeDurations.histogram, enforcement.hookDurations.histogram, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return &port{server: server, explainer: explainer, handlers: diagnostics.Options{
		Explainer: explainer, Audit: enforcement.audit, Instance: explainer.instance, Metrics: registry,
		Ready: []diagnostics.Check{{Name: "objects", Check: func() error {
			if !cluster.Known() {
				return errors.New("the node's objects have not been read yet")
			}
			return nil
		}}, {Name: "enforcement", Check: status.ready}},
	}}, nil
}

// run serves until the context ends. An agent whose port breaks goes on without it.
func (p *port) run(ctx context.Context) {
	if p == nil {
		return
	}
	if err := p.server.Run(ctx, diagnostics.Open(p.handlers), diagnostics.Secured(p.handlers)); err != nil {
		klog.FromContext(ctx).Error(err, "Secure port stopped serving")
	}
}

// announce is where the agent answers; nil when it does not.
func (p *port) announce() *extension.AgentServing {
	if p == nil {
		return nil
	}
	return &extension.AgentServing{Port: p.server.Port(), CertificateSHA256: p.server.Fingerprint()}
}

// nodeMetrics for metrics.
func (e *explainer) nodeMetrics() diagnostics.NodeMetrics {
	out := diagnostics.NodeMetrics{Node: e.options.NodeName, Started: e.started, Evictions: map[string]int{}, AuditEntries: e.enforcement.audit.Last()}
	out.Writes, out.OriginalsKept = e.enforcement.executor.WriteCounts(), new(e.enforcement.executor.StoreErr() == nil)
	if verdict := e.status.verdict(); verdict.Reason != "" {
		out.Enforcing, out.EnforcingReason = new(verdict.Enforcing), verdict.Reason
	}
	if _, used, measured := e.measurement.used(); measured {
		out.Used = &used
	}
	e.measurement.predictions(&out)
	for feature, count := range e.enforcement.evictor.Counts() {
		out.Evictions[eviction.ReasonPrefix+string(feature)] = count
	}
	if decided := e.enforcement.round.suppressionDecision(); decided.Enabled && decided.Budget != nil {
		out.Budget, out.Policy, out.BestEffortUsed = &decided.Budget.Milli, string(decided.Policy), &decided.Budget.BestEffortUsed
		out.AboveUsed = &decided.Budget.AboveUsed
	}
	out.Wanted, out.InForce = map[string]int32{}, map[string]int32{}
	for _, target := range e.enforcement.executor.Targets() {
		out.Wanted[target.Owner]++
		if target.InForce() {
			out.InForce[target.Owner]++
		}
	}
	for _, evicted := range e.enforcement.evictor.Evicted() {
		out.Evicted = append(out.Evicted, diagnostics.EvictedMetrics{
			Namespace: evicted.Namespace, Pod: evicted.Name, Reason: eviction.ReasonPrefix + string(evicted.Feature),
		})
	}
	e.describe(&out)
	out.Features, out.Containers, out.Pods, out.Pressure = e.featureMetrics(), e.containerMetrics(), e.podMetrics(), e.measurement.nodePressure()
	return out
}

// describe adds what the objects of the node say.
func (e *explainer) describe(out *diagnostics.NodeMetrics) {
	if topology := e.cluster.Topology(); topology != nil {
		out.Shared = diagnostics.Pools(topology.Annotations, extension.GetCPUSharedPools)
		out.BestEffort = diagnostics.Pools(topology.Annotations, extension.GetBECPUSharedPools)
	}
	if node := e.cluster.Node(); node != nil {
		out.Allocatable = map[string]float64{}
		for name, quantity := range node.Status.Allocatable {
			out.Allocatable[string(name)] = quantity.AsApproximateFloat64()
		}
	}
}

// average says what is used on average, and by applications. The lock is held.
func (m *measurement) average(out *diagnostics.NodeMetrics) {
	at := m.last.Time
	if node, measured := m.metrics.Usage(at); measured {
		out.Average = new(node.Amount())
	}
	if system, measured := m.metrics.SystemUsage(at); measured {
		out.System = new(system.Amount())
	}
	for _, numa := range m.metrics.NUMAUsages(at) {
		out.NUMANodes = append(out.NUMANodes, diagnostics.NUMAMetrics{ID: numa.ID, Node: numa.Node.Amount(), System: numa.System.Amount()})
	}
	for _, application := range m.applications() {
		if used, measured := m.metrics.LatestApplicationUsage(application.Name, at); measured {
			out.Applications = append(out.Applications, diagnostics.ApplicationMetrics{
				Name: application.Name, Priority: string(application.Priority), QoS: string(application.QoS), Used: used.Amount(),
			})
		}
	}
	out.TopologyReads = maps.Clone(m.topologyReads)
}

// predictions says what is used on average, and what is predicted.
func (m *measurement) predictions(out *diagnostics.NodeMetrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Time.IsZero() {
		return
	}
	m.average(out)
	node := m.cluster.Node()
	if node == nil {
		return
	}
	estimate := m.predictor.Estimate(m.last.Time, m.predicted(), capacity.Of(node).Raw)
	reported := estimate
	if other, known := m.history.estimate(); known {
		reported = other
	}
	out.ProdReclaimable = &reported.Reclaimable
	out.Reclaimable = map[string]podrequest.Amount{
		"podPredictor": estimate.ByPod.Reclaimable, "priorityPredictor": estimate.ByClass.Reclaimable, "minPredictor": estimate.Reclaimable,
	}
	out.Peak = map[string]podrequest.Amount{"podPredictor": estimate.ByPod.Peak, "priorityPredictor": estimate.ByClass.Peak, "maxPredictor": estimate.Peak}
}
