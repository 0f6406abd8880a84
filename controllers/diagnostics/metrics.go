package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
)

// outcome is the result of a request, the value of label outcome.
type outcome string

const (
	outcomeAnswered    outcome = "answered"
	outcomeInvalid     outcome = "invalid"
	outcomeForbidden   outcome = "forbidden"
	outcomeNotFound    outcome = "not_found"
	outcomeUnavailable outcome = "unavailable"
	outcomeTimeout     outcome = "timeout"
	outcomeFailed      outcome = "failed"
)

var outcomes = []outcome{
	outcomeAnswered, outcomeInvalid, outcomeForbidden, outcomeNotFound, outcomeUnavailable, outcomeTimeout, outcomeFailed,
}

// outcomeOf classifies the error of a request.
func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return outcomeAnswered
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return outcomeInvalid
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return outcomeForbidden
	case apierrors.IsNotFound(err):
		return outcomeNotFound
	case apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err):
		return outcomeUnavailable
	case apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return outcomeTimeout
	}
	return outcomeFailed
}

// instruments measures the questions that reach a resource. Questions the API server refuses before - unreadable, too
// large, too many, or asked without the right to create them - are in its own metrics.
type instruments struct {
	explanations *prometheus.CounterVec
	durations    *prometheus.HistogramVec
}

// newInstruments registers the metrics, with every series of the kinds at zero. A nil registerer registers nowhere.
func newInstruments(registerer prometheus.Registerer, kinds ...string) (*instruments, error) {
	m := &instruments{
		explanations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "koord_manager_explanations_total",
			Help: "Number of diagnostics API requests, by kind and outcome.",
		}, []string{"kind", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "koord_manager_explanation_duration_seconds",
			Help: "Latency of diagnostics API requests in seconds, by kind.",
			// 1 ms to 33 s: a question about a pod is given up after 30 s.
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		}, []string{"kind"}),
	}
	for _, kind := range kinds {
		m.durations.WithLabelValues(kind)
		for _, o := range outcomes {
			m.explanations.WithLabelValues(kind, string(o))
		}
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.explanations, m.durations} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of the diagnostics API: %w", err)
		}
	}
	return m, nil
}

func (m *instruments) observe(kind string, took time.Duration, err error) {
	m.explanations.WithLabelValues(kind, string(outcomeOf(err))).Inc()
	m.durations.WithLabelValues(kind).Observe(took.Seconds())
}

// measured is a resource whose questions are measured.
type measured struct {
	creation
	kind        string
	instruments *instruments
	clock       clock.PassiveClock
}

// Create answers a question.
func (m measured) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	begin := m.clock.Now()
	answer, err := m.creation.Create(ctx, object, check, options)
	m.instruments.observe(m.kind, m.clock.Since(begin), err)
	return answer, err
}

// measuredGetting is a resource of which single objects are read, measured.
type measuredGetting struct {
	getting
	kind        string
	instruments *instruments
	clock       clock.PassiveClock
}

// Get returns one object.
func (m measuredGetting) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	begin := m.clock.Now()
	answer, err := m.getting.Get(ctx, name, options)
	m.instruments.observe(m.kind, m.clock.Since(begin), err)
	return answer, err
}

// measuredListing is a measuredGetting of which lists are read, too.
type measuredListing struct {
	measuredGetting
	rest.Lister
}

// List returns the objects that the options select.
func (m measuredListing) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	begin := m.clock.Now()
	answer, err := m.Lister.List(ctx, options)
	m.instruments.observe(m.kind, m.clock.Since(begin), err)
	return answer, err
}

// ConvertToTable renders one object or a list.
func (m measuredListing) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return m.Lister.ConvertToTable(ctx, object, options)
}
