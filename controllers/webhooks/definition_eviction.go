package webhooks

import (
	"fmt"
	"path"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/controllers/webhooks/evacuation"
	"koordinator.sh/koord/controllers/webhooks/eviction"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

// validatingEvictions is the webhook for evictions by node agents only. While koord-manager does not answer, these evictions are
// refused: an outage must not lift the budget. Agents retry ten seconds later.
func (o *Options) validatingEvictions(bundle []byte) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:              "validate-eviction.koordinator.sh",
		ClientConfig:      o.clientConfig(eviction.Path, bundle),
		Rules:             namespaced("", "v1", "pods/eviction", []admissionregistrationv1.OperationType{admissionregistrationv1.Create}),
		FailurePolicy:     new(admissionregistrationv1.Fail),
		NamespaceSelector: policy.OutsideOf(nil),
		// Evictions are counted, unless they are only tried.
		SideEffects:     new(admissionregistrationv1.SideEffectClassNoneOnDryRun),
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "asked-for-by-a-node-agent", Expression: fmt.Sprintf("request.userInfo.username == %q", o.Evictions.Agent())}},
	}
}

// validatingEvacuations is the webhook for all other evictions, where they start migrations. While koord-manager does not answer, pods are
// evicted as without it.
func (o *Options) validatingEvacuations(bundle []byte) []admissionregistrationv1.ValidatingWebhook {
	if !o.MigrateOnEviction {
		return nil
	}
	conditions := make([]admissionregistrationv1.MatchCondition, 0, 2)
	for _, mover := range evacuation.Movers(o.Namespace) {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{
			Name: "not-asked-for-by-" + path.Base(strings.ReplaceAll(mover, ":", "/")), Expression: fmt.Sprintf("request.userInfo.username != %q", mover),
		})
	}
	return []admissionregistrationv1.ValidatingWebhook{{
		Name:              "migrate-on-eviction.koordinator.sh",
		ClientConfig:      o.clientConfig(evacuation.Path, bundle),
		Rules:             namespaced("", "v1", "pods/eviction", []admissionregistrationv1.OperationType{admissionregistrationv1.Create}),
		FailurePolicy:     new(admissionregistrationv1.Ignore),
		NamespaceSelector: policy.OutsideOf([]string{"kube-system", o.Namespace}),
		// Migrations are created, unless evictions are only tried.
		SideEffects:     new(admissionregistrationv1.SideEffectClassNoneOnDryRun),
		MatchConditions: conditions,
	}}
}
