package diagnostics

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/grants"
	"koordinator.sh/koord/reviewhttp"
)

// What is served: each takes a question by POST and returns it with its status.
const (
	// ExplainPath takes a PodExplanation.
	ExplainPath = "/explain/pod"
	// ReviewPath takes a PlacementReview. The answer is in full: a caller that may ask sees all pods and nodes.
	ReviewPath = "/review/placements"
)

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
	// ReviewPlacements says which nodes pods would get if they left theirs.
	ReviewPlacements(context.Context, *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error)
}

// handler serves one path. Every error is a metav1.Status.
type handler struct {
	// resource of what is asked.
	resource schema.GroupResource
	// ready is false while the scheduler's caches are still being filled.
	ready func() bool
	// slots are shared by all paths.
	slots chan struct{}
	// answer decodes and answers one question.
	answer func(w http.ResponseWriter, r *http.Request) (any, error)
}

func newHandler(explainer Explainer, objects map[string]ObjectExplainer, ready func() bool, authorization authorizer.Authorizer) http.Handler {
	mux, slots := http.NewServeMux(), make(chan struct{}, maxWaiting)
	pods, placements := &podExplanations{explainer, authorization}, &placementReviews{explainer}
	mux.Handle(ExplainPath, &handler{resource: podExplanationResource, ready: ready, slots: slots, answer: pods.answer})
	mux.Handle(ReviewPath, &handler{resource: placementReviewResource, ready: ready, slots: slots, answer: placements.answer})
	served := []string{ExplainPath, ReviewPath}
	for _, kind := range slices.Sorted(maps.Keys(objects)) {
		asked := &objectExplanations{objectResource(kind), objects[kind]}
		mux.Handle(ObjectPath+kind, &handler{resource: asked.resource, ready: ready, slots: slots, answer: asked.answer})
		served = append(served, ObjectPath+kind)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		message := "unknown path; those served are " + strings.Join(served, ", ")
		reviewhttp.Fail(w, r, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, podExplanationResource, "", message, 0, true))
	})
	return mux
}

// ServeHTTP answers one question.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := reviewhttp.CheckMethod(w, r, h.resource); err != nil {
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
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	answer, err := h.answer(w, r.WithContext(ctx))
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	reviewhttp.Reply(w, r, http.StatusOK, answer)
}

// podExplanations answers PodExplanations.
type podExplanations struct {
	explainer Explainer
	// authorizer says what callers may do.
	authorizer authorizer.Authorizer
}

func (p *podExplanations) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	question, err := decode(w, r)
	if err != nil {
		return nil, err
	}
	granted, err := p.grants(r.Context(), r)
	if err != nil {
		return nil, err
	}
	answer, err := p.explainer.ExplainFor(r.Context(), question, granted.May)
	if err == nil {
		err = granted.Err()
	}
	return answer, err
}

// grants are what the caller may do: the one on whose behalf the request is made, and without one who makes it.
func (p *podExplanations) grants(ctx context.Context, r *http.Request) (*grants.Grants, error) {
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
	return grants.Of(ctx, p.authorizer, caller), nil
}

// podExplanationResource names what is asked in errors.
var podExplanationResource = diagnosticsv1alpha1.Resource("podexplanations")

// decode reads and checks a question.
func decode(w http.ResponseWriter, r *http.Request) (*diagnosticsv1alpha1.PodExplanation, error) {
	question := &diagnosticsv1alpha1.PodExplanation{}
	if err := reviewhttp.Decode(w, r, podExplanationResource, question); err != nil {
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
