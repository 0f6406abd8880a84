package colocationprofile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/prodovercommit"
)

// Outcome of one profile, one field or one amount.
type Outcome string

const (
	// Applied profiles changed the pod or found it as they would have made it.
	Applied Outcome = "Applied"
	// NotSelected profiles do not select the pod or its namespace.
	NotSelected Outcome = "NotSelected"
	// NotDrawn profiles select the pod, but their probability spared it.
	NotDrawn Outcome = "NotDrawn"
	// Invalid profiles cannot be applied to any pod.
	Invalid Outcome = "Invalid"
	// Exempt pods lie in a namespace that no profile may change.
	Exempt Outcome = "Exempt"
	// Changed fields and amounts have another value than before.
	Changed Outcome = "Changed"
	// Unchanged fields already had the value.
	Unchanged Outcome = "Unchanged"
	// Left fields and amounts could not be changed; the reason says why.
	Left Outcome = "Left"
)

// Trace says what happened to a pod and why. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Profiles lists every profile by name, in the order in which they apply.
	Profiles []ProfileTrace `json:"profiles,omitempty"`
	// Tier is koord-batch or koord-mid when the pod's resources belong there; empty otherwise.
	Tier string `json:"tier,omitempty"`
	// Resources says what became of the pod's resources as a whole.
	Resources string `json:"resources"`
	// Amounts lists every amount that was moved to the tier, and those that were left.
	Amounts []Change `json:"amounts,omitempty"`
	// Overcommit says which requests of a prod pod follow from its limits; nil when no factor is in force.
	Overcommit *prodovercommit.Trace `json:"overcommit,omitempty"`
}

// ProfileTrace is what became of one profile.
type ProfileTrace struct {
	// Name of the profile.
	Name string `json:"name"`
	// Outcome is Applied, NotSelected, NotDrawn, Invalid or Exempt.
	Outcome Outcome `json:"outcome"`
	// Reason says why the profile did not apply; empty when it did.
	Reason string `json:"reason,omitempty"`
	// Unmet are all terms that kept the profile from applying, those of the namespace first.
	Unmet []Unmet `json:"unmet,omitempty"`
	// Changes lists the fields in the order in which they were set.
	Changes []Change `json:"changes,omitempty"`
}

// Term is the part of a profile that selects pods.
type Term string

const (
	// TermNamespace is spec.namespaceSelector, which the labels of the namespace have to meet.
	TermNamespace Term = "namespaceSelector"
	// TermPod is spec.selector, which the labels of the pod have to meet.
	TermPod Term = "selector"
	// TermProbability is spec.probability.
	TermProbability Term = "probability"
)

// Unmet is one requirement that is not met.
type Unmet struct {
	// Term that has the requirement.
	Term Term `json:"term"`
	// Requirement in the syntax of kubectl -l, or the percentage of a probability.
	Requirement string `json:"requirement"`
	// Key of the label that is required; empty for a probability.
	Key string `json:"key,omitempty"`
	// Value that the label has; nil where there is no such label.
	Value *string `json:"value,omitempty"`
}

// Change is what became of one field.
type Change struct {
	// Field is its path in the pod.
	Field string `json:"field"`
	// Outcome is Changed, Unchanged or Left.
	Outcome Outcome `json:"outcome"`
	// Before and After are the values; empty when the field is absent.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Reason says why a field was left, or where an amount came from.
	Reason string `json:"reason,omitempty"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

func (t *Trace) profile(entry ProfileTrace) {
	if t != nil {
		t.Profiles = append(t.Profiles, entry)
	}
}

// unmet records why a profile does not apply.
func (t *Trace) unmet(entry *ProfileTrace, profile *configv1alpha1.ClusterColocationProfile, in *Input) {
	if t == nil {
		return
	}
	switch entry.Outcome {
	case NotSelected:
		selectors, err := SelectorsOf(profile)
		if err != nil {
			return // such a profile is Invalid
		}
		entry.Unmet = append(unmetTerms(TermNamespace, selectors.Namespace, in.NamespaceLabels), unmetTerms(TermPod, selectors.Pod, in.Pod.Labels)...)
	case NotDrawn:
		percent, _ := Percent(profile.Spec.Probability) // a profile whose probability cannot be read is Invalid
		entry.Unmet = []Unmet{{Term: TermProbability, Requirement: fmt.Sprintf("%d%%", percent)}}
	}
}

func unmetTerms(term Term, list labels.Requirements, set map[string]string) []Unmet {
	var out []Unmet
	for _, requirement := range failing(list, set) {
		unmet := Unmet{Term: term, Requirement: requirement.String(), Key: requirement.Key()}
		if value, has := set[requirement.Key()]; has {
			unmet.Value = &value
		}
		out = append(out, unmet)
	}
	return out
}

// failed records a profile that selects the pod and cannot be applied.
func (t *Trace) failed(entry ProfileTrace, err error) {
	entry.Outcome, entry.Reason = Invalid, err.Error()
	t.profile(entry)
}

// changes is where the changes of a profile go.
func (t *Trace) changes(entry *ProfileTrace) *[]Change {
	if t == nil {
		return nil
	}
	return &entry.Changes
}

// translated records the tier, and why resources were not moved to it; empty when they are.
func (t *Trace) translated(tier extension.PriorityClass, why string) {
	if t == nil {
		return
	}
	t.Tier, t.Resources = string(tier), why
	if why == "" {
		t.Resources = fmt.Sprintf("translated to %s", tier)
	}
}

func (t *Trace) amount(path string, name corev1.ResourceName, change Change) {
	if t != nil {
		change.Field = fmt.Sprintf("%s[%s]", path, name)
		t.Amounts = append(t.Amounts, change)
	}
}

// overcommit is the part for prodovercommit.Apply.
func (t *Trace) overcommit() *prodovercommit.Trace {
	if t == nil {
		return nil
	}
	t.Overcommit = &prodovercommit.Trace{}
	return t.Overcommit
}

// maintained adds what profiles left of a pod that exists.
func (t *Trace) maintained(left map[string][]Change) {
	if t == nil {
		return
	}
	for i := range t.Profiles {
		if entry := &t.Profiles[i]; entry.Outcome == Applied {
			entry.Changes = append(entry.Changes, left[entry.Name]...)
		}
	}
	t.Resources = "resources of an existing pod are not translated"
}
