package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// Admission prints what admission would do with each pod.
func Admission(w io.Writer, list *diagnosticsv1alpha1.AdmissionExplanationList, o Options) error {
	for i := range list.Items {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := admissionOf(w, &list.Items[i], o); err != nil {
			return err
		}
	}
	return nil
}

func admissionOf(w io.Writer, e *diagnosticsv1alpha1.AdmissionExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(e.Namespace+"/"+e.Name))+o.Style.Clean(fmt.Sprintf("; %s, document %d", e.Object.Kind, e.Object.Document)))
	role := admissionRole(e.Verdict)
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.Style.Clean(string(e.Verdict))+": "+o.say(e.Message)))
	pod := admittedPod(&e.Pod)
	if e.Verdict == diagnosticsv1alpha1.AdmissionUnknown {
		pod = "as far as is known: " + pod
	}
	wrapped(&b, o, 2, o.say(pod))
	wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(admissionPath(e))))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, part := range []func(io.Writer, *diagnosticsv1alpha1.AdmissionExplanation, Options) error{admissionProfiles, admissionChanges, admissionQuota, admissionDryRun} {
		if err := part(w, e, o); err != nil {
			return err
		}
	}
	return findings(w, e.Findings, o)
}

func admissionRole(verdict diagnosticsv1alpha1.AdmissionVerdict) Role {
	switch verdict {
	case diagnosticsv1alpha1.AdmissionAdmitted:
		return Good
	case diagnosticsv1alpha1.AdmissionRefused:
		return Bad
	}
	return Warn
}

func admittedPod(p *diagnosticsv1alpha1.AdmittedPod) string {
	parts := []string{"QoS class " + orNone(p.QoSClass), "priority class " + orNone(p.PriorityClass)}
	priority := "unknown"
	if p.Priority != nil {
		priority = fmt.Sprint(*p.Priority)
	}
	if p.PriorityClassName != "" {
		priority += " of " + p.PriorityClassName
	}
	parts = append(parts, "priority "+priority, "scheduler "+orNone(p.SchedulerName))
	if strings.HasPrefix(p.Resources, "translated") {
		parts = append(parts, "resources "+p.Resources)
	} else if p.Resources != "" {
		parts = append(parts, "resources not translated: "+p.Resources)
	}
	return strings.Join(parts, "; ")
}

// admissionPath says who changes the pod.
func admissionPath(e *diagnosticsv1alpha1.AdmissionExplanation) string {
	text := ""
	switch e.AppliedBy {
	case diagnosticsv1alpha1.AdmissionByPolicy:
		text = "profiles are applied by the API server (MutatingAdmissionPolicy)"
	case diagnosticsv1alpha1.AdmissionByWebhook:
		text = "profiles are applied by the webhook of koord-manager"
	case diagnosticsv1alpha1.AdmissionByNone:
		text = "no profiles are applied"
	default:
		text = "who applies profiles is unknown"
	}
	if e.AppliedReason != "" {
		text += ": " + e.AppliedReason
	}
	return text
}

// mostUnselected bounds the profiles that are listed although they do not select the pod.
const mostUnselected = 5

func admissionProfiles(w io.Writer, e *diagnosticsv1alpha1.AdmissionExplanation, o Options) error {
	if len(e.Profiles) == 0 {
		return nil
	}
	if err := title(w, "Profiles", o); err != nil {
		return err
	}
	var b strings.Builder
	unselected := 0
	for i := range e.Profiles {
		p := &e.Profiles[i]
		if p.Outcome == diagnosticsv1alpha1.ProfileNotSelected {
			if unselected++; unselected > mostUnselected && !o.Wide {
				continue
			}
		}
		profileLines(&b, p, o)
	}
	if unselected > mostUnselected && !o.Wide {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(fmt.Sprintf("and %s not selecting the pod; -o wide lists all", phrase.Counted(unselected-mostUnselected, "more profile")))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func profileLines(b *strings.Builder, p *diagnosticsv1alpha1.AdmissionProfile, o Options) {
	role := Plain
	switch p.Outcome {
	case diagnosticsv1alpha1.ProfileApplied:
		role = Good
	case diagnosticsv1alpha1.ProfileProbable, diagnosticsv1alpha1.ProfileUnknown:
		role = Warn
	case diagnosticsv1alpha1.ProfileInvalid:
		role = Bad
	}
	head := o.Style.Mark(role) + " " + o.Style.Paint(Strong, o.Style.Clean(p.Name)) + " " + o.Style.Paint(role, o.Style.Clean(string(p.Outcome)))
	if p.Reason != "" && len(p.Unmet) == 0 || p.Outcome == diagnosticsv1alpha1.ProfileProbable {
		head += ": " + o.say(p.Reason)
	}
	if p.AppliedReason != "" && o.Wide {
		head += o.Style.Paint(Dim, "; "+o.say("needs the webhook: "+p.AppliedReason))
	}
	wrapped(b, o, 2, head)
	if p.Outcome == diagnosticsv1alpha1.ProfileProbable || o.Wide {
		for i := range p.Changes {
			wrapped(b, o, 6, changeLine(&p.Changes[i], o))
		}
		if p.Outcome == diagnosticsv1alpha1.ProfileProbable {
			return
		}
	}
	for i := range p.Unmet {
		wrapped(b, o, 6, o.say(unmetLine(&p.Unmet[i])))
	}
}

func unmetLine(u *diagnosticsv1alpha1.AdmissionUnmet) string {
	if u.Key == "" {
		return u.Term + " is " + u.Requirement
	}
	whose := "pod"
	if u.Term == "namespaceSelector" {
		whose = "namespace"
	}
	if u.Value == nil {
		return fmt.Sprintf("%s requires %s; the %s has no label %s", u.Term, u.Requirement, whose, u.Key)
	}
	return fmt.Sprintf("%s requires %s; the %s has %s=%s", u.Term, u.Requirement, whose, u.Key, *u.Value)
}

func admissionChanges(w io.Writer, e *diagnosticsv1alpha1.AdmissionExplanation, o Options) error {
	if len(e.Changes) == 0 {
		return nil
	}
	if err := title(w, "Changes", o); err != nil {
		return err
	}
	return changeLines(w, e.Changes, o)
}

func changeLines(w io.Writer, changes []diagnosticsv1alpha1.AdmissionChange, o Options) error {
	var b strings.Builder
	for i := range changes {
		wrapped(&b, o, 2, changeLine(&changes[i], o))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changeLine is one field, as a diff has it: + for a new one, - for one that goes, ~ for one with another value.
func changeLine(c *diagnosticsv1alpha1.AdmissionChange, o Options) string {
	sign, role, value := "~", Warn, ""
	switch {
	case c.Before == nil && c.After == nil:
		sign, role = " ", Dim
	case c.Before == nil:
		sign, role, value = "+", Good, ": "+o.Style.Clean(*c.After)
	case c.After == nil:
		sign, role, value = "-", Bad, ": "+o.Style.Clean(*c.Before)
	case *c.Before == *c.After:
		sign, role, value = " ", Dim, ": "+o.Style.Clean(*c.After)
	default:
		value = ": " + o.Style.Clean(*c.Before) + " " + o.Style.Arrow() + " " + o.Style.Clean(*c.After)
	}
	line := o.Style.Paint(role, sign+" "+o.Style.Clean(c.Field)+value)
	var notes []string
	for _, note := range []string{c.By, c.Reason} {
		if note != "" {
			notes = append(notes, o.Style.Clean(note))
		}
	}
	if len(notes) > 0 {
		line += o.Style.Paint(Dim, " ("+strings.Join(notes, "; ")+")")
	}
	return line
}
