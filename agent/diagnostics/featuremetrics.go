package diagnostics

// FeatureMetrics are what single features measure and set. Features that are off have none.
type FeatureMetrics struct {
	// Groups of the cache, with what they use.
	Groups []ResctrlGroupMetrics
	// Bursts of containers.
	Bursts []BurstMetrics
	// Services that are watched for interference.
	Services []ServiceMetrics
	// Cookies of pods under core scheduling.
	Cookies []CookieMetrics
}

// ResctrlGroupMetrics is one group of the cache.
type ResctrlGroupMetrics struct {
	Name string
	// Occupancy of the cache in bytes.
	Occupancy float64
	// Total and Local are the memory bandwidth in bytes per second; nil while it was not measured.
	Total, Local *float64
}

// BurstMetrics is what one container may use beyond its limit, in microseconds of 100 ms; a Quota of -1 is no limit.
type BurstMetrics struct {
	Namespace, Pod, Container string
	Burst, Quota              int64
}

// ServiceMetrics is how much one pod is disturbed.
type ServiceMetrics struct {
	Namespace, Pod, UID string
	// CPI is cycles per instruction; 0 while none was measured.
	CPI float64
	// Pressure is the percentage of the time in which tasks waited, by resource and degree; nil while it was not measured.
	Pressure []PressureMetrics
}

// PressureMetrics is one percentage: of cpu, mem or io; in which some or all (full) tasks waited; over some seconds.
type PressureMetrics struct {
	Resource, Degree string
	Percent          float64
	OverSeconds      int
}

// CookieMetrics is the cookie of one pod.
type CookieMetrics struct {
	Namespace, Pod, Group, Cookie string
}

var describedFeatures = map[string]description{
	"resctrl_llc_occupancy":         {"Bytes of the last-level cache that a group has filled.", []string{"node", "group"}},
	"resctrl_memory_bandwidth":      {"Bytes per second between the cache and memory, of a group.", []string{"node", "group", "type"}},
	"container_scaled_cfs_burst_us": {"CPU time that a container may save and use at once, in microseconds.", []string{"node", "pod_namespace", "pod_name", "container_name"}},
	"container_scaled_cfs_quota_us": {"CPU quota of a container that may burst, in microseconds per 100 ms.", []string{"node", "pod_namespace", "pod_name", "container_name"}},
	"pod_cpi":                       {"Cycles per instruction of a pod, as last measured.", []string{"node", "pod_namespace", "pod_name"}},
	"pod_psi":                       {"Percentage of the time in which tasks of a pod waited.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "psi_resource_type", "psi_precision", "psi_degree"}},
	"pod_core_sched_cookie":         {"The cookie of a pod under core scheduling; always 1.", []string{"node", "pod_namespace", "pod_name", "core_sched_group", "core_sched_cookie"}},
}

func (s *scrape) features(f *FeatureMetrics) {
	for i := range f.Groups {
		group := &f.Groups[i]
		s.gauge("resctrl_llc_occupancy", group.Occupancy, group.Name)
		for kind, rate := range map[string]*float64{"total": group.Total, "local": group.Local} {
			if rate != nil {
				s.gauge("resctrl_memory_bandwidth", *rate, group.Name, kind)
			}
		}
	}
	for i := range f.Bursts {
		b := &f.Bursts[i]
		s.gauge("container_scaled_cfs_burst_us", float64(b.Burst), b.Namespace, b.Pod, b.Container)
		s.gauge("container_scaled_cfs_quota_us", float64(b.Quota), b.Namespace, b.Pod, b.Container)
	}
	for i := range f.Services {
		service := &f.Services[i]
		if service.CPI > 0 {
			s.gauge("pod_cpi", service.CPI, service.Namespace, service.Pod)
		}
		for _, pressure := range service.Pressure {
			s.gauge("pod_psi", pressure.Percent, service.Namespace, service.Pod, service.UID, pressure.Resource, pressure.precision(), pressure.Degree)
		}
	}
	for i := range f.Cookies {
		cookie := &f.Cookies[i]
		s.gauge("pod_core_sched_cookie", 1, cookie.Namespace, cookie.Pod, cookie.Group, cookie.Cookie)
	}
}
