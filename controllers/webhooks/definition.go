package webhooks

import (
	"cmp"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
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
	// validateNamespacePodName is for pods that name no quota where their namespace belongs to one.
	validateNamespacePodName = "validate-pod-of-the-namespace.koordinator.sh"
)

// timeoutSeconds is how long the API server waits for an answer. Answers come from caches within milliseconds.
const timeoutSeconds = 5

// mutating are the webhooks for pods, one for each scope, and those for quotas, with the pods of their namespaces, and nodes.
func (o *Options) mutating(scopes []policy.Scope, repeatable bool, namespaces quotaNamespaces, bundle []byte) []admissionregistrationv1.MutatingWebhook {
	webhooks := slices.Concat(o.mutatingPods(scopes, repeatable, bundle), o.mutatingOvercommit(bundle),
		o.mutatingQuotas(bundle), o.mutatingQuotaPods(namespaces, bundle), o.mutatingQueryHints(bundle), o.mutatingJobs(bundle), o.mutatingNodes(bundle))
	for i := range webhooks {
		w := &webhooks[i]
		w.MatchPolicy, w.ObjectSelector, w.SideEffects, w.AdmissionReviewVersions = answered()
		w.TimeoutSeconds = cmp.Or(w.TimeoutSeconds, new(int32(timeoutSeconds)))
		w.ReinvocationPolicy = cmp.Or(w.ReinvocationPolicy, new(admissionregistrationv1.NeverReinvocationPolicy))
	}
	return webhooks
}

// answered is what is the same for all webhooks that say nothing else: they see a resource by whatever version it is written, change
// nothing elsewhere, and select no object by its labels.
func answered() (*admissionregistrationv1.MatchPolicyType, *metav1.LabelSelector, *admissionregistrationv1.SideEffectClass, []string) {
	return new(admissionregistrationv1.Equivalent), policy.OutsideOf(nil), new(admissionregistrationv1.SideEffectClassNone), []string{"v1"}
}

// validating are the webhooks for pods with co-location and for those of namespaces that belong to a quota, and those for nodes,
// for quotas, for the configuration and for evictions.
func (o *Options) validating(bundle []byte, byPolicy bool, namespaces quotaNamespaces) []admissionregistrationv1.ValidatingWebhook {
	webhooks := slices.Concat(o.validatingPods(bundle, byPolicy, namespaces), o.validatingNodes(bundle), o.validatingQuotas(bundle), o.validatingEvacuations(bundle))
	webhooks = append(webhooks, o.validatingConfiguration(bundle), o.validatingEvictions(bundle))
	for i := range webhooks {
		w := &webhooks[i]
		effects := w.SideEffects
		w.MatchPolicy, w.ObjectSelector, w.SideEffects, w.AdmissionReviewVersions = answered()
		w.SideEffects = cmp.Or(effects, w.SideEffects)
		w.TimeoutSeconds = cmp.Or(w.TimeoutSeconds, new(int32(timeoutSeconds)))
	}
	return webhooks
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
