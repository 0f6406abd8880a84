package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is scheduling.sigs.k8s.io/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "scheduling.sigs.k8s.io", Version: "v1alpha1"}

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
		&ElasticQuota{}, &ElasticQuotaList{},
		&PodGroup{}, &PodGroupList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
