package diagnostics

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// newScheme knows the kinds the server speaks. There is one version and no other representation, so the served types
// are registered as the internal ones too, and no conversion exists that could go wrong.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := diagnosticsv1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the diagnostics kinds: %w", err)
	}
	internal := schema.GroupVersion{Group: diagnosticsv1alpha1.GroupVersion.Group, Version: runtime.APIVersionInternal}
	scheme.AddKnownTypes(internal, &diagnosticsv1alpha1.PodExplanation{}, &diagnosticsv1alpha1.NodeExplanation{},
		&diagnosticsv1alpha1.NodeOverview{}, &diagnosticsv1alpha1.NodeOverviewList{}, &diagnosticsv1alpha1.QuotaExplanation{})
	if err := scheme.SetVersionPriority(diagnosticsv1alpha1.GroupVersion); err != nil {
		return nil, fmt.Errorf("order the diagnostics versions: %w", err)
	}
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, unversioned)
	scheme.AddUnversionedTypes(unversioned,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme, nil
}

// textual offers JSON and YAML: the kinds have no protobuf, and a client that prefers it shall get what it accepts besides.
type textual struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes are those of the serializer but for protobuf.
func (t textual) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(t.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}
