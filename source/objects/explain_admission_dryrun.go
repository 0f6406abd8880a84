package objects

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

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
	switch {
	case a.out.Verdict == diagnosticsv1alpha1.AdmissionUnknown:
	case verdict == diagnosticsv1alpha1.DryRunAccepted:
		run.Agrees = new(a.out.Verdict == diagnosticsv1alpha1.AdmissionAdmitted && len(run.Differences) == 0)
	case verdict == diagnosticsv1alpha1.DryRunRefused:
		run.Agrees = new(a.out.Verdict == diagnosticsv1alpha1.AdmissionRefused)
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
