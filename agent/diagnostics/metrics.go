package diagnostics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

// collector makes Prometheus metrics of NodeMetrics at each scrape.
type collector struct {
	collect func() NodeMetrics
	descs   map[string]*prometheus.Desc
	// counters are the metrics of features that only grow.
	counters map[string]bool
}

// description of a metric.
type description struct {
	help   string
	labels []string
}

// metric names and labels, all in namespace koordlet.
var described = map[string]description{
	"start_time":                          {"Start time of the agent in seconds since the Unix epoch.", []string{"node"}},
	"node_used_cpu_cores":                 {"CPU usage of the node in cores.", []string{"node"}},
	"node_used_memory_bytes":              {"Memory usage of the node in bytes.", []string{"node"}},
	"node_metric_system_usage":            {"Usage of the node outside of pods, averaged as in the NodeMetric.", []string{"node", "resource", "unit"}},
	"be_suppress_cpu_cores":               {"CPU limit of all best-effort pods together in cores, by type of limit.", []string{"node", "type"}},
	"be_suppress_ls_used_cpu_cores":       {"CPU usage of all pods above best effort in cores.", []string{"node"}},
	"be_suppress_be_used_cpu_cores":       {"CPU usage of all best-effort pods in cores.", []string{"node"}},
	"cpuset_share_pool_cpu_cores":         {"Number of CPUs in the shared pool of services.", []string{"node", "numa_node"}},
	"cpuset_be_share_pool_cpu_cores":      {"Number of CPUs in the shared pool of best-effort pods.", []string{"node", "numa_node"}},
	"cpuset_share_pool_info":              {"Shared pool of services as a list of CPUs; always 1.", []string{"node", "numa_node", "cpuset"}},
	"cpuset_be_share_pool_info":           {"Shared pool of best-effort pods as a list of CPUs; always 1.", []string{"node", "numa_node", "cpuset"}},
	"pod_eviction":                        {"Number of evicted pods, by reason.", []string{"node", "reason"}},
	"node_predicted_resource_reclaimable": {"Predicted reclaimable resources of prod pods, by predictor.", []string{"node", "predictor", "resource", "unit"}},
	"node_priority_resource_reclaimable":  {"Predicted reclaimable resources by priority, as in the NodeMetric.", []string{"node", "priority", "resource", "unit"}},
	"node_predicted_resource_peak":        {"Predicted peak usage, by predictor.", []string{"node", "predictor", "resource", "unit"}},
	"node_resource_allocatable":           {"Allocatable resources of the node.", []string{"node", "resource", "unit"}},
	"node_metric_node_usage":              {"Average usage of the node, as in the NodeMetric.", []string{"node", "resource", "unit"}},
	"node_metric_numa_node_usage":         {"Average usage of a NUMA node, as in the NodeMetric.", []string{"node", "numa_node_id", "resource", "unit"}},
	"node_metric_numa_system_usage":       {"Average usage of a NUMA node outside of pods, as in the NodeMetric.", []string{"node", "numa_node_id", "resource", "unit"}},
	"host_application_resource_usage":     {"Usage of a host application outside Kubernetes, in cores and bytes.", []string{"node", "host_application_name", "priority_class", "qos", "resource"}},
	"pod_eviction_detail":                 {"Latest hundred evictions, by pod and reason.", []string{"node", "pod_namespace", "pod_name", "reason"}},
	"collect_node_cpu_info_status":        {"Number of reads of the node's CPU topology, by status.", []string{"node", "status"}},
	"feature_values_wanted":               {"Number of cgroup values that a feature sets.", []string{"node", "feature"}},
	"feature_values_in_force":             {"Number of cgroup values that a feature sets and that are in effect.", []string{"node", "feature"}},
	"feature_writes_total":                {"Number of writes of cgroup values by a feature, by result: done, refused by the kernel, or vanished because the cgroup was gone.", []string{"node", "feature", "result"}},
	"originals_kept":                      {"1 if original values can be saved in the state directory, 0 if they cannot, in which case nothing else is written.", []string{"node"}},
	"enforcing":                           {"1 if the agent can limit best-effort pods, 0 if it cannot, by reason.", []string{"node", "reason"}},
	"audit_entries_total":                 {"Number of entries added to the audit log.", []string{"node"}},
}

