package colocationprofile

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// Managed reports whether a profile is also to be applied to pods that exist already.
func Managed(profile *configv1alpha1.ClusterColocationProfile) bool {
	return profile.Labels[extension.LabelProfileControllerManaged] == "true"
}

// fixed are the labels by which a pod was scheduled and accounted for. They stay as they were when it was created.
var fixed = []string{
	extension.LabelPodQoS, extension.LabelPodPriority, extension.LabelPodPriorityClass, extension.LabelQuotaName,
	extension.LabelQuotaTreeID, extension.LabelQuotaPreemptible,
}

// Maintain applies the labels, the annotations and the mapped keys of managed profiles to a pod that exists; everything
// else of a profile is for new pods only. Whether a probability spares a pod follows from its UID, so that the answer is
// the same each time. The trace names the labels that were left because they are fixed; a nil one records nothing.
func Maintain(in Input, trace *Trace) (*corev1.Pod, error) {
	trace.begin()
	var managed []configv1alpha1.ClusterColocationProfile
	left := map[string][]Change{}
	for i := range in.Profiles {
		if !Managed(&in.Profiles[i]) {
			continue
		}
		profile, kept := maintained(&in.Profiles[i], in.Pod)
		managed = append(managed, profile)
		left[profile.Name] = kept
	}
	in.Profiles, in.Chance = managed, func(profile string) int { return stableChance(profile, in.Pod) }
	pod := in.Pod.DeepCopy()
	if _, err := applyProfiles(&in, pod, trace); err != nil {
		return nil, err
	}
	trace.maintained(left)
	return pod, nil
}

// maintained is what a profile does to a pod that exists, and the labels it leaves.
func maintained(profile *configv1alpha1.ClusterColocationProfile, pod *corev1.Pod) (configv1alpha1.ClusterColocationProfile, []Change) {
	out := configv1alpha1.ClusterColocationProfile{ObjectMeta: profile.ObjectMeta}
	out.Spec = configv1alpha1.ClusterColocationProfileSpec{
		NamespaceSelector: profile.Spec.NamespaceSelector, Selector: profile.Spec.Selector, Probability: profile.Spec.Probability,
		Labels: maps.Clone(profile.Spec.Labels), Annotations: profile.Spec.Annotations,
		LabelKeysMapping: maps.Clone(profile.Spec.LabelKeysMapping), AnnotationKeysMapping: profile.Spec.AnnotationKeysMapping,
	}
	var left []Change
	leave := func(key string) {
		value := pod.Labels[key]
		left = append(left, Change{Field: Field{Area: Labels, Key: key}.String(), Outcome: Left, Before: value, After: value, Reason: "immutable after the pod is created"})
	}
	for _, key := range fixed {
		if _, ok := out.Spec.Labels[key]; ok {
			delete(out.Spec.Labels, key)
			leave(key)
		}
	}
	maps.DeleteFunc(out.Spec.LabelKeysMapping, func(_, to string) bool {
		if slices.Contains(fixed, to) {
			leave(to)
			return true
		}
		return false
	})
	return out, left
}

// stableChance is a number from 0 to 99 that depends on profile and pod only.
func stableChance(profile string, pod *corev1.Pod) int {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%s/%s", profile, pod.UID) // writing to a hash cannot fail
	return int(hash.Sum64() % 100)
}
