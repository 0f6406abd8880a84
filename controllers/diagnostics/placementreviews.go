package diagnostics

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// placementReviews answers which nodes pods would get: those that leave theirs, those that wait, and copies.
type placementReviews struct {
	reviewer   PlacementReviewer
	authorizer authorizer.Authorizer
}

// New returns an empty question.
func (*placementReviews) New() runtime.Object { return &diagnosticsv1alpha1.PlacementReview{} }

// Destroy does nothing: there is no storage.
func (*placementReviews) Destroy() {}

// NamespaceScoped is false: the pods may be of several namespaces.
func (*placementReviews) NamespaceScoped() bool { return false }

// GetSingularName is the resource's name for one object.
func (*placementReviews) GetSingularName() string { return "placementreview" }

// Create answers a question of a caller with permission to get any node and any pod: the reasons for which a node refuses a pod may name
// other pods of that node.
func (p *placementReviews) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := object.(*diagnosticsv1alpha1.PlacementReview)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a PlacementReview: %T", object))
	}
	nameAfter(question, "")
	question.Status = diagnosticsv1alpha1.PlacementReviewStatus{}
	if errs := diagnosticsv1alpha1.ValidatePlacementReview(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(reviewKind, question.Name, errs)
	}
	if err := admit(ctx, question, check); err != nil {
		return nil, err
	}
	for _, resource := range []string{"nodes", "pods"} {
		if err := requireGet(ctx, p.authorizer, subject{resource: corev1.SchemeGroupVersion.WithResource(resource)}); err != nil {
			return nil, err
		}
	}
	answer, err := p.reviewer.ReviewPlacements(ctx, question)
	if err != nil {
		return nil, statusOf(err)
	}
	question.Status = answer.Status
	return question, nil
}

// ConvertToTable renders the answer as a row for each pod - the pod, the node that it leaves, the one that it would get, and why - and one
// for the copies of each pod, with the number of nodes that take them.
func (*placementReviews) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	review, ok := object.(*diagnosticsv1alpha1.PlacementReview)
	if !ok {
		return nil, fmt.Errorf("not a PlacementReview: %T", object)
	}
	columns := []metav1.TableColumnDefinition{
		nameColumn(),
		{Name: "Verdict", Type: "string", Description: "Whether a node takes the pod."},
		{Name: "From", Type: "string", Description: "The node that the pod leaves."},
		{Name: "To", Type: "string", Description: "The node that the pod would get."},
		summaryColumn(),
	}
	rows := make([]metav1.TableRow, 0, len(review.Status.Placements)+len(review.Status.Copies))
	for _, placement := range review.Status.Placements {
		rows = append(rows, answerRow(review, placement.Namespace+"/"+placement.Name, string(placement.Verdict), placement.From, placement.Node, placement.Summary))
	}
	for _, copies := range review.Status.Copies {
		name, to := fmt.Sprintf("%s/%s x%d", copies.Namespace, copies.Like, copies.Asked), fmt.Sprintf("%d nodes", len(copies.Nodes))
		rows = append(rows, answerRow(review, name, string(copies.Verdict), "", to, copies.Summary))
	}
	return answerTable(options, columns, rows...), nil
}
