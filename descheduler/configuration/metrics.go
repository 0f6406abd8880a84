package configuration

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments are the metrics about the configuration.
type instruments struct {
	valid   prometheus.Gauge
	reloads *prometheus.CounterVec
}

func newInstruments(registerer prometheus.Registerer) (*instruments, error) {
	m := &instruments{
		valid: prometheus.NewGauge(prometheus.GaugeOpts{
			Subsystem: "descheduler", Name: "configuration_valid",
			Help: "1 when the configuration file is in force, 0 when it was refused and the last valid one is.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: "descheduler", Name: "configuration_reloads_total",
			Help: "Changes of the configuration file, by the result: accepted, invalid, or error when it could not be read or applied.",
		}, []string{"result"}),
	}
	m.valid.Set(1)
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.valid, m.reloads} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics of the configuration: %w", err)
		}
	}
	return m, nil
}

func (m *instruments) accepted() {
	m.valid.Set(1)
	m.reloads.WithLabelValues("accepted").Inc()
}

func (m *instruments) refused(invalid bool) {
	m.valid.Set(0)
	result := "error"
	if invalid {
		result = "invalid"
	}
	m.reloads.WithLabelValues(result).Inc()
}
