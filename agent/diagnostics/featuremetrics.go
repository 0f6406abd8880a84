package diagnostics

import "strconv"

// Metric is one of a single feature. Labels begin with the node.
type Metric struct {
	Name, Help string
	Labels     []string
	// Counter is true for a metric that only grows.
	Counter bool
}

// Sample is a value of a Metric, with its labels but for the node.
type Sample struct {
	Metric string
	Value  float64
	Labels []string
}

// Emit takes one value of a Metric, with its labels but for the node.
type Emit func(metric string, value float64, labels ...string)

// PressureMetrics is the percentage of the time in which some or all (full) tasks waited for cpu, mem or io; over some seconds.
type PressureMetrics struct {
	Resource, Degree string
	Percent          float64
	OverSeconds      int
}

// Precision is the label of the time over which the pressure was measured.
func (p *PressureMetrics) Precision() string { return "avg" + strconv.Itoa(p.OverSeconds) }

func (s *scrape) features(samples []Sample) {
	for i := range samples {
		if s.counters[samples[i].Metric] {
			s.counter(samples[i].Metric, samples[i].Value, samples[i].Labels...)
			continue
		}
		s.gauge(samples[i].Metric, samples[i].Value, samples[i].Labels...)
	}
}
