package diagnostics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/cpuset"
	"koordinator.sh/koord/decision/podrequest"
)

// Figures are what metrics are made of; a nil pointer is not known.
type Figures struct {
	Node    string
	Started time.Time
	// Used by the node, and by what is no pod.
	Used, System *podrequest.Amount
	// Budget is what best-effort pods may use while they are held back, and the others what is used by pods above best effort and
	// by best-effort pods, in milli-cores.
	Budget, AboveUsed, BestEffortUsed *int64
	// Policy of the suppression.
	Policy string
	// Pools of CPUs by name, with their CPUs.
	Shared, BestEffort []Pool
	// Evictions by the reason of their events.
	Evictions map[string]int
	// Reclaimable and Peak are predicted, by the name of the predictor.
	Reclaimable, Peak map[string]podrequest.Amount
	// Allocatable of the node by resource, as numbers of Kubernetes.
	Allocatable map[string]float64
	// InForce and Wanted count values of cgroups by feature.
	Wanted, InForce map[string]int32
	// Features are what single features measure and set.
	Features FeatureFigures
	// AuditEntries that were ever written.
	AuditEntries uint64
	// Writes counts what became of what features want, and OriginalsKept says whether what was there before can be kept; nil is not
	// known.
	Writes        map[string]executor.Tally
	OriginalsKept *bool
}

// Pool is CPUs of one NUMA node.
type Pool struct {
	NUMANode string
	CPUs     string
	Count    int
}

// collector makes metrics of figures when it is asked.
type collector struct {
	figures func() Figures
	descs   map[string]*prometheus.Desc
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
	"node_predicted_resource_peak":        {"The peak that is predicted.", []string{"node", "predictor", "resource", "unit"}},
	"node_resource_allocatable":           {"What the node offers, by resource.", []string{"node", "resource"}},
	"feature_values_wanted":               {"Values of cgroups that a feature wants.", []string{"node", "feature"}},
	"feature_values_in_force":             {"Values of cgroups that a feature wants and that are in force.", []string{"node", "feature"}},
	"feature_writes_total":                {"Values that a feature wanted, by what became of the write: done, refused by the kernel, vanished before.", []string{"node", "feature", "result"}},
	"originals_kept":                      {"1 while what was there before can be kept in the state directory, 0 while it cannot and nothing else is written.", []string{"node"}},
	"audit_entries_total":                 {"Entries that the audit log was given.", []string{"node"}},
}

// NewCollector returns a collector of the agent's metrics. The figures are asked for at each scrape.
func NewCollector(figures func() Figures) prometheus.Collector {
	c := &collector{figures: figures, descs: map[string]*prometheus.Desc{}}
	for _, metrics := range []map[string]description{described, describedFeatures} {
		for name, is := range metrics {
			c.descs[name] = prometheus.NewDesc("koordlet_"+name, is.help, is.labels, nil)
		}
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
	f := c.figures()
	s := scrape{collector: c, to: to, node: f.Node}
	s.gauge("start_time", float64(f.Started.Unix()))
	s.counter("audit_entries_total", float64(f.AuditEntries))
	if f.Used != nil {
		s.gauge("node_used_cpu_cores", cores(f.Used.MilliCPU))
		s.gauge("node_used_memory_bytes", float64(f.Used.Memory))
	}
	if f.System != nil {
		s.amount("node_metric_system_usage", *f.System)
	}
	s.suppression(&f)
	s.pools("cpuset_share_pool", f.Shared)
	s.pools("cpuset_be_share_pool", f.BestEffort)
	for reason, count := range f.Evictions {
		s.counter("pod_eviction", float64(count), reason)
	}
	for predictor, amount := range f.Reclaimable {
		s.amount("node_predicted_resource_reclaimable", amount, predictor)
	}
	for predictor, amount := range f.Peak {
		s.amount("node_predicted_resource_peak", amount, predictor)
	}
	for resource, value := range f.Allocatable {
		s.gauge("node_resource_allocatable", value, resource)
	}
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
	s.features(&f.Features)
	for feature, count := range f.Wanted {
		s.gauge("feature_values_wanted", float64(count), feature)
		s.gauge("feature_values_in_force", float64(f.InForce[feature]), feature)
	}
}

// scrape is one Collect.
type scrape struct {
	*collector
	to   chan<- prometheus.Metric
	node string
}

func (s *scrape) gauge(name string, value float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, value, append([]string{s.node}, labels...)...)
}

func (s *scrape) counter(name string, value float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.descs[name], prometheus.CounterValue, value, append([]string{s.node}, labels...)...)
}

// amount of CPU and memory; further labels come before those.
func (s *scrape) amount(name string, amount podrequest.Amount, labels ...string) {
	s.gauge(name, cores(amount.MilliCPU), append(append([]string{}, labels...), "cpu", "core")...)
	s.gauge(name, float64(amount.Memory), append(append([]string{}, labels...), "memory", "byte")...)
}

func (s *scrape) suppression(f *Figures) {
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
