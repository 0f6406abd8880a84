package yarn

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// nodeLabels are those of upstream's operator: the host of a NodeManager, and its cluster.
var nodeLabels = []string{"instance", "cluster"}

var (
	nodeCPU = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "yarn_node_cpu_resource", Help: "vcores that YARN may allocate on a node.",
	}, nodeLabels)
	nodeMemory = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "yarn_node_memory_resource", Help: "Memory in MiB that YARN may allocate on a node.",
	}, nodeLabels)
	nodeCPUAllocated = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "yarn_node_cpu_allocated_resource", Help: "vcores that YARN has allocated on a node.",
	}, nodeLabels)
	nodeMemoryAllocated = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "yarn_node_memory_allocated_resource", Help: "Memory in MiB that YARN has allocated on a node.",
	}, nodeLabels)
)

func init() {
	metrics.Registry.MustRegister(nodeCPU, nodeMemory, nodeCPUAllocated, nodeMemoryAllocated)
}

// measure sets the metrics of the nodes of a cluster, and drops those of hosts that were there before and are gone. It returns the hosts.
func measure(cluster string, nodes []Node, before map[string]bool) map[string]bool {
	hosts := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		hosts[node.ID.Host] = true
		nodeCPU.WithLabelValues(node.ID.Host, cluster).Set(float64(node.Capability.VCores))
		nodeMemory.WithLabelValues(node.ID.Host, cluster).Set(float64(node.Capability.MiB))
		nodeCPUAllocated.WithLabelValues(node.ID.Host, cluster).Set(float64(node.Used.VCores))
		nodeMemoryAllocated.WithLabelValues(node.ID.Host, cluster).Set(float64(node.Used.MiB))
	}
	for host := range before {
		if hosts[host] {
			continue
		}
		for _, gauge := range []*prometheus.GaugeVec{nodeCPU, nodeMemory, nodeCPUAllocated, nodeMemoryAllocated} {
			gauge.DeleteLabelValues(host, cluster)
		}
	}
	return hosts
}
