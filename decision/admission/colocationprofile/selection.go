package colocationprofile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
)

// ByName returns pointers to the profiles in the order in which they apply.
func ByName(profiles []configv1alpha1.ClusterColocationProfile) []*configv1alpha1.ClusterColocationProfile {
	ordered := make([]*configv1alpha1.ClusterColocationProfile, len(profiles))
	for i := range profiles {
		ordered[i] = &profiles[i]
	}
	slices.SortStableFunc(ordered, func(a, b *configv1alpha1.ClusterColocationProfile) int { return strings.Compare(a.Name, b.Name) })
	return ordered
}

// Percent is the probability of a profile, 0 to 100; 100 when unset. Anything else is an error.
func Percent(probability *intstr.IntOrString) (int, error) {
	if probability == nil {
		return 100, nil
	}
	percent := probability.IntValue()
	if probability.Type == intstr.String {
		digits, ok := strings.CutSuffix(probability.StrVal, "%")
		parsed, err := strconv.Atoi(digits)
		if !ok || err != nil {
			return 0, fmt.Errorf("probability %.40q is neither an integer nor a percentage", probability.StrVal)
		}
		percent = parsed
	}
	if percent < 0 || percent > 100 {
		return 0, fmt.Errorf("probability %s is not between 0 and 100 percent", probability.String())
	}
	return percent, nil
}

// Selectors of a profile. An unset selector selects everything.
type Selectors struct {
	Namespace, Pod labels.Requirements
}

// SelectorsOf reads the selectors of a profile. A selector that cannot be read is an error, because taking it for one that
// selects everything would change pods that the profile is not meant for.
func SelectorsOf(profile *configv1alpha1.ClusterColocationProfile) (Selectors, error) {
	namespace, err := requirements(profile.Spec.NamespaceSelector)
	if err != nil {
		return Selectors{}, fmt.Errorf("read namespaceSelector: %w", err)
	}
	pod, err := requirements(profile.Spec.Selector)
	if err != nil {
		return Selectors{}, fmt.Errorf("read selector: %w", err)
	}
	return Selectors{Namespace: namespace, Pod: pod}, nil
}

func requirements(selector *metav1.LabelSelector) (labels.Requirements, error) {
	if selector == nil {
		return nil, nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	list, _ := parsed.Requirements()
	return list, nil
}

// selects reports whether a profile selects the pod, and otherwise which requirement failed.
func selects(profile *configv1alpha1.ClusterColocationProfile, in *Input) (Outcome, string) {
	if slices.Contains(in.Options.ExemptNamespaces, in.Namespace) {
		return Exempt, fmt.Sprintf("pods in namespace %q are never changed", in.Namespace)
	}
	selectors, err := SelectorsOf(profile)
	if err != nil {
		return Invalid, err.Error()
	}
	if reason := unmet(selectors.Namespace, in.NamespaceLabels, "namespace"); reason != "" {
		return NotSelected, reason
	}
	if reason := unmet(selectors.Pod, in.Pod.Labels, "pod"); reason != "" {
		return NotSelected, reason
	}
	return Applied, ""
}

// unmet describes the first requirement that a set of labels does not meet; empty when it meets all.
func unmet(list labels.Requirements, set map[string]string, whose string) string {
	for i := range list {
		if list[i].Matches(labels.Set(set)) {
			continue
		}
		if value, ok := set[list[i].Key()]; ok {
			return fmt.Sprintf("%s label %s is %q, but the selector requires %s", whose, list[i].Key(), value, list[i].String())
		}
		return fmt.Sprintf("%s has no label %s, but the selector requires %s", whose, list[i].Key(), list[i].String())
	}
	return ""
}

// draw decides whether a selected profile applies.
func draw(profile *configv1alpha1.ClusterColocationProfile, chance func(string) int) (Outcome, string) {
	percent, err := Percent(profile.Spec.Probability)
	switch {
	case err != nil:
		return Invalid, err.Error()
	case percent == 100:
		return Applied, ""
	case percent == 0 || chance == nil:
		return NotDrawn, fmt.Sprintf("its probability is %d%%", percent)
	}
	if drawn := chance(profile.Name); drawn >= percent {
		return NotDrawn, fmt.Sprintf("its probability is %d%%, and %d was drawn", percent, drawn)
	}
	return Applied, ""
}
