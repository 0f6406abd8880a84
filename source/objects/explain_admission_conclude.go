package objects

import (
	"fmt"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// Conclude validates the pod and completes the answer. User says by whose permission the pod may be in its quota; undecided, why that is
// not known.
func (a *Admission) Conclude(user podvalidation.User, undecided string) *diagnosticsv1alpha1.AdmissionExplanation {
	if a.quota != nil {
		a.quota.User = user
	}
	if !a.exempt() {
		a.validate(undecided)
	}
	a.describe()
	if why := a.in.Unregistered; why != "" {
		a.note(finding.NotInstalled, diagnosticsv1alpha1.SeverityWarning, why)
	}
	if q := a.out.Quota; q != nil && q.Fit == diagnosticsv1alpha1.QuotaExceeded {
		a.note(finding.Code(q.Code), diagnosticsv1alpha1.SeverityWarning, "the pod would wait for its quota: "+q.Message)
	}
	a.judge()
	return a.out
}

func (a *Admission) validate(undecided string) {
	input := podvalidation.Input{Pod: a.after, Quota: a.quota, Options: a.in.Settings.Validation}
	for _, f := range podvalidation.Validate(input) {
		switch {
		case a.in.Unread.Quotas && f.Code == finding.AdmissionQuotaMissing:
			// It may be one of those that could not be read.
		case !f.Refused:
			a.note(f.Code, diagnosticsv1alpha1.SeverityWarning, f.Field+": "+f.Message)
		case f.Code == finding.AdmissionQuotaForeign && undecided != "":
			a.unsureQuota = append(a.unsureQuota, undecided)
			a.note(f.Code, diagnosticsv1alpha1.SeverityWarning, f.Field+": "+f.Message+"; "+undecided)
		default:
			a.refuse(f.Code, f.Field+": "+f.Message)
		}
	}
}

func (a *Admission) refuse(code finding.Code, message string) {
	a.note(code, diagnosticsv1alpha1.SeverityError, message)
}

func (a *Admission) note(code finding.Code, severity diagnosticsv1alpha1.Severity, message string) {
	note := diagnosticsv1alpha1.Finding{Code: string(code), Severity: severity, Message: message}
	if entry, known := finding.Lookup(code); known {
		note.Hint = entry.Fix.English
	}
	a.out.Findings = append(a.out.Findings, note)
}

// describe says what the pod is after admission.
func (a *Admission) describe() {
	pod := a.after
	a.out.Pod = diagnosticsv1alpha1.AdmittedPod{
		QoSClass: string(extension.PodQoSClassWithDefault(pod)), PriorityClass: string(extension.PodPriorityClassWithDefault(pod)),
		PriorityClassName: pod.Spec.PriorityClassName, Priority: pod.Spec.Priority, SchedulerName: pod.Spec.SchedulerName, Resources: a.trace.Resources,
	}
	if a.trace.Overcommit != nil && a.trace.Overcommit.Reason != "" {
		a.out.Pod.Resources += "; not overcommitted: " + a.trace.Overcommit.Reason
	}
}

// judge is the verdict. What is rejected for certain is, whatever its quota says.
func (a *Admission) judge() {
	out := a.out
	known, message := a.known()
	unsure := slices.Concat(a.unsure, a.unsureQuota)
	if len(unsure) == 0 || len(a.unsure) == 0 && known == diagnosticsv1alpha1.AdmissionRefused {
		out.Verdict, out.Message = known, message
		return
	}
	out.Verdict, out.Message = diagnosticsv1alpha1.AdmissionUnknown, strings.Join(unsure, "; ")
	if len(a.unsure) == 0 {
		out.Message += fmt.Sprintf("; otherwise %s: %s", known, message)
	}
}

// known is the verdict as far as everything could be read.
func (a *Admission) known() (diagnosticsv1alpha1.AdmissionVerdict, string) {
	var refusals []string
	for i := range a.out.Findings {
		if f := &a.out.Findings[i]; f.Severity == diagnosticsv1alpha1.SeverityError {
			refusals = append(refusals, fmt.Sprintf("%s %s", f.Code, finding.Code(f.Code).Name()))
		}
	}
	if len(refusals) > 0 {
		return diagnosticsv1alpha1.AdmissionRefused, strings.Join(refusals, ", ")
	}
	switch n := len(a.out.Changes); n {
	case 0:
		return diagnosticsv1alpha1.AdmissionAdmitted, "no field changes"
	case 1:
		return diagnosticsv1alpha1.AdmissionAdmitted, "1 field changes"
	default:
		return diagnosticsv1alpha1.AdmissionAdmitted, fmt.Sprintf("%d fields change", n)
	}
}
