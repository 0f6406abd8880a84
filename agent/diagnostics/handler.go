package diagnostics

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"koordinator.sh/koord/agent/audit"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

// Paths of the secured port.
const (
	// ExplainPath takes a NodeExplanation by POST and returns it with what the agent says.
	ExplainPath = "/explain/node"
	// AuditPath returns the audit log by GET.
	AuditPath = "/audit"
	// MetricsPath returns metrics by GET.
	MetricsPath = "/metrics"
)

const (
	// maxAnswering bounds the questions that are answered at the same time, so that they take little of the node, and maxWaiting
	// those that wait for their turn beside.
	maxAnswering = 4
	maxWaiting   = 32
	// answerTimeout bounds one answer, waiting included.
	answerTimeout = 10 * time.Second
)

// Explainer answers questions about nodes. An unknown node is a NotFound error.
type Explainer interface {
	Explain(ctx context.Context, node string, question *diagnosticsv1alpha1.AgentQuestion) (diagnosticsv1alpha1.AgentExplanation, error)
}

// Options of the handlers.
type Options struct {
	Explainer Explainer
	// Audit is the log of a real agent; nil where there is none.
	Audit *audit.Log
	// Instance of the agent.
	Instance string
	// Metrics to serve; nil for none.
	Metrics prometheus.Gatherer
	// Ready are the checks that the agent is ready; all of them must pass.
	Ready []Check
}

// Check says why something is not as it should be; nil when it is.
type Check struct {
	Name  string
	Check func() error
}

// Secured serves what only authorized clients get.
func Secured(options Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(ExplainPath, &explanations{explainer: options.Explainer, slots: make(chan struct{}, maxAnswering)})
	if options.Audit != nil {
		mux.Handle("GET "+AuditPath, &auditPages{log: options.Audit, instance: options.Instance})
	}
	if options.Metrics != nil {
		// One metric that cannot be gathered, such as of two objects of one name, is no reason to serve none.
		mux.Handle("GET "+MetricsPath, promhttp.HandlerFor(options.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: maxAnswering, ErrorHandling: promhttp.ContinueOnError}))
	}
	return mux
}

// Open serves the health of the process.
func Open(options Options) http.Handler {
	mux := http.NewServeMux()
	alive := func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "ok") }
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /livez", alive)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { readyz(w, r, options.Ready) })
	return mux
}

// readyz lists the checks when one fails or the question says verbose, as the components of Kubernetes do.
func readyz(w http.ResponseWriter, r *http.Request, checks []Check) {
	var list strings.Builder
	failed := false
	for _, check := range checks {
		if err := check.Check(); err != nil {
			failed = true
			fmt.Fprintf(&list, "[-]%s failed: %v\n", check.Name, err)
			continue
		}
		fmt.Fprintf(&list, "[+]%s ok\n", check.Name)
	}
	switch _, verbose := r.URL.Query()["verbose"]; {
	case failed:
		http.Error(w, list.String()+"readyz check failed", http.StatusServiceUnavailable)
	case verbose:
		_, _ = fmt.Fprintf(w, "%sreadyz check passed\n", list.String())
	default:
		_, _ = fmt.Fprint(w, "ok")
	}
}

// explanations serves ExplainPath. Every error is a metav1.Status.
type explanations struct {
	explainer Explainer
	slots     chan struct{}
	// waiting are the questions that have not been answered, those in the making included.
	waiting atomic.Int32
}

// ServeHTTP answers one question.
func (e *explanations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := reviewhttp.CheckMethod(w, r, resource); err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	defer e.waiting.Add(-1)
	if e.waiting.Add(1) > maxAnswering+maxWaiting {
		reviewhttp.Fail(w, r, apierrors.NewTooManyRequests("too many explanations at once", 1))
		return
	}
	question, err := decode(w, r)
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	answer, err := e.answer(ctx, question)
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	question.Status = diagnosticsv1alpha1.NodeExplanationStatus{Agent: &answer}
	reviewhttp.Reply(w, r, http.StatusOK, question)
}

// answer waits for its turn.
func (e *explanations) answer(ctx context.Context, question *diagnosticsv1alpha1.NodeExplanation) (diagnosticsv1alpha1.AgentExplanation, error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
		return e.explainer.Explain(ctx, question.Spec.NodeName, question.Spec.Agent)
	case <-ctx.Done():
		return diagnosticsv1alpha1.AgentExplanation{}, ctx.Err()
	}
}

// resource of what is asked.
var resource = diagnosticsv1alpha1.Resource("nodeexplanations")

// decode reads a question; one that names no section asks all.
func decode(w http.ResponseWriter, r *http.Request) (*diagnosticsv1alpha1.NodeExplanation, error) {
	question := &diagnosticsv1alpha1.NodeExplanation{}
	if err := reviewhttp.Decode(w, r, resource, question); err != nil {
		return nil, err
	}
	if question.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest("spec.nodeName is empty")
	}
	if question.Spec.Agent == nil {
		question.Spec.Agent = &diagnosticsv1alpha1.AgentQuestion{}
	}
	return question, nil
}

// UnknownNode is the error for a node whose agent this is not.
func UnknownNode(name string) error { return apierrors.NewNotFound(corev1.Resource("nodes"), name) }
