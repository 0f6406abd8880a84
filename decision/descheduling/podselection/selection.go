package podselection

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Namespaces are those of the pods that may leave: the included ones, or all but the excluded ones.
type Namespaces struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// Selector selects pods that may leave.
type Selector struct {
	Name     string                `json:"name,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// Validate reports what is wrong with evictableNamespaces and podSelectors.
func Validate(namespaces *Namespaces, selectors []Selector) field.ErrorList {
	var errs field.ErrorList
	if namespaces != nil && len(namespaces.Include) > 0 && len(namespaces.Exclude) > 0 {
		errs = append(errs, field.Forbidden(field.NewPath("evictableNamespaces"), "only one of include and exclude can be set"))
	}
	for i := range selectors {
		errs = append(errs, ValidateLabels(field.NewPath("podSelectors").Index(i).Child("selector"), selectors[i].Selector)...)
	}
	return errs
}

// ValidateLabels reports what is wrong with a label selector; nil is right.
func ValidateLabels(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	if selector == nil {
		return nil
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// Labels compiles a label selector; nil selects everything.
func Labels(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

// Selection is the compiled arguments. The zero value selects every pod.
type Selection struct {
	include, exclude map[string]bool
	selectors        []labels.Selector
}

// Compile compiles the arguments. Selectors without labels are left out, as upstream does.
func Compile(namespaces *Namespaces, selectors []Selector) (Selection, error) {
	var out Selection
	if namespaces != nil {
		out.include, out.exclude = setOf(namespaces.Include), setOf(namespaces.Exclude)
	}
	for i := range selectors {
		if selectors[i].Selector == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(selectors[i].Selector)
		if err != nil {
			return out, fmt.Errorf("compile podSelectors[%d]: %w", i, err)
		}
		out.selectors = append(out.selectors, selector)
	}
	return out, nil
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// Refuses says why a pod may not leave; empty when it may.
func (s *Selection) Refuses(pod *corev1.Pod) string {
	switch {
	case len(s.include) > 0 && !s.include[pod.Namespace], s.exclude[pod.Namespace]:
		return "its namespace is not evictable"
	case !s.Matches(pod):
		return "no pod selector matches it"
	}
	return ""
}

// Matches is true for a pod that any of the selectors selects, and for every pod without selectors.
func (s *Selection) Matches(pod *corev1.Pod) bool {
	return len(s.selectors) == 0 || slices.ContainsFunc(s.selectors, func(selector labels.Selector) bool { return selector.Matches(labels.Set(pod.Labels)) })
}
