package quotaprofile

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
)

// Confine returns the node affinity of a pod of the tree with the ID: what it required before, and to be a node of a profile of
// the tree. It reports whether that is more than before; it is not when no profile has the tree. The pod is not modified.
func Confine(pod *corev1.Pod, treeID string, profiles []quotav1alpha1.ElasticQuotaProfile) (*corev1.Affinity, bool) {
	var choices [][]corev1.NodeSelectorRequirement
	for i := range profiles {
		if treeID == "" || TreeID(&profiles[i]) != treeID || profiles[i].Spec.NodeSelector == nil {
			continue
		}
		choices = append(choices, requirements(profiles[i].Spec.NodeSelector))
	}
	if len(choices) == 0 {
		return pod.Spec.Affinity, false
	}
	affinity := pod.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	terms := []corev1.NodeSelectorTerm{{}}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required != nil {
		terms = slices.DeleteFunc(required.NodeSelectorTerms, empty)
	}
	confined := everywhere(terms, choices)
	if len(confined) == 0 {
		return pod.Spec.Affinity, false
	}
	affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: confined}
	return affinity, !equality.Semantic.DeepEqual(affinity, pod.Spec.Affinity)
}

// everywhere combines each term with each choice. A term that has one of the choices already stays as it is.
func everywhere(terms []corev1.NodeSelectorTerm, choices [][]corev1.NodeSelectorRequirement) []corev1.NodeSelectorTerm {
	var combined []corev1.NodeSelectorTerm
	for _, term := range terms {
		if slices.ContainsFunc(choices, func(choice []corev1.NodeSelectorRequirement) bool { return len(lacking(term, choice)) == 0 }) {
			if !empty(term) {
				combined = append(combined, term)
				continue
			}
			return nil // a profile of all nodes leaves a pod without requirements as it is
		}
		for _, choice := range choices {
			more := term.DeepCopy()
			more.MatchExpressions = append(more.MatchExpressions, lacking(term, choice)...)
			combined = append(combined, *more)
		}
	}
	return combined
}

// empty terms select no node.
func empty(term corev1.NodeSelectorTerm) bool {
	return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
}

func lacking(term corev1.NodeSelectorTerm, choice []corev1.NodeSelectorRequirement) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	for _, wanted := range choice {
		if !slices.ContainsFunc(term.MatchExpressions, func(has corev1.NodeSelectorRequirement) bool { return equality.Semantic.DeepEqual(has, wanted) }) {
			out = append(out, wanted)
		}
	}
	return out
}

// requirements are a label selector as node affinity says it, in a fixed order.
func requirements(selector *metav1.LabelSelector) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	for key, value := range selector.MatchLabels {
		out = append(out, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	slices.SortFunc(out, func(a, b corev1.NodeSelectorRequirement) int { return strings.Compare(a.Key, b.Key) })
	for _, expression := range selector.MatchExpressions {
		out = append(out, corev1.NodeSelectorRequirement{Key: expression.Key, Operator: corev1.NodeSelectorOperator(expression.Operator), Values: expression.Values})
	}
	return out
}
