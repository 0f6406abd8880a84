package printer

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// admissionViews are what is printed about the admission of pods.
func admissionViews() map[string]view {
	show := func(wide bool, items ...diagnosticsv1alpha1.AdmissionExplanation) view {
		return func(w io.Writer, o Options) error {
			o.Wide = wide
			return Admission(w, &diagnosticsv1alpha1.AdmissionExplanationList{Items: items}, o)
		}
	}
	return map[string]view{
		"explain-admission":      show(false, admittedFixture(), refusedFixture()),
		"explain-admission-wide": show(true, admittedFixture()),
	}
}

func admittedFixture() diagnosticsv1alpha1.AdmissionExplanation {
	change := func(field string, before, after *string, by, reason string) diagnosticsv1alpha1.AdmissionChange {
		return diagnosticsv1alpha1.AdmissionChange{Field: field, Before: before, After: after, By: by, Reason: reason}
	}
	out := diagnosticsv1alpha1.AdmissionExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "analytics", Name: "monthly-report"},
		Object:     diagnosticsv1alpha1.AdmissionObject{APIVersion: "batch/v1", Kind: "CronJob", Document: 3},
		Verdict:    diagnosticsv1alpha1.AdmissionAdmitted, Message: "4 fields change",
		AppliedBy: diagnosticsv1alpha1.AdmissionByWebhook, AppliedReason: `profile "some": its probability is 30%, and CEL has no random numbers`,
		Pod: diagnosticsv1alpha1.AdmittedPod{
			QoSClass: "BE", PriorityClass: "koord-batch", PriorityClassName: "koord-batch", Priority: new(int32(5500)), SchedulerName: "koord-scheduler", Resources: "translated to koord-batch",
		},
		Changes: []diagnosticsv1alpha1.AdmissionChange{
			change("metadata.labels[koordinator.sh/qosClass]", nil, new("BE"), "profile batch", ""),
			change("spec.containers[main].resources.requests[cpu]", new("2"), nil, "translated to koord-batch", ""),
			change("spec.containers[main].resources.requests[kubernetes.io/batch-cpu]", nil, new("2k"), "translated to koord-batch", "cpu 2"),
			change("spec.schedulerName", new("default-scheduler"), new("koord-\x1b[31mscheduler"), "profile batch", ""),
		},
		Profiles: []diagnosticsv1alpha1.AdmissionProfile{
			{Name: "batch", Outcome: diagnosticsv1alpha1.ProfileApplied, AppliedBy: diagnosticsv1alpha1.AdmissionByWebhook, Changes: []diagnosticsv1alpha1.AdmissionChange{
				change("metadata.labels[koordinator.sh/qosClass]", nil, new("BE"), "", ""), change("spec.priority", new("5500"), new("5500"), "", "unchanged"),
				change("metadata.labels[copy]", nil, nil, "", "there is no metadata.labels[gone] to copy"),
			}},
			{Name: "broken", Outcome: diagnosticsv1alpha1.ProfileInvalid, Reason: `probability "often" is neither an integer nor a percentage`},
			{Name: "never", Outcome: diagnosticsv1alpha1.ProfileNever, Reason: "its probability is 0%", Unmet: []diagnosticsv1alpha1.AdmissionUnmet{{Term: "probability", Requirement: "0%"}}},
			{Name: "some", Outcome: diagnosticsv1alpha1.ProfileProbable, Reason: "it selects the pod and applies to 30% of such pods, by chance", AppliedReason: "its probability is 30%, and CEL has no random numbers",
				Changes: []diagnosticsv1alpha1.AdmissionChange{change("metadata.labels[lucky]", nil, new("yes"), "", "")}},
			{Name: "veiled", Outcome: diagnosticsv1alpha1.ProfileUnknown, Reason: "it selects namespaces by labels, and those of namespace analytics could not be read"},
		},
		Quota: &diagnosticsv1alpha1.AdmissionQuota{
			Name: "analytics", Namespace: "analytics", Rule: "NamespaceName", Tree: "night", Fit: diagnosticsv1alpha1.QuotaExceeded, Code: "KOORD1201",
			Amounts: []diagnosticsv1alpha1.AdmissionQuotaAmount{
				{Resource: "kubernetes.io/batch-cpu", Unit: diagnosticsv1alpha1.MilliCPU, Request: 2000, Available: 500, Bound: "analytics"},
				{Resource: "kubernetes.io/batch-memory", Unit: diagnosticsv1alpha1.Bytes, Request: 4 << 30, Available: 10 << 30, Bound: "company"},
			},
		},
		DryRun: &diagnosticsv1alpha1.AdmissionDryRun{
			Verdict: diagnosticsv1alpha1.DryRunAccepted, Agrees: new(false),
			Differences: []diagnosticsv1alpha1.AdmissionChange{change("metadata.labels[team]", nil, new("x"), "", "")},
		},
		Findings: []diagnosticsv1alpha1.Finding{{Code: "KOORD1201", Severity: diagnosticsv1alpha1.SeverityWarning, Message: "the pod would wait for its quota", Hint: "Raise max."}},
	}
	for _, name := range []string{"u1", "u2", "u3", "u4", "u5", "u6", "u7"} {
		out.Profiles = append(out.Profiles, diagnosticsv1alpha1.AdmissionProfile{Name: name, Outcome: diagnosticsv1alpha1.ProfileNotSelected, Unmet: []diagnosticsv1alpha1.AdmissionUnmet{
			{Term: "namespaceSelector", Requirement: "team in (a,b)", Key: "team"}, {Term: "selector", Requirement: "app=x", Key: "app", Value: new("\x1b]0;owned\x07y")},
		}})
	}
	return out
}

func refusedFixture() diagnosticsv1alpha1.AdmissionExplanation {
	return diagnosticsv1alpha1.AdmissionExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Object: diagnosticsv1alpha1.AdmissionObject{APIVersion: "v1", Kind: "Pod", Document: 4},
		Verdict: diagnosticsv1alpha1.AdmissionRefused, Message: "KOORD1303 AdmissionClassForbidden", AppliedBy: diagnosticsv1alpha1.AdmissionByNone, AppliedReason: "no profile selects the pod",
		Pod:      diagnosticsv1alpha1.AdmittedPod{QoSClass: "LSR", PriorityClass: "koord-batch", SchedulerName: "other", Resources: "no profile applied"},
		Quota:    &diagnosticsv1alpha1.AdmissionQuota{Name: "koordinator-default-quota", Rule: "DefaultForMissing", Asked: "wbe", Fit: diagnosticsv1alpha1.QuotaNotLimited},
		DryRun:   &diagnosticsv1alpha1.AdmissionDryRun{Verdict: diagnosticsv1alpha1.DryRunForbidden, Message: `not permitted for user "eve"`},
		Findings: []diagnosticsv1alpha1.Finding{{Code: "KOORD1303", Severity: diagnosticsv1alpha1.SeverityError, Message: "Pod: Forbidden: both cannot be used in combination"}},
	}
}
