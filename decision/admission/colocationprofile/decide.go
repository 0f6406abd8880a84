package colocationprofile

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// Result is the pod as it should be created.
type Result struct {
	// Pod is a copy of the input's pod with the changes.
	Pod *corev1.Pod
	// Trace says what changed and why.
	Trace Trace
}

// Decide applies the profiles to a pod: all are matched with the pod as it came, then those that match apply in the order
// of their names, then cpu and memory of a batch or mid pod that a profile applied to become batch or mid resources, then
// the requests of a prod pod follow from its limits where these are overcommitted, and at last the batch and mid resources of the containers are repeated in an annotation. A profile that selects the pod and
// names a PriorityClass that does not exist is an error, as it is for a pod that names one itself.
func Decide(in Input) (Result, error) {
	pod := in.Pod.DeepCopy()
	out := Result{Pod: pod}
	applied, err := applyProfiles(&in, pod, &out.Trace)
	if err != nil {
		return Result{}, err
	}
	out.Trace.Tier = string(Tier(pod))
	out.Trace.Resources = whyNotTranslated(&in, applied, out.Trace.Tier)
	if out.Trace.Resources == "" {
		out.Trace.Resources = fmt.Sprintf("translated to %s", out.Trace.Tier)
		t := translation{tier: extension.PriorityClass(out.Trace.Tier), trace: &out.Trace}
		t.pod(pod, in.Options.TranslateOverhead)
	}
	if out.Trace.Overcommit, err = overcommitProd(&in, pod, applied); err != nil {
		return Result{}, err
	}
	if !in.Options.SkipResourceSpec && !slices.Contains(in.Options.ExemptNamespaces, in.Namespace) {
		if err := repeatResources(pod); err != nil {
			return Result{}, err
		}
	}
	return out, nil
}

// applyProfiles applies the profiles that select the pod, and returns those that did.
func applyProfiles(in *Input, pod *corev1.Pod, trace *Trace) ([]*configv1alpha1.ClusterColocationProfile, error) {
	var applied []*configv1alpha1.ClusterColocationProfile
	for _, profile := range ByName(in.Profiles) {
		entry := ProfileTrace{Name: profile.Name}
		entry.Outcome, entry.Reason = selects(profile, in)
		if entry.Outcome == Applied {
			entry.Outcome, entry.Reason = draw(profile, in.Chance)
		}
		if entry.Outcome == Applied {
			changes, err := apply(profile, pod, in.PriorityClasses)
			if err != nil {
				return nil, err
			}
			entry.Changes = changes
			applied = append(applied, profile)
		}
		trace.Profiles = append(trace.Profiles, entry)
	}
	return applied, nil
}

func apply(profile *configv1alpha1.ClusterColocationProfile, pod *corev1.Pod, classes map[string]PriorityClass) ([]Change, error) {
	steps, err := Steps(profile, classes)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, step := range steps {
		change, err := step.carryOut(pod)
		if err != nil {
			return nil, fmt.Errorf("colocation profile %q: %w", profile.Name, err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// whyNotTranslated is empty when the pod's resources are to be translated.
func whyNotTranslated(in *Input, applied []*configv1alpha1.ClusterColocationProfile, tier string) string {
	switch {
	case len(applied) == 0:
		return "no profile applied"
	case in.Options.SkipResources:
		return "resources are not translated in this cluster"
	case tier == "":
		return "the pod is neither koord-batch nor koord-mid"
	}
	for _, profile := range applied {
		if SkipsResources(profile) {
			return fmt.Sprintf("profile %q leaves resources alone", profile.Name)
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
