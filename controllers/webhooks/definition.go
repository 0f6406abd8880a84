package webhooks

import (
	"cmp"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/colocationprofile/policy"
)

// Paths of the webhooks.
const (
	MutatePodPath   = "/mutate-pod"
	ValidatePodPath = "/validate-pod"
)

// Names of the webhooks.
const (
	mutatePodName   = "mutate-pod.koordinator.sh"
	validatePodName = "validate-pod.koordinator.sh"
)

// timeoutSeconds is how long the API server waits for an answer. Answers come from caches within milliseconds.
const timeoutSeconds = 5

// mutating is the webhook for pods that meet a condition in CEL, and those for quotas and nodes.
func (o *Options) mutating(condition string, repeatable bool, bundle []byte) []admissionregistrationv1.MutatingWebhook {
	reinvocation := admissionregistrationv1.NeverReinvocationPolicy
	if repeatable {
		reinvocation = admissionregistrationv1.IfNeededReinvocationPolicy
	}
	webhooks := append([]admissionregistrationv1.MutatingWebhook{{
		Name:               mutatePodName,
		ClientConfig:       o.clientConfig(MutatePodPath, bundle),
		Rules:              pods(admissionregistrationv1.Create),
		FailurePolicy:      new(admissionregistrationv1.Fail),
		NamespaceSelector:  policy.OutsideOf(o.profileOptions().ExemptNamespaces),
		ReinvocationPolicy: &reinvocation,
		MatchConditions:    []admissionregistrationv1.MatchCondition{{Name: "needs-the-webhook", Expression: condition}},
	}}, append(o.mutatingOvercommit(bundle), append(o.mutatingQuotas(bundle), o.mutatingNodes(bundle)...)...)...)
	for i := range webhooks {
		w := &webhooks[i]
		w.MatchPolicy, w.ObjectSelector, w.SideEffects, w.AdmissionReviewVersions = answered()
		w.TimeoutSeconds = cmp.Or(w.TimeoutSeconds, new(int32(timeoutSeconds)))
		w.ReinvocationPolicy = cmp.Or(w.ReinvocationPolicy, new(admissionregistrationv1.NeverReinvocationPolicy))
	}
	return webhooks
}

// answered is what is the same for all webhooks: they see a resource by whatever version it is written, change nothing
// elsewhere, and select no object by its labels.
func answered() (*admissionregistrationv1.MatchPolicyType, *metav1.LabelSelector, *admissionregistrationv1.SideEffectClass, []string) {
	return new(admissionregistrationv1.Equivalent), policy.OutsideOf(nil), new(admissionregistrationv1.SideEffectClassNone), []string{"v1"}
}

// validating is the webhook for pods with co-location, and those for quotas and for the configuration.
func (o *Options) validating(bundle []byte) []admissionregistrationv1.ValidatingWebhook {
	webhooks := []admissionregistrationv1.ValidatingWebhook{{
		Name:              validatePodName,
		ClientConfig:      o.clientConfig(ValidatePodPath, bundle),
		Rules:             pods(admissionregistrationv1.Create, admissionregistrationv1.Update),
		FailurePolicy:     new(admissionregistrationv1.Fail),
		NamespaceSelector: policy.OutsideOf(o.profileOptions().ExemptNamespaces),
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "not-while-it-is-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
			{Name: "created-or-changed-in-co-location", Expression: validationCondition()},
		},
	}}
	webhooks = append(append(webhooks, o.validatingQuotas(bundle)...), o.validatingConfiguration(bundle))
	for i := range webhooks {
		w := &webhooks[i]
		w.MatchPolicy, w.ObjectSelector, w.SideEffects, w.AdmissionReviewVersions = answered()
		w.TimeoutSeconds = new(int32(timeoutSeconds))
	}
	return webhooks
}

// validationCondition is true for pods that are created with co-location, and for updates that change a label by which a
// pod was scheduled and accounted for. The many other updates of pods ask nobody.
func validationCondition() string {
	keys := []string{extension.LabelPodQoS, extension.LabelPodPriorityClass, extension.LabelPodPriority, extension.LabelQuotaName,
		extension.LabelQuotaTreeID, extension.LabelQuotaPreemptible}
	var has, differ []string
	for _, key := range keys {
		has = append(has, fmt.Sprintf("%q in object.metadata.labels", key))
		differ = append(differ, fmt.Sprintf("object.?metadata.?labels[?%q] != oldObject.?metadata.?labels[?%q]", key, key))
	}
	created := []string{
		fmt.Sprintf("(has(object.metadata.labels) && (%s))", strings.Join(has, " || ")),
		fmt.Sprintf("(has(object.metadata.annotations) && %q in object.metadata.annotations)", extension.SchedulingDomainPrefix+"reserve-pod"),
		policy.RequestsTier(),
	}
	return fmt.Sprintf(`request.operation == "CREATE" ? (%s) : (%s)`, strings.Join(created, " || "), strings.Join(differ, " || "))
}

func (o *Options) clientConfig(path string, bundle []byte) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{
		Service:  &admissionregistrationv1.ServiceReference{Namespace: o.Namespace, Name: Service, Path: &path, Port: &o.ServicePort},
		CABundle: bundle,
	}
}

func pods(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return namespaced("", "v1", "pods", operations)
}

func namespaced(group, version, resource string, operations []admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}, Scope: new(admissionregistrationv1.NamespacedScope),
		},
	}}
}
