package diagnostics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"koordinator.sh/koord/decision/core/podrequest"
)

func TestFiguresOfContainersBecomeMetrics(t *testing.T) {
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{Node: "n", Containers: []ContainerMetrics{{
			Namespace: "shop", Pod: "etl", UID: "u", Name: "main", ID: "containerd://c", OOMScore: new(int64(-500)),
			Requests: []ResourceMetrics{{"kubernetes.io/batch-cpu", 1500}, {"kubernetes.io/batch-memory", 1024}}, Limits: []ResourceMetrics{{"kubernetes.io/mid-cpu", 10}},
			Pressure: []PressureMetrics{{"io", "full", 3, 10}},
		}, {Namespace: "shop", Pod: "web", UID: "v", Name: "main", ID: "containerd://d"}}}
	})
	want := `
# HELP koordlet_container_oom_score_adj oom_score_adj that is set for the processes of a container.
# TYPE koordlet_container_oom_score_adj gauge
koordlet_container_oom_score_adj{container_name="main",node="n",pod_name="etl",pod_namespace="shop",pod_uid="u"} -500
# HELP koordlet_container_psi Percentage of time in which tasks of a container waited, by resource and window.
# TYPE koordlet_container_psi gauge
koordlet_container_psi{container_id="containerd://c",container_name="main",node="n",pod_name="etl",pod_namespace="shop",pod_uid="u",psi_degree="full",psi_precision="avg10",psi_resource_type="io"} 3
# HELP koordlet_container_resource_limits Limits of a container on batch and mid resources, CPU in thousandths of a core.
# TYPE koordlet_container_resource_limits gauge
koordlet_container_resource_limits{container_id="containerd://c",container_name="main",node="n",pod_name="etl",pod_namespace="shop",pod_uid="u",resource="kubernetes.io/mid-cpu",unit="integer"} 10
# HELP koordlet_container_resource_requests Requests of a container for batch and mid resources, CPU in thousandths of a core.
# TYPE koordlet_container_resource_requests gauge
koordlet_container_resource_requests{container_id="containerd://c",container_name="main",node="n",pod_name="etl",pod_namespace="shop",pod_uid="u",resource="kubernetes.io/batch-cpu",unit="integer"} 1500
koordlet_container_resource_requests{container_id="containerd://c",container_name="main",node="n",pod_name="etl",pod_namespace="shop",pod_uid="u",resource="kubernetes.io/batch-memory",unit="byte"} 1024
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_container_oom_score_adj", "koordlet_container_psi",
		"koordlet_container_resource_limits", "koordlet_container_resource_requests"); err != nil {
		t.Error(err)
	}
}

func TestFiguresOfTheNodeBecomeMetrics(t *testing.T) {
	amount := podrequest.Amount{MilliCPU: 1500, Memory: 1024}
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{
			Node: "n", Average: &amount, ProdReclaimable: &amount, NUMANodes: []NUMAMetrics{{ID: 1, Node: amount, System: podrequest.Amount{MilliCPU: 500}}},
			Applications: []ApplicationMetrics{{Name: "nginx", Priority: "koord-prod", QoS: "LS", Used: amount}}, TopologyReads: map[bool]int{true: 3},
			Evicted:     []EvictedMetrics{{"shop", "etl", "full"}, {"shop", "etl", "full"}, {"shop", "web", "full"}},
			Allocatable: map[string]float64{"cpu": 4, "memory": 8, "pods": 110, "kubernetes.io/batch-cpu": 1500, "hugepages-2Mi": 2},
		}
	})
	want := `
# HELP koordlet_collect_node_cpu_info_status Number of reads of the node's CPU topology, by status.
# TYPE koordlet_collect_node_cpu_info_status counter
koordlet_collect_node_cpu_info_status{node="n",status="succeeded"} 3
# HELP koordlet_host_application_resource_usage Usage of a host application outside Kubernetes, in cores and bytes.
# TYPE koordlet_host_application_resource_usage gauge
koordlet_host_application_resource_usage{host_application_name="nginx",node="n",priority_class="koord-prod",qos="LS",resource="cpu"} 1.5
koordlet_host_application_resource_usage{host_application_name="nginx",node="n",priority_class="koord-prod",qos="LS",resource="memory"} 1024
# HELP koordlet_node_metric_node_usage Average usage of the node, as in the NodeMetric.
# TYPE koordlet_node_metric_node_usage gauge
koordlet_node_metric_node_usage{node="n",resource="cpu",unit="core"} 1.5
koordlet_node_metric_node_usage{node="n",resource="memory",unit="byte"} 1024
# HELP koordlet_node_metric_numa_system_usage Average usage of a NUMA node outside of pods, as in the NodeMetric.
# TYPE koordlet_node_metric_numa_system_usage gauge
koordlet_node_metric_numa_system_usage{node="n",numa_node_id="1",resource="cpu",unit="core"} 0.5
koordlet_node_metric_numa_system_usage{node="n",numa_node_id="1",resource="memory",unit="byte"} 0
# HELP koordlet_node_priority_resource_reclaimable Predicted reclaimable resources by priority, as in the NodeMetric.
# TYPE koordlet_node_priority_resource_reclaimable gauge
koordlet_node_priority_resource_reclaimable{node="n",priority="koord-prod",resource="cpu",unit="core"} 1.5
koordlet_node_priority_resource_reclaimable{node="n",priority="koord-prod",resource="memory",unit="byte"} 1024
# HELP koordlet_node_resource_allocatable Allocatable resources of the node.
# TYPE koordlet_node_resource_allocatable gauge
koordlet_node_resource_allocatable{node="n",resource="cpu",unit="core"} 4
koordlet_node_resource_allocatable{node="n",resource="hugepages-2Mi",unit="byte"} 2
koordlet_node_resource_allocatable{node="n",resource="kubernetes.io/batch-cpu",unit="integer"} 1500
koordlet_node_resource_allocatable{node="n",resource="memory",unit="byte"} 8
koordlet_node_resource_allocatable{node="n",resource="pods",unit="integer"} 110
# HELP koordlet_pod_eviction_detail Latest hundred evictions, by pod and reason.
# TYPE koordlet_pod_eviction_detail gauge
koordlet_pod_eviction_detail{node="n",pod_name="etl",pod_namespace="shop",reason="full"} 2
koordlet_pod_eviction_detail{node="n",pod_name="web",pod_namespace="shop",reason="full"} 1
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_collect_node_cpu_info_status", "koordlet_host_application_resource_usage",
		"koordlet_node_metric_node_usage", "koordlet_node_metric_numa_system_usage", "koordlet_node_priority_resource_reclaimable",
		"koordlet_node_resource_allocatable", "koordlet_pod_eviction_detail"); err != nil {
		t.Error(err)
	}
}
