package webhooks

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/controllers/webhooks/elasticquota"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

// quotaScope is a part of the cluster with what happens to its quotas while koord-manager does not answer.
type quotaScope struct {
	suffix     string
	namespaces *metav1.LabelSelector
	failure    admissionregistrationv1.FailurePolicyType
}

// quotaScopes are two. In the system's namespaces nothing is ever blocked. Elsewhere quotas cannot change while koord-manager does not
// answer, because an unsound tree is worse than a late change, and no pod depends on it.
func (o *Options) quotaScopes() []quotaScope {
	exempt := o.profileOptions().ExemptNamespaces
	return []quotaScope{
		{"", policy.OutsideOf(exempt), admissionregistrationv1.Fail},
		{"-of-the-system", within(exempt...), admissionregistrationv1.Ignore},
	}
}

func within(namespaces ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: namespaces,
	}}}
}

// serveQuotas adds the handlers of quotas, and of their pods, to the manager's server.
func serveQuotas(ctx context.Context, mgr ctrl.Manager, o *Options, decoder admission.Decoder, reviews *access.Reviewer) error {
	if err := elasticquota.AddToManager(ctx, mgr, o.Quotas, reviews); err != nil {
		return fmt.Errorf("add the admission of quotas: %w", err)
	}
	if o.QuotaTrees {
		mgr.GetWebhookServer().Register(MutateQuotaPodPath, &admission.Webhook{Handler: &quotaPodMutator{reader: mgr.GetClient(), decoder: decoder}})
	}
	return nil
}

func (o *Options) mutatingQuotas(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	var webhooks []admissionregistrationv1.MutatingWebhook
	for _, scope := range o.quotaScopes() {
		webhooks = append(webhooks, admissionregistrationv1.MutatingWebhook{
			Name:              "mutate-elasticquota" + scope.suffix + ".koordinator.sh",
			ClientConfig:      o.clientConfig(elasticquota.MutatePath, bundle),
			Rules:             quotas(admissionregistrationv1.Create, admissionregistrationv1.Update),
			FailurePolicy:     &scope.failure,
			NamespaceSelector: scope.namespaces,
			MatchConditions:   quotaConditions(),
		})
	}
	return webhooks
}

func (o *Options) validatingQuotas(bundle []byte) []admissionregistrationv1.ValidatingWebhook {
	var webhooks []admissionregistrationv1.ValidatingWebhook
	for _, scope := range o.quotaScopes() {
		webhooks = append(webhooks, admissionregistrationv1.ValidatingWebhook{
			Name:              "validate-elasticquota" + scope.suffix + ".koordinator.sh",
			ClientConfig:      o.clientConfig(elasticquota.ValidatePath, bundle),
			Rules:             quotas(admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete),
			FailurePolicy:     &scope.failure,
			NamespaceSelector: scope.namespaces,
			MatchConditions:   quotaConditions(),
		})
	}
	return webhooks
}

func quotas(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	group := schedulingsigsv1alpha1.GroupVersion
	return namespaced(group.Group, group.Version, "elasticquotas", operations)
}

// quotaConditions leave out updates that change only what a controller writes: the scheduler's updates of every quota's status, every
// few seconds, skip the webhook.
func quotaConditions() []admissionregistrationv1.MatchCondition {
	differ := []string{
		"object.?spec != oldObject.?spec",
		"object.metadata.?labels != oldObject.metadata.?labels",
	}
	for _, key := range []string{
		extension.AnnotationQuotaSharedWeight, extension.AnnotationQuotaNamespaces, extension.AnnotationQuotaMaxStrictCheckResourceKeys,
	} {
		differ = append(differ, fmt.Sprintf("object.metadata.?annotations[?%q] != oldObject.metadata.?annotations[?%q]", key, key))
	}
	// What a tree has is written to its root by the manager alone.
	differ = append(differ, fmt.Sprintf(`object.metadata.?labels[?%[1]q].orValue("") == "true" && object.metadata.?annotations[?%[2]q] != oldObject.metadata.?annotations[?%[2]q]`,
		extension.LabelQuotaIsRoot, extension.AnnotationQuotaTotalResource))
	return []admissionregistrationv1.MatchCondition{
		{Name: "not-while-it-is-deleted", Expression: `request.operation == "DELETE" || !has(object.metadata.deletionTimestamp)`},
		{Name: "more-than-the-status", Expression: `request.operation != "UPDATE" || ` + strings.Join(differ, " || ")},
	}
}
