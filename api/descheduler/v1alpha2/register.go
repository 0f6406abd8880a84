package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is descheduler/v1alpha2.
var GroupVersion = schema.GroupVersion{Group: "descheduler", Version: "v1alpha2"}

// Kind of the configuration.
const Kind = "DeschedulerConfiguration"

// SchemeBuilder collects the functions that add this group to a scheme.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the kinds of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &DeschedulerConfiguration{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
