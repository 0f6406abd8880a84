package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

// paths are the names of the API for who applies a profile.
var paths = map[policy.Path]diagnosticsv1alpha1.AdmissionPath{
	policy.ByPolicy: diagnosticsv1alpha1.AdmissionByPolicy, policy.ByWebhook: diagnosticsv1alpha1.AdmissionByWebhook, policy.ByNone: diagnosticsv1alpha1.AdmissionByNone,
}

// path says who changes the pod.
func (a *Admission) path(compiled policy.Compilation, namespaceLabels map[string]string) {
	out := a.out
	path, reason := compiled.PathOf(a.before, namespaceLabels)
	out.AppliedBy, out.AppliedReason = paths[path], reason
	switch {
	case a.exempt():
		out.AppliedBy, out.AppliedReason = diagnosticsv1alpha1.AdmissionByNone, fmt.Sprintf("pods in namespace %q are never changed", a.before.Namespace)
	case a.in.Unread.Profiles:
		out.AppliedBy, out.AppliedReason = diagnosticsv1alpha1.AdmissionPathUnknown, "the ClusterColocationProfiles could not be read"
	case a.in.Unread.PriorityClasses && path != policy.ByNone:
		out.AppliedBy, out.AppliedReason = diagnosticsv1alpha1.AdmissionPathUnknown, "the PriorityClasses could not be read"
	case path == policy.ByPolicy && a.in.Unread.Policy:
		out.AppliedBy, out.AppliedReason = diagnosticsv1alpha1.AdmissionPathUnknown, "the MutatingAdmissionPolicy could not be read; without it, the webhook applies them"
	}
}

// anyProbable is true where a profile selects the pod and applies to a part of such pods.
func (a *Admission) anyProbable(profiles []configv1alpha1.ClusterColocationProfile) bool {
	return slices.ContainsFunc(a.trace.Profiles, func(t colocationprofile.ProfileTrace) bool {
		return t.Outcome == colocationprofile.NotDrawn && percentOf(profiles, t.Name) > 0
	})
}

func percentOf(profiles []configv1alpha1.ClusterColocationProfile, name string) int {
	for i := range profiles {
		if profiles[i].Name == name {
			percent, _ := colocationprofile.Percent(profiles[i].Spec.Probability) // one that cannot be read is Invalid
			return percent
		}
	}
	return 0
}

// profiles lists what each profile does; drawn is the trace of a pod that every probability takes.
func (a *Admission) profiles(compiled policy.Compilation, drawn colocationprofile.Trace, unmatched []string) {
	for i := range a.trace.Profiles {
		t := &a.trace.Profiles[i]
		row := diagnosticsv1alpha1.AdmissionProfile{Name: t.Name, Outcome: outcomes[t.Outcome], Reason: t.Reason, Changes: changesOf(t)}
		for _, unmet := range t.Unmet {
			row.Unmet = append(row.Unmet, diagnosticsv1alpha1.AdmissionUnmet{Term: string(unmet.Term), Requirement: unmet.Requirement, Key: unmet.Key, Value: unmet.Value})
		}
		if percent := percentOf(a.in.Profiles, t.Name); t.Outcome == colocationprofile.NotDrawn && percent > 0 {
			row.Outcome, row.Reason = diagnosticsv1alpha1.ProfileProbable, fmt.Sprintf("it selects the pod and applies to %d%% of such pods, by chance", percent)
			if i < len(drawn.Profiles) {
				row.Changes = changesOf(&drawn.Profiles[i])
			}
		}
		if a.in.Unread.PriorityClasses && missesClass(a.in.Profiles, t) {
			row.Outcome, row.Reason = diagnosticsv1alpha1.ProfileUnknown, "it selects the pod; its PriorityClass could not be read"
		}
		a.applier(&row, compiled)
		a.out.Profiles = append(a.out.Profiles, row)
	}
	for _, name := range unmatched {
		a.out.Profiles = append(a.out.Profiles, diagnosticsv1alpha1.AdmissionProfile{
			Name: name, Outcome: diagnosticsv1alpha1.ProfileUnknown, Reason: fmt.Sprintf("it selects namespaces by labels, and those of namespace %s could not be read", a.before.Namespace),
		})
	}
	slices.SortStableFunc(a.out.Profiles, func(x, y diagnosticsv1alpha1.AdmissionProfile) int { return strings.Compare(x.Name, y.Name) })
}

