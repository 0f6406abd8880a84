package colocationprofile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/prodovercommit"
)

// overcommitProd computes the requests of a prod pod from its limits, by the factor of the last profile that applied and has
// one, else by that of the namespace.
func overcommitProd(in *Input, pod *corev1.Pod, applied []*configv1alpha1.ClusterColocationProfile, trace *Trace) error {
	if slices.Contains(in.Options.ExemptNamespaces, in.Namespace) || in.Options.SkipResources {
		return nil
	}
	factor, source := in.NamespaceLabels[extension.ProdOvercommitFactor], "namespace/"+in.Namespace
	for _, profile := range applied {
		if own := profile.Annotations[extension.ProdOvercommitFactor]; own != "" {
			factor, source = own, "profile/"+profile.Name
		}
	}
	if factor == "" {
		return nil
	}
	return prodovercommit.Apply(pod, factor, source, trace.overcommit())
}
