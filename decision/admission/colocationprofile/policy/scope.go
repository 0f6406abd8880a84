package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Scope is the namespaces in which one webhook is asked, and about which pods.
type Scope struct {
	// Namespaces by their labels. The scopes of a compilation have no namespace in common, so that no pod is asked about
	// twice.
	Namespaces *metav1.LabelSelector
	// Condition is a CEL expression over object.
	Condition string
}

// maxScopes bounds the webhooks: with more, one webhook is asked in all namespaces by WebhookCondition.
const maxScopes = 16

// atom is a set of namespaces in which the same profiles hold.
type atom struct {
	requirements labels.Requirements
	// profiles are the indices of the verdicts whose namespace selector holds.
	profiles []int
}

// Scopes are the webhooks for pods: one for each set of namespaces in which the same profiles ask for the webhook, so that a
// profile which selects namespaces by their labels makes no pod of another namespace wait. A match condition knows no label
// of a namespace; a namespace selector does. Pods of the exempt namespaces are never asked about.
func (c Compilation) Scopes(exempt []string) []Scope {
	atoms := []atom{{}}
	for i := range c.Verdicts {
		if c.Verdicts[i].Path != ByWebhook {
			continue
		}
		if atoms = split(atoms, c.Verdicts[i].selectors.Namespace, i); len(atoms) > maxScopes {
			return []Scope{{OutsideOf(exempt), c.WebhookCondition}}
		}
	}
	scopes := make([]Scope, 0, len(atoms))
	for _, a := range atoms {
		scopes = append(scopes, Scope{a.selector(exempt), c.conditionIn(a)})
	}
	return scopes
}

// split divides atoms into the part that a selector selects, where the profile holds too, and the rest. The rest of a
// selector of several requirements has one piece for each requirement that is the first not to be met.
func split(atoms []atom, selector labels.Requirements, profile int) []atom {
	var out []atom
	for _, a := range atoms {
		met := a.requirements
		for _, requirement := range selector {
			if !implies(met, requirement) {
				if rest := negated(requirement); possible(met, rest) {
					out = append(out, atom{and(met, rest), a.profiles})
				}
				met = and(met, requirement)
			}
		}
		if possible(met, selector...) {
			out = append(out, atom{met, append(append([]int(nil), a.profiles...), profile)})
		}
	}
	return out
}

func and(met labels.Requirements, requirement labels.Requirement) labels.Requirements {
	return append(append(labels.Requirements(nil), met...), requirement)
}

// implies says whether a requirement is among those that are met already.
func implies(met labels.Requirements, requirement labels.Requirement) bool {
	for i := range met {
		if met[i].Equal(requirement) {
			return true
		}
	}
	return false
}

// possible says whether none of the requirements is the negation of one that is met. What it overlooks is a webhook that no
// namespace has.
func possible(met labels.Requirements, requirements ...labels.Requirement) bool {
	for _, requirement := range requirements {
		if implies(met, negated(requirement)) {
			return false
		}
	}
	return true
}

// negations of the operators of a label selector. NotIn is met by labels that are absent too, so each is exactly the other's
// opposite.
var negations = map[selection.Operator]selection.Operator{
	selection.In: selection.NotIn, selection.NotIn: selection.In, selection.Exists: selection.DoesNotExist, selection.DoesNotExist: selection.Exists,
	selection.Equals: selection.NotIn, selection.DoubleEquals: selection.NotIn, selection.NotEquals: selection.In,
}

func negated(requirement labels.Requirement) labels.Requirement {
	out, err := labels.NewRequirement(requirement.Key(), negations[requirement.Operator()], requirement.Values().List())
	if err != nil {
		return requirement // the opposite of a requirement has the same key and values, and is as valid
	}
	return *out
}

// selectorOperators are those of metav1.LabelSelector.
var selectorOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.In: metav1.LabelSelectorOpIn, selection.Equals: metav1.LabelSelectorOpIn, selection.DoubleEquals: metav1.LabelSelectorOpIn,
	selection.NotIn: metav1.LabelSelectorOpNotIn, selection.NotEquals: metav1.LabelSelectorOpNotIn,
	selection.Exists: metav1.LabelSelectorOpExists, selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

// selector is the namespaces of an atom but the exempt ones.
func (a atom) selector(exempt []string) *metav1.LabelSelector {
	out := OutsideOf(exempt)
	for i := range a.requirements {
		requirement := metav1.LabelSelectorRequirement{Key: a.requirements[i].Key(), Operator: selectorOperators[a.requirements[i].Operator()]}
		if values := a.requirements[i].Values().List(); len(values) > 0 {
			requirement.Values = values
		}
		out.MatchExpressions = append(out.MatchExpressions, requirement)
	}
	return out
}

// conditionIn is true for the pods of an atom's namespaces that the webhook has to see.
func (c Compilation) conditionIn(a atom) string {
	var here []string
	for _, i := range a.profiles {
		here = append(here, meets(c.Verdicts[i].selectors.Pod, podLabels))
	}
	if c.unserved {
		return anyOf([]string{anyOf(here), RequestsTier()})
	}
	return anyOf([]string{anyOf(here), fmt.Sprintf("(has(object.spec.resources) && %s)", relevant(c.Verdicts))})
}
