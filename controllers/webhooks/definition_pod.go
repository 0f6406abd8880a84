package webhooks

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// mutatingPods are the webhooks that apply profiles, one for each scope.
func (o *Options) mutatingPods(scopes []policy.Scope, repeatable bool, bundle []byte) []admissionregistrationv1.MutatingWebhook {
	reinvocation := admissionregistrationv1.NeverReinvocationPolicy
	if repeatable {
		reinvocation = admissionregistrationv1.IfNeededReinvocationPolicy
	}
	out := make([]admissionregistrationv1.MutatingWebhook, 0, len(scopes))
	for i, scope := range scopes {
		name := mutatePodName
		if i > 0 {
			name = fmt.Sprintf("mutate-pod-%d.koordinator.sh", i+1)
		}
		out = append(out, admissionregistrationv1.MutatingWebhook{
			Name:               name,
			ClientConfig:       o.clientConfig(MutatePodPath, bundle),
			Rules:              pods(admissionregistrationv1.Create),
			FailurePolicy:      new(admissionregistrationv1.Fail),
			NamespaceSelector:  scope.Namespaces,
			ReinvocationPolicy: &reinvocation,
			MatchConditions:    []admissionregistrationv1.MatchCondition{{Name: "needs-the-webhook", Expression: scope.Condition}},
		})
	}
	return out
}

// validatingPods are the webhooks for pods with co-location, and for those without in namespaces that belong to a parent quota. Where a
// policy enforces the label rules in the API server, updates skip the webhook, and of the created pods it gets only those that the
// policy cannot judge.
func (o *Options) validatingPods(bundle []byte, byPolicy bool, namespaces quotaNamespaces) []admissionregistrationv1.ValidatingWebhook {
	rules, condition := pods(admissionregistrationv1.Create, admissionregistrationv1.Update), validationCondition()
	if byPolicy {
		rules, condition = pods(admissionregistrationv1.Create), remainderCondition()
	}
	rules = append(rules, namespaced("", "v1", "pods/"+resizeSubresource, []admissionregistrationv1.OperationType{admissionregistrationv1.Update})...)
	exempt := o.profileOptions().ExemptNamespaces
	webhooks := []admissionregistrationv1.ValidatingWebhook{{
		Name:              validatePodName,
		ClientConfig:      o.clientConfig(ValidatePodPath, bundle),
		Rules:             rules,
		FailurePolicy:     new(admissionregistrationv1.Fail),
		NamespaceSelector: policy.OutsideOf(exempt),
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "not-while-it-is-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
			{Name: "created-or-changed-in-co-location", Expression: fmt.Sprintf(`request.?subResource.orValue("") == %q ? (%s) : (%s)`, resizeSubresource, resizeCondition(), condition)},
		},
	}}
	if selector := selecting(namespaces.parents, exempt); selector != nil && !o.Validation.AllowParentQuota {
		webhooks = append(webhooks, admissionregistrationv1.ValidatingWebhook{
			Name:              validateNamespacePodName,
			ClientConfig:      o.clientConfig(ValidatePodPath, bundle),
			Rules:             pods(admissionregistrationv1.Create),
			FailurePolicy:     new(admissionregistrationv1.Ignore),
			NamespaceSelector: selector,
			MatchConditions:   []admissionregistrationv1.MatchCondition{{Name: "asks-nobody-else", Expression: "!(" + condition + ")"}},
		})
	}
	return webhooks
}

// validationCondition is true for pods that are created with co-location, and for updates that change a label by which a pod was
// scheduled and accounted for. All other pod updates skip the webhook.
func validationCondition() string {
	var has, differ []string
	for _, key := range podvalidation.ImmutableLabels() {
		has = append(has, fmt.Sprintf("%q in object.metadata.labels", key))
		differ = append(differ, fmt.Sprintf("object.?metadata.?labels[?%q] != oldObject.?metadata.?labels[?%q]", key, key))
	}
	created := []string{
		fmt.Sprintf("(has(object.metadata.labels) && (%s))", strings.Join(has, " || ")),
		fmt.Sprintf("(has(object.metadata.annotations) && %q in object.metadata.annotations)", podvalidation.AnnotationReservePod),
		policy.RequestsTier(),
	}
	return fmt.Sprintf(`request.operation == "CREATE" ? (%s) : (%s)`, strings.Join(created, " || "), strings.Join(differ, " || "))
}

// ownCPUs is true for pods of the QoS classes whose CPUs are their own.
func ownCPUs() string {
	return fmt.Sprintf(`object.?metadata.?labels[?%q].orValue("") in [%q, %q]`, extension.LabelPodQoS, extension.QoSLSE, extension.QoSLSR)
}

// remainderCondition is true for created pods that the policy alone cannot judge: those with exclusive CPUs, in a quota, or with
// resources that may need a warning, which are mid resources, and plain ones beside batch resources. Pods with batch resources only, as
// the profiles create them, skip the webhook.
func remainderCondition() string {
	beside := policy.Requests(corev1.ResourceCPU, corev1.ResourceMemory, extension.MidCPU, extension.MidMemory)
	return fmt.Sprintf("%s || object.?metadata.?labels[?%q].hasValue() || (%s && %s)", ownCPUs(), extension.LabelQuotaName, policy.RequestsTier(), beside)
}

// resizeCondition is true for pods whose containers cannot have any amount.
func resizeCondition() string { return ownCPUs() + " || " + policy.RequestsTier() }
