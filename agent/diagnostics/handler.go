package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/audit"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
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
	// maxBody bounds a question, in bytes.
	maxBody = 64 << 10
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
	// Ready says why the agent is not ready; nil when it is.
	Ready func() error
}

// Secured serves what only authorized clients get.
func Secured(options Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(ExplainPath, &explanations{explainer: options.Explainer, slots: make(chan struct{}, maxAnswering)})
	if options.Audit != nil {
		mux.Handle("GET "+AuditPath, &auditPages{log: options.Audit, instance: options.Instance})
	}
	if options.Metrics != nil {
		mux.Handle("GET "+MetricsPath, promhttp.HandlerFor(options.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: maxAnswering}))
	}
	return mux
}

// Open serves the health of the process.
func Open(options Options) http.Handler {
	mux := http.NewServeMux()
	alive := func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "ok") }
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /livez", alive)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := options.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		alive(w, r)
	})
	return mux
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
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, r, apierrors.NewMethodNotSupported(diagnosticsv1alpha1.Resource("nodeexplanations"), r.Method))
		return
	}
	defer e.waiting.Add(-1)
	if e.waiting.Add(1) > maxAnswering+maxWaiting {
		fail(w, r, apierrors.NewTooManyRequests("too many explanations at once", 1))
		return
	}
	question, err := decode(w, r)
	if err != nil {
		fail(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	answer, err := e.answer(ctx, question)
	if err != nil {
		fail(w, r, err)
		return
	}
	question.Status = diagnosticsv1alpha1.NodeExplanationStatus{Agent: &answer}
	reply(w, r, http.StatusOK, question)
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

// decode reads a question; one that names no section asks all.
func decode(w http.ResponseWriter, r *http.Request) (*diagnosticsv1alpha1.NodeExplanation, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method, diagnosticsv1alpha1.Resource("nodeexplanations"), "",
			fmt.Sprintf("content type %q is not application/json", r.Header.Get("Content-Type")), 0, true)
	}
	question := &diagnosticsv1alpha1.NodeExplanation{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(question); err != nil {
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", maxBody))
		}
		return nil, apierrors.NewBadRequest(fmt.Sprintf("decode the question: %v", err))
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

// fail turns any error into a metav1.Status.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = apierrors.NewTimeoutError("the explanation took too long: "+err.Error(), 1)
	}
	status := apierrors.NewInternalError(err).Status()
	if known := apierrors.APIStatus(nil); errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if details := status.Details; details != nil && details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
	}
	reply(w, r, int(status.Code), &status)
}

func reply(w http.ResponseWriter, r *http.Request, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(object); err != nil {
		klog.FromContext(r.Context()).V(2).Info("an answer was not sent", "err", err)
	}
}
