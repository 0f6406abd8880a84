package objects

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaprofile"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// quotaIndex finds the ElasticQuotas of pods.
type quotaIndex struct {
	belonging quota.Belonging
	named     map[string]quota.Namesakes
}

func indexOf(quotas []schedulingsigsv1alpha1.ElasticQuota) *quotaIndex {
	index := &quotaIndex{named: map[string]quota.Namesakes{}}
	all := make(quota.Namesakes, len(quotas))
	for i := range quotas {
		q := &quotas[i]
		all[i], index.named[q.Name] = q, append(index.named[q.Name], q)
	}
	index.belonging = quota.BelongingTo(all.Specs())
	return index
}

// named are the ElasticQuotas with the name that the pod asks for; the name is empty when it asks for none.
func (a *Admission) named() (string, quota.Namesakes) {
	if a.in.index == nil {
		a.in.index = indexOf(a.in.Quotas)
	}
	name := a.in.index.belonging.Name(a.after)
	return name, a.in.index.named[name]
}

// confine restricts the pod to the nodes of its quota tree.
func (a *Admission) confine() error {
	if !a.in.Settings.QuotaTrees || a.exempt() || a.in.Unread.QuotaProfiles {
		return nil
	}
	_, named := a.named()
	tree := named.TreeOf(a.after)
	confined := confinedTo(a.after, tree, a.in.QuotaProfiles)
	changes, err := podChanges(a.after, confined, nil)
	if err != nil {
		return err
	}
	for i := range changes {
		changes[i].By = "quota tree " + tree
	}
	a.out.Changes = append(a.out.Changes, changes...)
	a.after, a.drawn = confined, confinedTo(a.drawn, tree, a.in.QuotaProfiles)
	return nil
}

// confinedTo is a pod with the node affinity of a quota tree.
func confinedTo(pod *corev1.Pod, tree string, profiles []quotav1alpha1.ElasticQuotaProfile) *corev1.Pod {
	confined := pod.DeepCopy()
	confined.Spec.Affinity, _ = quotaprofile.Confine(pod, tree, profiles)
	return confined
}

// place finds the quota of the pod.
func (a *Admission) place() {
	pod := a.after
	if name, named := a.named(); name != "" {
		a.quota = &podvalidation.Quota{Name: name, Exists: len(named) > 0, Parent: named.Parent()}
		if counts := named.Counting(); counts != nil {
			a.quota.Namespace, a.quota.Serves = counts.Namespace, counts.Serves(pod.Namespace)
		}
	}
	if a.in.Placer == nil {
		return
	}
	a.out.Quota = a.in.Placer.Place(pod)
	if a.in.Unread.Quotas && a.out.Quota.Name == extension.DefaultQuotaName {
		a.out.Quota = nil // it may belong to one that could not be read
		return
	}
	if !slices.Contains(a.in.Schedulers, pod.Spec.SchedulerName) && a.out.Quota.Fit != diagnosticsv1alpha1.QuotaFitUnknown {
		a.out.Quota.Fit, a.out.Quota.Code, a.out.Quota.Message = diagnosticsv1alpha1.QuotaNotLimited, "", ""
	}
}

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

// Compare adds the API server's answer to a dry run; answered is the pod that it would store, nil where it would not.
func (a *Admission) Compare(verdict diagnosticsv1alpha1.DryRunVerdict, message string, answered *corev1.Pod) error {
	run := &diagnosticsv1alpha1.AdmissionDryRun{Verdict: verdict, Message: message}
	a.out.DryRun = run
	if answered != nil {
		differences, err := a.differences(answered)
		if err != nil {
			return err
		}
		run.Differences = differences
	}
	certain := a.out.Verdict != diagnosticsv1alpha1.AdmissionUnknown
	switch verdict {
	case diagnosticsv1alpha1.DryRunAccepted:
		agrees := a.out.Verdict == diagnosticsv1alpha1.AdmissionAdmitted && len(run.Differences) == 0
		run.Agrees = &agrees
	case diagnosticsv1alpha1.DryRunRefused:
		agrees := a.out.Verdict == diagnosticsv1alpha1.AdmissionRefused
		run.Agrees = &agrees
	}
	if !certain {
		run.Agrees = nil
	}
	if run.Agrees != nil && !*run.Agrees {
		a.note(finding.AdmissionDiffers, diagnosticsv1alpha1.SeverityWarning, a.disagreement(run))
	}
	return nil
}

func (a *Admission) disagreement(run *diagnosticsv1alpha1.AdmissionDryRun) string {
	switch {
	case run.Verdict == diagnosticsv1alpha1.DryRunRefused:
		return "the API server rejects the pod in a dry run: " + run.Message
	case a.out.Verdict == diagnosticsv1alpha1.AdmissionRefused:
		return "the API server accepts the pod in a dry run"
	}
	fields := make([]string, len(run.Differences))
	for i := range run.Differences {
		fields[i] = run.Differences[i].Field
	}
	return "the API server sets other values in a dry run: " + strings.Join(fields, ", ")
}

// differences are the fewest that the API server's pod has from what was computed, whether profiles with a probability applied or not.
func (a *Admission) differences(answered *corev1.Pod) ([]diagnosticsv1alpha1.AdmissionChange, error) {
	differences, err := podChanges(a.after, answered, decidedField)
	if err != nil || len(differences) == 0 {
		return differences, err
	}
	drawn, err := podChanges(a.drawn, answered, decidedField)
	if err == nil && len(drawn) < len(differences) {
		return drawn, nil
	}
	return differences, err
}

// decided are the parts of a pod that Koordinator's admission writes. Others the API server fills in by itself.
var decided = []string{
	"metadata.labels[", "metadata.annotations[", "spec.schedulerName", "spec.priority", "spec.preemptionPolicy", "spec.resources.", "spec.overhead[", "spec.affinity.",
}

func decidedField(path string) bool {
	if slices.ContainsFunc(decided, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
		return true
	}
	return (strings.HasPrefix(path, "spec.containers[") || strings.HasPrefix(path, "spec.initContainers[")) && strings.Contains(path, "].resources.")
}
