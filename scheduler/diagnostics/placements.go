package diagnostics

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

// placementReviewResource names what is asked in errors.
var placementReviewResource = diagnosticsv1alpha1.Resource("placementreviews")

// maxPlacementReview is the maximum size of a PlacementReview, in bytes: with the offers of 10,000 nodes it has some 2 MB.
const maxPlacementReview = 3 << 20

// placementReviews answers PlacementReviews.
type placementReviews struct {
	explainer Explainer
}

func (p *placementReviews) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	question := &diagnosticsv1alpha1.PlacementReview{}
	if err := reviewhttp.DecodeUpTo(w, r, placementReviewResource, maxPlacementReview, question); err != nil {
		return nil, err
	}
	if errs := diagnosticsv1alpha1.ValidatePlacementReview(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(diagnosticsv1alpha1.GroupVersion.WithKind("PlacementReview").GroupKind(), question.Name, errs)
	}
	return p.explainer.ReviewPlacements(r.Context(), question)
}
