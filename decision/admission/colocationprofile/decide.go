package colocationprofile

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// Decide returns a copy of the pod as it should be created: all profiles are matched with the pod as it came, then those that match apply in the order
// of their names, then cpu and memory of a batch or mid pod that a profile applied to become batch or mid resources, then
// the requests of a prod pod follow from its limits where these are overcommitted, and at last the batch and mid resources of the containers are repeated in an annotation. A profile that selects the pod and
// names a PriorityClass that does not exist is an error, as it is for a pod that names one itself. A nil trace records nothing.
func Decide(in Input, trace *Trace) (*corev1.Pod, error) {
	trace.begin()
	pod := in.Pod.DeepCopy()
	applied, err := applyProfiles(&in, pod, trace)
	if err != nil {
		return nil, err
	}
	tier := Tier(pod)
	why := whyNotTranslated(&in, applied, tier)
	trace.translated(tier, why)
	if why == "" {
		t := translation{tier: tier, trace: trace}
		t.pod(pod, in.Options.TranslateOverhead)
	}
	if err := overcommitProd(&in, pod, applied, trace); err != nil {
		return nil, err
	}
	if !in.Options.SkipResourceSpec && !slices.Contains(in.Options.ExemptNamespaces, in.Namespace) {
		if err := repeatResources(pod); err != nil {
			return nil, err
		}
	}
	return pod, nil
}

// applyProfiles applies the profiles that select the pod, and returns those that did. The first that cannot be applied is an error; a
// trace says of those after it too whether they select the pod.
func applyProfiles(in *Input, pod *corev1.Pod, trace *Trace) ([]*configv1alpha1.ClusterColocationProfile, error) {
	var applied []*configv1alpha1.ClusterColocationProfile
	var failure error
	for _, profile := range ByName(in.Profiles) {
		entry := ProfileTrace{Name: profile.Name}
		entry.Outcome, entry.Reason = selects(profile, in)
		if entry.Outcome == Applied {
			entry.Outcome, entry.Reason = draw(profile, in.Chance)
		}
		if entry.Outcome == Applied {
			if err := apply(profile, pod, in.PriorityClasses, trace.changes(&entry)); err != nil {
				if trace == nil {
					return nil, err
				}
				trace.failed(entry, err)
				failure = cmp.Or(failure, err)
				continue
			}
			applied = append(applied, profile)
		}
		trace.unmet(&entry, profile, in)
		trace.profile(entry)
	}
	return applied, failure
}

// apply does what a profile says; changes, where they are asked for, are the fields in order.
func apply(profile *configv1alpha1.ClusterColocationProfile, pod *corev1.Pod, classes map[string]PriorityClass, changes *[]Change) error {
	steps, err := Steps(profile, classes)
	if err != nil {
		return err
	}
	for _, step := range steps {
		change, err := step.carryOut(pod)
		if err != nil {
			return fmt.Errorf("colocation profile %q: %w", profile.Name, err)
		}
		if changes != nil {
			*changes = append(*changes, change)
		}
	}
	return nil
}

// whyNotTranslated is empty when the pod's resources are to be translated.
func whyNotTranslated(in *Input, applied []*configv1alpha1.ClusterColocationProfile, tier extension.PriorityClass) string {
	switch {
	case len(applied) == 0:
		return "no profile applied"
	case in.Options.SkipResources:
		return "resources are not translated in this cluster"
	case tier == extension.PriorityNone:
		return "the pod is neither koord-batch nor koord-mid"
	}
	for _, profile := range applied {
		if SkipsResources(profile) {
			return fmt.Sprintf("profile %q does not translate resources", profile.Name)
		}
	}
	return ""
}

// SkipsResources reports whether a profile leaves the resources of the pods it applies to alone: it carries the
// annotation AnnotationSkipUpdateResources with any value but "false".
func SkipsResources(profile *configv1alpha1.ClusterColocationProfile) bool {
	value, ok := profile.Annotations[extension.AnnotationSkipUpdateResources]
	return ok && value != "false"
}

// Tier is PriorityBatch or PriorityMid when the pod consumes batch or mid resources, PriorityNone otherwise. A pod whose
// priority lies in no band but whose label gives a QoS class belongs where that class does. The class that Kubernetes
// derives from resources does not count: it is BE only for pods without any.
func Tier(pod *corev1.Pod) extension.PriorityClass {
	class := extension.PodPriorityClass(pod)
	if class == extension.PriorityNone {
		class = extension.PriorityClassOfQoS(extension.PodQoSClass(pod))
	}
	if class != extension.PriorityBatch && class != extension.PriorityMid {
		return extension.PriorityNone
	}
	return class
}
