package diagnostics

import (
	"context"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/grants"
	"koordinator.sh/koord/reviewhttp"
)

// ExplainPath takes a PodExplanation by POST and returns it with its status.
const ExplainPath = "/explain/pod"

const (
	// maxWaiting bounds the questions that are being answered or wait for their turn.
	maxWaiting = 8
	// answerTimeout bounds one answer, waiting included.
	answerTimeout = 30 * time.Second
)

// Explainer answers questions about pods.
type Explainer interface {
	// ExplainFor answers a caller that is permitted to make only some of the changes that help.
	ExplainFor(context.Context, *diagnosticsv1alpha1.PodExplanation, disclosure.Access) (*diagnosticsv1alpha1.PodExplanation, error)
}

// handler serves ExplainPath. Every error is a metav1.Status.
type handler struct {
	explainer Explainer
	// ready is false while the scheduler's caches are still being filled.
	ready func() bool
	// authorizer says what callers may do.
	authorizer authorizer.Authorizer
	slots      chan struct{}
}

func newHandler(explainer Explainer, ready func() bool, authorization authorizer.Authorizer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(ExplainPath, &handler{explainer: explainer, ready: ready, authorizer: authorization, slots: make(chan struct{}, maxWaiting)})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		reviewhttp.Fail(w, r, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, resource, "", "unknown path; the one served is "+ExplainPath, 0, true))
	})
	return mux
}

// ServeHTTP answers one question.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := reviewhttp.CheckMethod(w, r, resource); err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	if !h.ready() {
		reviewhttp.Fail(w, r, apierrors.NewServiceUnavailable("the scheduler is still reading the cluster"))
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
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
	granted, err := h.grants(ctx, r)
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	answer, err := h.explainer.ExplainFor(ctx, question, granted.May)
	if err == nil {
		err = granted.Err()
	}
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	reviewhttp.Reply(w, r, http.StatusOK, answer)
}

// grants are what the caller may do: the one on whose behalf the request is made, and without one who makes it.
func (h *handler) grants(ctx context.Context, r *http.Request) (*grants.Grants, error) {
	caller, err := grants.Caller(r.Header)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if caller == nil {
		asking, known := apirequest.UserFrom(ctx)
		if !known {
			return nil, apierrors.NewUnauthorized("the request carries no identity")
		}
		caller = asking
	}
	return grants.Of(ctx, h.authorizer, caller), nil
}

// resource of what is asked.
var resource = diagnosticsv1alpha1.Resource("podexplanations")

// decode reads and checks a question.
func decode(w http.ResponseWriter, r *http.Request) (*diagnosticsv1alpha1.PodExplanation, error) {
	question := &diagnosticsv1alpha1.PodExplanation{}
	if err := reviewhttp.Decode(w, r, resource, question); err != nil {
		return nil, err
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
