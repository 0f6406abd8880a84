package webhooks

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/queryhint"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

const hintPodName = "hint-pod.koordinator.sh"

// mutatingQueryHints is the webhook for pods of query engines that have no scheduling hint, after the profiles, which may label them.
// While koord-manager does not answer, pods are created without a hint.
func (o *Options) mutatingQueryHints(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if !o.QueryHints.Enabled {
		return nil
	}
	of := func(field, key string) string { return fmt.Sprintf("object.?metadata.?%s[?%q].hasValue()", field, key) }
	return []admissionregistrationv1.MutatingWebhook{{
		Name:               hintPodName,
		ClientConfig:       o.clientConfig(queryhint.Path, bundle),
		Rules:              pods(admissionregistrationv1.Create),
		FailurePolicy:      new(admissionregistrationv1.Ignore),
		NamespaceSelector:  policy.OutsideOf(o.profileOptions().ExemptNamespaces),
		ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "of-a-query-engine", Expression: of("labels", extension.LabelQueryWorker) + " || " + of("labels", extension.LabelQueryCache)},
			{Name: "without-a-hint", Expression: "!" + of("annotations", extension.AnnotationSchedulingHint)},
		},
	}}
}
