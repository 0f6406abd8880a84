package koordlet

import (
	"context"
	"errors"
	"time"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/kubelet"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// topologyInterval is how often the topology is compared with what the machine and the pods are.
const topologyInterval = 3 * time.Second

// topologies keeps the NodeResourceTopology.
type topologies struct {
	options *Options
	writer  *report.TopologyWriter
	cluster *state.State
	host    host.Host
	// port that is announced; nil when there is none.
	port *port
	// bound are the pods to which kubelet gave CPUs, as read last.
	bound []kubelet.Pod
	// errors is what the topology lacked last.
	errors errorLog
}

func newTopologies(options *Options, clients *connection.Clients, cluster *state.State, host host.Host, port *port) *topologies {
	return &topologies{options: options, writer: report.NewTopologyWriter(clients.TopologyWrites), cluster: cluster, host: host, port: port}
}

func (t *topologies) run(ctx context.Context) {
	ticker := t.options.Clock.NewTicker(topologyInterval)
	defer ticker.Stop()
	for {
		if t.cluster.Known() && t.cluster.TopologyKnown() {
			t.errors.Report(ctx, t.write(ctx), t.options.Clock.Now(), "NodeResourceTopology is incomplete, will retry")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// write brings the object up to date; it writes nothing while nothing differs.
func (t *topologies) write(ctx context.Context) error {
	node := t.cluster.Node()
	if node == nil {
		return nil
	}
	machine, err := t.host.Topology(ctx)
	if err != nil {
		return err
	}
	in := report.TopologyInput{
		Node: report.TopologyNodeOf(node), Machine: machine, HugePages: t.options.isOn(&nodefeature.HugePageReport),
	}
	var kubeletErr error
	in.Kubelet, kubeletErr = t.kubelet()
	for _, pod := range t.cluster.Pods() {
		if !pod.Owned.IsEmpty() {
			in.Pods = append(in.Pods, report.BoundPod{QoS: pod.Requests.QoS, CPUs: pod.Owned})
		}
	}
	wanted, problem := report.Topology(in)
	problem = errors.Join(kubeletErr, problem)
	if wanted == nil {
		return problem
	}
	if err := extension.SetAgentServing(wanted, t.port.announce()); err != nil {
		return err
	}
	if _, err := t.writer.Write(ctx, t.cluster.Topology(), wanted); err != nil {
		return err
	}
	return problem
}
