package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is diagnostics.koordinator.sh/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "diagnostics.koordinator.sh", Version: "v1alpha1"}

// SchemeBuilder collects the functions that add this group to a scheme.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the kinds of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

// Resource qualifies a resource name with this group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&PodExplanation{}, &PodExplanationList{},
		&NodeExplanation{}, &NodeExplanationList{}, &NodeExplanationBatch{},
		&PlacementReview{},
		&QuotaExplanation{},
		&NodeOverview{}, &NodeOverviewList{},
		&PodOverview{}, &PodOverviewList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
