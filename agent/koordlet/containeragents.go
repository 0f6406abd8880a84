package koordlet

import (
	"time"

	"koordinator.sh/koord/agent/diagnostics"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// agents are those of schedulers outside of Kubernetes, with their containers.
func (e *explainer) agents(slo *slov1alpha1.NodeSLOSpec, now time.Time, most int) []diagnosticsv1alpha1.ContainerAgent {
	in := agentview.AgentsInput{
		Now: now, Containers: e.enforcement.copilots.Containers(), Evicting: e.enforcement.evictor.Plan(), CgroupOf: e.enforcement.layout.HostApplication, Most: most,
	}
	if slo != nil {
		in.Applications = slo.HostApplications
	}
	for _, status := range e.enforcement.copilots.Agents() {
		shown := agentview.ContainerAgent{
			Name: status.Name, Socket: status.Socket, ListedAt: status.At, Stale: status.Stale(now), Refused: status.Refused, Parents: status.Parents,
		}
		if status.Err != nil {
			shown.Problem = status.Err.Error()
		}
		if status.RefusedWhy != nil {
			shown.RefusedWhy = status.RefusedWhy.Error()
		}
		in.Agents = append(in.Agents, shown)
	}
	return agentview.Agents(&in)
}

const (
	agentUpMetric         = "container_agent_up"
	agentContainersMetric = "container_agent_containers"
)

// agentMetricsDescribed are the metrics of agents of other schedulers.
func agentMetricsDescribed() []diagnostics.Metric {
	return []diagnostics.Metric{
		{Name: agentUpMetric, Help: "1 if the agent of another scheduler answered last, 0 if not, by socket.", Labels: []string{"node", "socket"}},
		{Name: agentContainersMetric, Help: "Containers that the agent of another scheduler has on the node.", Labels: []string{"node", "agent"}},
	}
}

// agentMetrics are those of the agents that are configured.
func (e *explainer) agentMetrics() []diagnostics.Sample {
	var out []diagnostics.Sample
	counts := map[string]float64{}
	for _, container := range e.enforcement.copilots.Containers() {
		counts[container.Agent]++
	}
	for _, status := range e.enforcement.copilots.Agents() {
		up := 0.0
		if status.Err == nil && !status.At.IsZero() {
			up = 1
		}
		out = append(out, diagnostics.Sample{Metric: agentUpMetric, Value: up, Labels: []string{status.Socket}})
		if status.Name != "" {
			out = append(out, diagnostics.Sample{Metric: agentContainersMetric, Value: counts[status.Name], Labels: []string{status.Name}})
		}
	}
	return out
}