// missesClass is true for a profile that cannot be applied because its PriorityClass is not known.
func missesClass(profiles []configv1alpha1.ClusterColocationProfile, t *colocationprofile.ProfileTrace) bool {
	return slices.ContainsFunc(profiles, func(p configv1alpha1.ClusterColocationProfile) bool {
		missing := colocationprofile.MissingPriorityClassError{Profile: p.Name, Class: p.Spec.PriorityClassName}
		return p.Name == t.Name && t.Reason == missing.Error()
	})
}

// applier says of a profile that applies who does so.
func (a *Admission) applier(row *diagnosticsv1alpha1.AdmissionProfile, compiled policy.Compilation) {
	if row.Outcome != diagnosticsv1alpha1.ProfileApplied && row.Outcome != diagnosticsv1alpha1.ProfileProbable {
		return
	}
	// One profile that needs the webhook leaves the whole pod to it.
	row.AppliedBy = a.out.AppliedBy
	for i := range compiled.Verdicts {
		if v := &compiled.Verdicts[i]; v.Profile == row.Name {
			row.AppliedReason = v.Reason
		}
	}
}

var outcomes = map[colocationprofile.Outcome]diagnosticsv1alpha1.AdmissionOutcome{
	colocationprofile.Applied: diagnosticsv1alpha1.ProfileApplied, colocationprofile.NotSelected: diagnosticsv1alpha1.ProfileNotSelected,
	colocationprofile.NotDrawn: diagnosticsv1alpha1.ProfileNever, colocationprofile.Invalid: diagnosticsv1alpha1.ProfileInvalid,
	colocationprofile.Exempt: diagnosticsv1alpha1.ProfileExempt,
}

// changesOf are the fields that a profile sets, those that had the value already among them.
func changesOf(t *colocationprofile.ProfileTrace) []diagnosticsv1alpha1.AdmissionChange {
	var out []diagnosticsv1alpha1.AdmissionChange
	for _, c := range t.Changes {
		out = append(out, diagnosticsv1alpha1.AdmissionChange{Field: c.Field, Before: present(c.Before), After: present(c.After), Reason: cmp.Or(c.Reason, unchanged(c))})
	}
	return out
}

func unchanged(c colocationprofile.Change) string {
	if c.Outcome == colocationprofile.Unchanged {
		return "unchanged"
	}
	return ""
}

func present(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

// origins say what changed a field, and why, by the path of the field.
type origins struct {
	by, reason map[string]string
	// patches are the profiles that merged a patch, which may have changed any field.
	patches []string
}

func originsOf(t *colocationprofile.Trace) origins {
	o := origins{by: map[string]string{}, reason: map[string]string{}}
	for _, profile := range t.Profiles {
		for _, c := range profile.Changes {
			switch {
			case c.Field == colocationprofile.PatchField && c.Outcome == colocationprofile.Changed:
				o.patches = append(o.patches, profile.Name)
			case c.Outcome == colocationprofile.Changed:
				o.by[c.Field], o.reason[c.Field] = "profile "+profile.Name, c.Reason
			}
		}
	}
	for _, c := range t.Amounts {
		if c.Outcome == colocationprofile.Changed {
			o.by[c.Field], o.reason[c.Field] = "translated to "+t.Tier, c.Reason
		}
	}
	if t.Overcommit != nil {
		for _, amount := range t.Overcommit.Amounts {
			o.by[amount.Field], o.reason[amount.Field] = "overcommit factor of "+t.Overcommit.Source, "limit "+amount.Limit
		}
		o.by[annotation(extension.AnnotationProdOvercommit)] = "overcommit factor of " + t.Overcommit.Source
	}
	return o
}

func annotation(key string) string {
	return colocationprofile.Field{Area: colocationprofile.Annotations, Key: key}.String()
}

// changes compares the pod before and after.
func (a *Admission) changes() error {
	changes, err := podChanges(a.before, a.after, nil)
	if err != nil {
		return err
	}
	from := originsOf(&a.trace)
	for i := range changes {
		c := &changes[i]
		c.By, c.Reason = from.by[c.Field], from.reason[c.Field]
		switch {
		case c.By != "":
		case a.trace.Tier != "" && c.After == nil && resourceField(c.Field):
			c.By = "translated to " + a.trace.Tier
		case c.Field == annotation(extension.AnnotationExtendedResourceSpec):
			c.By = "repeats the batch and mid resources"
		case len(from.patches) > 0:
			c.By = "patch of profile " + strings.Join(from.patches, ", ")
		}
	}
	a.out.Changes = changes
	return nil
}

// resourceField is true for requests and limits.
func resourceField(path string) bool {
	return strings.Contains(path, ".resources.") || strings.HasPrefix(path, "spec.overhead")
}
