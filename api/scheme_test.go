package api_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// newScheme returns a scheme with every stored kind of the module.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		analysisv1alpha1.AddToScheme, configv1alpha1.AddToScheme, quotav1alpha1.AddToScheme,
		schedulingv1alpha1.AddToScheme, schedulingsigsv1alpha1.AddToScheme, slov1alpha1.AddToScheme,
		topologyv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}
