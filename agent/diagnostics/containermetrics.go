package diagnostics

// ContainerMetrics is one container that runs, with what it was given beside CPU and memory, and how much it waits.
type ContainerMetrics struct {
	Namespace, Pod, UID, Name, ID string
	// Requests and Limits of batch and mid resources, which only Koordinator reports.
	Requests, Limits []ResourceMetrics
	// OOMScore that its annotation sets; nil while none does.
	OOMScore *int64
	// Pressure on it; nil while it was not measured.
	Pressure []PressureMetrics
}

// ResourceMetrics is an amount of a resource.
type ResourceMetrics struct {
	Resource string
	Value    float64
}

var describedContainers = map[string]description{
	"container_resource_requests": {"Requests of a container for batch and mid resources, CPU in thousandths of a core.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "container_name", "container_id", "resource", "unit"}},
	"container_resource_limits":   {"Limits of a container on batch and mid resources, CPU in thousandths of a core.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "container_name", "container_id", "resource", "unit"}},
	"container_oom_score_adj":     {"oom_score_adj that is set for the processes of a container.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "container_name"}},
	"container_psi":               {"Percentage of time in which tasks of a container waited, by resource and window.", []string{"node", "pod_namespace", "pod_name", "pod_uid", "container_name", "container_id", "psi_resource_type", "psi_precision", "psi_degree"}},
}

func (s *scrape) containers(all []ContainerMetrics) {
	for i := range all {
		c := &all[i]
		labels := []string{c.Namespace, c.Pod, c.UID, c.Name, c.ID}
		for _, each := range []struct {
			name    string
			figures []ResourceMetrics
		}{{"container_resource_requests", c.Requests}, {"container_resource_limits", c.Limits}} {
			for _, metric := range each.figures {
				s.gauge(each.name, metric.Value, append(labels, metric.Resource, unitOf(metric.Resource))...)
			}
		}
		if c.OOMScore != nil {
			s.gauge("container_oom_score_adj", float64(*c.OOMScore), labels[:4]...)
		}
		for _, pressure := range c.Pressure {
			s.gauge("container_psi", pressure.Percent, append(labels, pressure.Resource, pressure.Precision(), pressure.Degree)...)
		}
	}
}
