package diagnostics

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

// ObjectPath is the path below which objects of plugins are explained, by their kind in lower case. Each takes an object with nothing but its
// name and namespace by POST. The answer is in full: a caller that may ask sees all that it is made of.
const ObjectPath = "/explain/"

// ObjectExplainer explains an object of a plugin. One that does not exist is a NotFound error.
type ObjectExplainer = func(ctx context.Context, namespace, name string) (any, error)

// objectExplanations answers questions about objects of one kind.
type objectExplanations struct {
	resource schema.GroupResource
	explain  ObjectExplainer
}

// objectResource names what is asked about a kind in errors.
func objectResource(kind string) schema.GroupResource {
	return diagnosticsv1alpha1.Resource(kind + "explanations")
}

func (o *objectExplanations) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	question := &metav1.PartialObjectMetadata{}
	if err := reviewhttp.Decode(w, r, o.resource, question); err != nil {
		return nil, err
	}
	var errs field.ErrorList
	for _, problem := range validation.ValidateNamespaceName(question.Namespace, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "namespace"), question.Namespace, problem))
	}
	for _, problem := range validation.NameIsDNSSubdomain(question.Name, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), question.Name, problem))
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: o.resource.Group, Kind: question.Kind}, question.Name, errs)
	}
	return o.explain(r.Context(), question.Namespace, question.Name)
}
