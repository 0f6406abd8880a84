package webhooks

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

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
