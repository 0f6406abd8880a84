package webhooks

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// podsWebhook is the registered webhook that validates pods.
func (r *registration) podsWebhook(t *testing.T) *admissionregistrationv1.ValidatingWebhook {
	t.Helper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: ConfigurationName}, &configuration); err != nil {
		t.Fatal(err)
	}
	for i := range configuration.Webhooks {
		if configuration.Webhooks[i].Name == validatePodName {
			return &configuration.Webhooks[i]
		}
	}
	t.Fatal("no webhook validates pods")
	return nil
}

// asksAboutUpdates says whether updates of pods wait for the webhook.
func asksAboutUpdates(w *admissionregistrationv1.ValidatingWebhook) bool {
	for _, rule := range w.Rules {
		for _, operation := range rule.Operations {
			if operation == admissionregistrationv1.Update && rule.Resources[0] == "pods" {
				return true
			}
		}
	}
	return false
}

func (r *registration) hasLabelPolicy(t *testing.T) bool {
	t.Helper()
	key := types.NamespacedName{Name: labelpolicy.Name}
	err := r.client.Get(t.Context(), key, &admissionregistrationv1.ValidatingAdmissionPolicy{})
	if other := r.client.Get(t.Context(), key, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}); (err == nil) != (other == nil) {
		t.Fatalf("policy: %v, binding: %v", err, other)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestUpdatesAskTheWebhookUntilThePolicyHasSettled(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.run(t)
	if !r.hasLabelPolicy(t) || !asksAboutUpdates(r.podsWebhook(t)) {
		t.Errorf("policy %v, webhook %+v", r.hasLabelPolicy(t), r.podsWebhook(t).Rules)
	}
	r.clock.Step(registrationDelay)
	r.run(t)
	narrow := r.podsWebhook(t)
	if asksAboutUpdates(narrow) || !strings.Contains(narrow.MatchConditions[1].Expression, `"LSR"`) {
		t.Errorf("the policy has settled, and the webhook is %+v", narrow)
	}
	// The policy is deleted: nothing would check updates.
	if err := r.client.Delete(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: labelpolicy.Name}}); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	if !r.hasLabelPolicy(t) || !asksAboutUpdates(r.podsWebhook(t)) {
		t.Errorf("after the policy was deleted: policy %v, webhook %+v", r.hasLabelPolicy(t), r.podsWebhook(t).Rules)
	}
}

func TestWithoutPoliciesTheWebhookDecidesTheLabelRules(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.run(t)
	r.clock.Step(registrationDelay)
	r.run(t)
	r.registrar = &registrar{client: r.client, options: r.options, served: true, unserved: "policies are disabled"}
	r.run(t)
	if r.hasLabelPolicy(t) || !asksAboutUpdates(r.podsWebhook(t)) {
		t.Errorf("policy %v, webhook %+v", r.hasLabelPolicy(t), r.podsWebhook(t).Rules)
	}
}
