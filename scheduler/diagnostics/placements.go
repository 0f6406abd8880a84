package diagnostics

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

// placementReviewResource names what is asked in errors.
var placementReviewResource = diagnosticsv1alpha1.Resource("placementreviews")

// placementReviews answers PlacementReviews.
type placementReviews struct {
	explainer Explainer
}

func (p *placementReviews) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	question := &diagnosticsv1alpha1.PlacementReview{}
	if err := reviewhttp.Decode(w, r, placementReviewResource, question); err != nil {
		return nil, err
	}
	if errs := diagnosticsv1alpha1.ValidatePlacementReview(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(diagnosticsv1alpha1.GroupVersion.WithKind("PlacementReview").GroupKind(), question.Name, errs)
	}
	return p.explainer.ReviewPlacements(r.Context(), question)
}
