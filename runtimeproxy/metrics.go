package runtimeproxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// buckets of durations in seconds, from 50 microseconds.
var buckets = []float64{.00005, .0001, .0002, .0004, .001, .002, .005, .01, .05, .1, .5, 1, 5, 30}

// metrics of the proxy. Methods that CRI does not have are counted together.
type metrics struct {
	calls     *prometheus.HistogramVec
	failures  *prometheus.CounterVec
	asked     *prometheus.HistogramVec
	refused   *prometheus.CounterVec
	durations map[string]prometheus.Observer
}

// other stands for all methods that CRI does not have.
const other = "other"

func newMetrics(registerer prometheus.Registerer, store *store) *metrics {
	m := &metrics{
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "koord_runtimeproxy_call_duration_seconds", Help: "Latency of CRI calls in seconds, including the runtime and the hooks.", Buckets: buckets,
		}, []string{"method"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koord_runtimeproxy_call_failures_total", Help: "Number of CRI calls that failed.",
		}, []string{"method", "code"}),
		asked: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "koord_runtimeproxy_hook_duration_seconds", Help: "Latency of hook servers in seconds.", Buckets: buckets,
		}, []string{"server", "hook"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koord_runtimeproxy_hook_failures_total", Help: "Number of hook calls that failed.",
		}, []string{"server", "hook", "code"}),
		durations: map[string]prometheus.Observer{},
	}
	for method := range shapes {
		m.durations[method] = m.calls.WithLabelValues(short(method))
	}
	m.durations[other] = m.calls.WithLabelValues(other)
	registerer.MustRegister(m.calls, m.failures, m.asked, m.refused,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "koord_runtimeproxy_known_pods", Help: "Number of pod sandboxes in the store."},
			func() float64 { pods, _ := store.size(); return float64(pods) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "koord_runtimeproxy_known_containers", Help: "Number of containers in the store."},
			func() float64 { _, containers := store.size(); return float64(containers) }),
	)
	return m
}

// begin measures a call until what it returns is called with the call's end.
func (m *metrics) begin(method string) func(error) {
	at := time.Now()
	return func(err error) {
		observer, known := m.durations[method]
		label := short(method)
		if !known {
			observer, label = m.durations[other], other
		}
		observer.Observe(time.Since(at).Seconds())
		if code := code(err); code != codes.OK {
			m.failures.WithLabelValues(label, code.String()).Inc()
		}
	}
}

// ask measures a hook until what it returns is called, with the code of the failure if there was one.
func (m *metrics) ask(server string, hook hookapi.Hook) func(string) {
	at := time.Now()
	return func(code string) {
		m.asked.WithLabelValues(server, string(hook)).Observe(time.Since(at).Seconds())
		if code != "" {
			m.refused.WithLabelValues(server, string(hook), code).Inc()
		}
	}
}