// NewCollector returns a collector of the agent's metrics, with those of its features. collect is called at each scrape.
func NewCollector(collect func() NodeMetrics, features ...Metric) prometheus.Collector {
	c := &collector{collect: collect, descs: map[string]*prometheus.Desc{}, counters: map[string]bool{}}
	for _, metrics := range []map[string]description{described, describedContainers, describedPods} {
		for name, is := range metrics {
			c.descs[name] = prometheus.NewDesc("koordlet_"+name, is.help, is.labels, nil)
		}
	}
	for _, metric := range features {
		c.descs[metric.Name] = prometheus.NewDesc("koordlet_"+metric.Name, metric.Help, metric.Labels, nil)
		c.counters[metric.Name] = metric.Counter
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	f := c.collect()
	s := scrape{collector: c, to: to, node: f.Node}
	s.gauge("start_time", float64(f.Started.Unix()))
	s.counter("audit_entries_total", float64(f.AuditEntries))
	s.usage(&f)
	s.suppression(&f)
	s.pools("cpuset_share_pool", f.Shared)
	s.pools("cpuset_be_share_pool", f.BestEffort)
	s.evictions(&f)
	for predictor, amount := range f.Reclaimable {
		s.amount("node_predicted_resource_reclaimable", amount, predictor)
	}
	for predictor, amount := range f.Peak {
		s.amount("node_predicted_resource_peak", amount, predictor)
	}
	if f.ProdReclaimable != nil {
		s.amount("node_priority_resource_reclaimable", *f.ProdReclaimable, string(extension.PriorityProd))
	}
	for resource, value := range f.Allocatable {
		s.gauge("node_resource_allocatable", value, resource, unitOf(resource))
	}
	for told, count := range f.TopologyReads {
		s.counter("collect_node_cpu_info_status", float64(count), map[bool]string{true: "succeeded", false: "failed"}[told])
	}
	s.writes(&f)
	s.features(f.Features)
	s.containers(f.Containers)
	s.pods(f.Pods)
	s.nodePressure(f.Pressure)
}

// scrape is one Collect.
type scrape struct {
	*collector
	to   chan<- prometheus.Metric
	node string
}

func (s *scrape) gauge(name string, value float64, labels ...string) {
	s.emit(name, prometheus.GaugeValue, value, labels)
}

func (s *scrape) counter(name string, value float64, labels ...string) {
	s.emit(name, prometheus.CounterValue, value, labels)
}

// emit sends one metric. Names that others gave, as of directories, may be no text.
func (s *scrape) emit(name string, kind prometheus.ValueType, value float64, labels []string) {
	values := make([]string, 1, len(labels)+1)
	values[0] = s.node
	for _, label := range labels {
		values = append(values, strings.ToValidUTF8(label, "\uFFFD"))
	}
	s.to <- prometheus.MustNewConstMetric(s.descs[name], kind, value, values...)
}

// amount of CPU and memory; further labels come before those.
func (s *scrape) amount(name string, amount podrequest.Amount, labels ...string) {
	s.gauge(name, cores(amount.MilliCPU), append(append([]string{}, labels...), "cpu", "core")...)
	s.gauge(name, float64(amount.Memory), append(append([]string{}, labels...), "memory", "byte")...)
}

// usage of the node and what it is divided into.
func (s *scrape) usage(f *NodeMetrics) {
	if f.Used != nil {
		s.gauge("node_used_cpu_cores", cores(f.Used.MilliCPU))
		s.gauge("node_used_memory_bytes", float64(f.Used.Memory))
	}
	if f.Average != nil {
		s.amount("node_metric_node_usage", *f.Average)
	}
	if f.System != nil {
		s.amount("node_metric_system_usage", *f.System)
	}
	for _, numa := range f.NUMANodes {
		id := strconv.Itoa(int(numa.ID))
		s.amount("node_metric_numa_node_usage", numa.Node, id)
		s.amount("node_metric_numa_system_usage", numa.System, id)
	}
	for _, application := range f.Applications {
		labels := []string{application.Name, application.Priority, application.QoS}
		s.gauge("host_application_resource_usage", cores(application.Used.MilliCPU), append(labels, "cpu")...)
		s.gauge("host_application_resource_usage", float64(application.Used.Memory), append(labels, "memory")...)
	}
}

// evictions by reason, and of the latest the pods.
func (s *scrape) evictions(f *NodeMetrics) {
	for reason, count := range f.Evictions {
		s.counter("pod_eviction", float64(count), reason)
	}
	pods := map[EvictedMetrics]int{}
	for _, pod := range f.Evicted {
		pods[pod]++
	}
	for pod, count := range pods {
		s.gauge("pod_eviction_detail", float64(count), pod.Namespace, pod.Pod, pod.Reason)
	}
}

// writes of values of cgroups.
func (s *scrape) writes(f *NodeMetrics) {
	for feature, tally := range f.Writes {
		s.counter("feature_writes_total", float64(tally.Writes), feature, "done")
		s.counter("feature_writes_total", float64(tally.Refused), feature, "refused")
		s.counter("feature_writes_total", float64(tally.Vanished), feature, "vanished")
	}
	if f.OriginalsKept != nil {
		kept := 0.0
		if *f.OriginalsKept {
			kept = 1
		}
		s.gauge("originals_kept", kept)
	}
	if f.Enforcing != nil {
		enforcing := 0.0
		if *f.Enforcing {
			enforcing = 1
		}
		s.gauge("enforcing", enforcing, f.EnforcingReason)
	}
	for feature, count := range f.Wanted {
		s.gauge("feature_values_wanted", float64(count), feature)
		s.gauge("feature_values_in_force", float64(f.InForce[feature]), feature)
	}
}

func (s *scrape) suppression(f *NodeMetrics) {
	if f.Budget != nil {
		s.gauge("be_suppress_cpu_cores", cores(*f.Budget), f.Policy)
	}
	if f.AboveUsed != nil {
		s.gauge("be_suppress_ls_used_cpu_cores", cores(*f.AboveUsed))
	}
	if f.BestEffortUsed != nil {
		s.gauge("be_suppress_be_used_cpu_cores", cores(*f.BestEffortUsed))
	}
}

func (s *scrape) pools(name string, pools []Pool) {
	for _, pool := range pools {
		s.gauge(name+"_cpu_cores", float64(pool.Count), pool.NUMANode)
		s.gauge(name+"_info", 1, pool.NUMANode, pool.CPUs)
	}
}

// unitOf a resource of a node, as Koordinator names units: batch and mid CPU are counted in thousandths.
func unitOf(resource string) string {
	switch {
	case resource == "cpu":
		return "core"
	case resource == "memory" || resource == "ephemeral-storage" || strings.HasSuffix(resource, "-memory") || strings.HasPrefix(resource, "hugepages-"):
		return "byte"
	}
	return "integer"
}

func cores(milli int64) float64 { return float64(milli) / 1000 }

// Pools reads the pools of an annotation; none where it cannot be read.
func Pools(annotations map[string]string, get func(map[string]string) ([]extension.CPUSharedPool, error)) []Pool {
	found, err := get(annotations)
	if err != nil {
		return nil
	}
	var out []Pool
	for _, pool := range found {
		if cpus, err := cpuset.Parse(pool.CPUSet); err == nil {
			out = append(out, Pool{NUMANode: strconv.Itoa(int(pool.Node)), CPUs: cpus.String(), Count: cpus.Len()})
		}
	}
	return out
}
