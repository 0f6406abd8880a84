package diagnostics

// PodMetrics is one pod that runs, with how its CPU quota throttles it and what it does on block devices.
type PodMetrics struct {
	Namespace, Pod, UID string
	// Throttled is the share of periods in which the quota was used up, 0 to 1; nil while it was not measured.
	Throttled *float64
	// BlockIO is nil where the kernel does not show it, or not yet.
	BlockIO *BlockIOMetrics
}

// BlockIOMetrics is what goes to and comes from block devices per second, of all devices together.
type BlockIOMetrics struct {
	ReadBytes, WrittenBytes, Reads, Writes float64
}

var describedPods = map[string]description{
	"node_psi":                           {"Percentage of time in which tasks of the node waited, by resource and window.", []string{"node", "psi_resource_type", "psi_precision", "psi_degree"}},
	"pod_throttled_ratio":                {"Ratio of CFS periods in which a pod was throttled, 0 to 1.", []string{"node", "pod_namespace", "pod_name", "pod_uid"}},
	"pod_block_io_bytes_per_second":      {"Block I/O of a pod in bytes per second, by type.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "type"}},
	"pod_block_io_operations_per_second": {"Block I/O of a pod in operations per second, by type.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "type"}},
}

// pods are five metrics each at most: their number grows with the pods alone, and with none of the devices.
func (s *scrape) pods(all []PodMetrics) {
	for i := range all {
		p := &all[i]
		labels := []string{p.Namespace, p.Pod, p.UID}
		if p.Throttled != nil {
			s.gauge("pod_throttled_ratio", *p.Throttled, labels...)
		}
		if io := p.BlockIO; io != nil {
			s.gauge("pod_block_io_bytes_per_second", io.ReadBytes, append(labels, "read")...)
			s.gauge("pod_block_io_bytes_per_second", io.WrittenBytes, append(labels, "write")...)
			s.gauge("pod_block_io_operations_per_second", io.Reads, append(labels, "read")...)
			s.gauge("pod_block_io_operations_per_second", io.Writes, append(labels, "write")...)
		}
	}
}

func (s *scrape) nodePressure(all []PressureMetrics) {
	for _, pressure := range all {
		s.gauge("node_psi", pressure.Percent, pressure.Resource, pressure.Precision(), pressure.Degree)
	}
}
