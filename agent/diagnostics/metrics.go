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
	"start_time":                          {"When the agent was started, in seconds of Unix time.", []string{"node"}},
	"node_used_cpu_cores":                 {"CPU that the node uses.", []string{"node"}},
	"node_used_memory_bytes":              {"Memory that the node uses.", []string{"node"}},
	"node_metric_system_usage":            {"What the node uses beside its pods.", []string{"node", "resource", "unit"}},
	"be_suppress_cpu_cores":               {"CPU that best-effort pods may use.", []string{"node", "type"}},
	"be_suppress_ls_used_cpu_cores":       {"CPU that pods above best effort use.", []string{"node"}},
	"be_suppress_be_used_cpu_cores":       {"CPU that best-effort pods use.", []string{"node"}},
	"cpuset_share_pool_cpu_cores":         {"CPUs that services share.", []string{"node", "numa_node"}},
	"cpuset_be_share_pool_cpu_cores":      {"CPUs that best-effort pods share.", []string{"node", "numa_node"}},
	"cpuset_share_pool_info":              {"CPUs that services share, as a list; always 1.", []string{"node", "numa_node", "cpuset"}},
	"cpuset_be_share_pool_info":           {"CPUs that best-effort pods share, as a list; always 1.", []string{"node", "numa_node", "cpuset"}},
	"pod_eviction":                        {"Pods that were evicted, by reason.", []string{"node", "reason"}},
	"node_predicted_resource_reclaimable": {"What prod pods are predicted not to need.", []string{"node", "predictor", "resource", "unit"}},
	"node_priority_resource_reclaimable":  {"What pods of a priority will not need, as it is reported.", []string{"node", "priority", "resource", "unit"}},
	"node_predicted_resource_peak":        {"The peak that is predicted.", []string{"node", "predictor", "resource", "unit"}},
	"node_resource_allocatable":           {"What the node offers, by resource.", []string{"node", "resource", "unit"}},
	"node_metric_node_usage":              {"What the node uses on average, as it is reported.", []string{"node", "resource", "unit"}},
	"node_metric_numa_node_usage":         {"What is used of a NUMA node on average, as it is reported.", []string{"node", "numa_node_id", "resource", "unit"}},
	"node_metric_numa_system_usage":       {"What is used of a NUMA node beside its pods.", []string{"node", "numa_node_id", "resource", "unit"}},
	"host_application_resource_usage":     {"What an host application outside Kubernetes uses, in cores and bytes.", []string{"node", "host_application_name", "priority_class", "qos", "resource"}},
	"pod_eviction_detail":                 {"Evictions among the latest hundred, by pod and reason.", []string{"node", "pod_namespace", "pod_name", "reason"}},
	"collect_node_cpu_info_status":        {"How often the machine was asked how its CPUs are built, by whether it told.", []string{"node", "status"}},
	"feature_values_wanted":               {"Values of cgroups that a feature wants.", []string{"node", "feature"}},
	"feature_values_in_force":             {"Values of cgroups that a feature wants and that are in force.", []string{"node", "feature"}},
	"feature_writes_total":                {"Values that a feature wanted, by what became of the write: done, refused by the kernel, vanished before.", []string{"node", "feature", "result"}},
	"originals_kept":                      {"1 while what was there before can be kept in the state directory, 0 while it cannot and nothing else is written.", []string{"node"}},
	"enforcing":                           {"1 while the agent can hold best-effort pods back, 0 while it cannot, by the reason.", []string{"node", "reason"}},
	"audit_entries_total":                 {"Entries that the audit log was given.", []string{"node"}},
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
