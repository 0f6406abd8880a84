package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// ExplainPath takes a PodExplanation by POST and returns it with its status.
const ExplainPath = "/explain/pod"

const (
	// maxBody bounds a question, in bytes.
	maxBody = 64 << 10
	// maxWaiting bounds the questions that are being answered or wait for their turn.
	maxWaiting = 8
	// answerTimeout bounds one answer, waiting included.
	answerTimeout = 30 * time.Second
)

// Explainer answers questions about pods.
type Explainer interface {
	Explain(context.Context, *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error)
}

// handler serves ExplainPath. Every error is a metav1.Status.
type handler struct {
	explainer Explainer
	// ready is false while the scheduler's caches are still being filled.
	ready func() bool
	slots chan struct{}
}

func newHandler(explainer Explainer, ready func() bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(ExplainPath, &handler{explainer: explainer, ready: ready, slots: make(chan struct{}, maxWaiting)})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, r, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, diagnosticsv1alpha1.Resource("podexplanations"), "", "unknown path; the one served is "+ExplainPath, 0, true))
	})
	return mux
}

// ServeHTTP answers one question.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, r, apierrors.NewMethodNotSupported(diagnosticsv1alpha1.Resource("podexplanations"), r.Method))
		return
	}
	if !h.ready() {
		writeError(w, r, apierrors.NewServiceUnavailable("the scheduler is still reading the cluster"))
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		writeError(w, r, apierrors.NewTooManyRequests("too many explanations at once", 1))
		return
	}
	question, err := decode(w, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	answer, err := h.explainer.Explain(ctx, question)
	if err != nil {
		writeError(w, r, err)
		return
	}
	writeJSON(w, r, http.StatusOK, answer)
}

// decode reads and checks a question.
func decode(w http.ResponseWriter, r *http.Request) (*diagnosticsv1alpha1.PodExplanation, error) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method, diagnosticsv1alpha1.Resource("podexplanations"), "",
				fmt.Sprintf("content type %q is not application/json", kind), 0, true)
		}
	}
	question := &diagnosticsv1alpha1.PodExplanation{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(question); err != nil {
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", maxBody))
		}
		return nil, apierrors.NewBadRequest(fmt.Sprintf("decode the question: %v", err))
	}
	if errs := validate(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(diagnosticsv1alpha1.GroupVersion.WithKind("PodExplanation").GroupKind(), question.Name, errs)
	}
	return question, nil
}

func validate(question *diagnosticsv1alpha1.PodExplanation) field.ErrorList {
	var errs field.ErrorList
	if question.Kind != "" && question.Kind != "PodExplanation" {
		errs = append(errs, field.NotSupported(field.NewPath("kind"), question.Kind, []string{"PodExplanation"}))
	}
	if version := diagnosticsv1alpha1.GroupVersion.String(); question.APIVersion != "" && question.APIVersion != version {
		errs = append(errs, field.NotSupported(field.NewPath("apiVersion"), question.APIVersion, []string{version}))
	}
	for _, problem := range validation.ValidateNamespaceName(question.Namespace, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "namespace"), question.Namespace, problem))
	}
	subject, path := question.Spec.PodName, field.NewPath("spec", "podName")
	if question.Spec.ReservationName != "" {
		if subject != "" {
			errs = append(errs, field.Forbidden(path, "may not be set together with reservationName"))
		}
		subject, path = question.Spec.ReservationName, field.NewPath("spec", "reservationName")
	}
	for _, problem := range validation.NameIsDNSSubdomain(subject, false) {
		errs = append(errs, field.Invalid(path, subject, problem))
	}
	if most := question.Spec.MaxNodes; most != nil && (*most < 0 || *most > 5000) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "maxNodes"), *most, "must be between 0 and 5000"))
	}
	return errs
}

// writeError turns any error into a metav1.Status.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
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
	writeJSON(w, r, int(status.Code), &status)
}

func writeJSON(w http.ResponseWriter, r *http.Request, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // the answer is for terminals, too, and messages contain > and <
	if err := encoder.Encode(object); err != nil {
		klog.FromContext(r.Context()).V(2).Info("Failed to write an answer", "err", err)
	}
}
