package webhooks

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/jobprediction"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/core/jobinsight"
)

const predictJobName = "predict-job.koordinator.sh"

// ofJob is true for pods of Jobs and of Spark and those with the annotation job-application, which may be jobs, and for those that come with a
// prediction.
var ofJob = fmt.Sprintf(`object.?metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == "Job" && owner.?controller.orValue(false)) || `+
	`object.?metadata.?labels[?%q].hasValue() || object.?metadata.?annotations[?%q].hasValue() || object.?metadata.?annotations[?%q].hasValue()`,
	jobinsight.LabelSparkApplication, extension.AnnotationJobApplication, extension.AnnotationJobPrediction)

// mutatingJobs is the webhook for pods of jobs, after the profiles, which may annotate them. While koord-manager does not answer, pods are created
// without a prediction.
func (o *Options) mutatingJobs(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if !o.PredictJobs {
		return nil
	}
	return []admissionregistrationv1.MutatingWebhook{{
		Name:               predictJobName,
		ClientConfig:       o.clientConfig(jobprediction.Path, bundle),
		Rules:              pods(admissionregistrationv1.Create),
		FailurePolicy:      new(admissionregistrationv1.Ignore),
		NamespaceSelector:  policy.OutsideOf(o.profileOptions().ExemptNamespaces),
		ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
		MatchConditions:    []admissionregistrationv1.MatchCondition{{Name: "of-a-job", Expression: ofJob}},
	}}
}
