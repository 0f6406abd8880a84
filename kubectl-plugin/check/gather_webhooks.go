package check

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of the configurations of this build and of upstream's, for users who may get these and not list all.
var (
	mutatingNames   = []string{"koordinator-admission", "koordinator-mutating-webhook-configuration"}
	validatingNames = []string{"koordinator-admission", "koordinator-validating-webhook-configuration"}
)

// readWebhooks lists all webhooks: a configuration of the system may have any name, and those of others matter for the order. Who may not
// list them is told of those with known names.
func readWebhooks(ctx context.Context, c *Cluster, f *Facts) error {
	if err := fact(ctx, &f.OtherWebhooks, "list webhook configurations", c.listWebhooks); err != nil {
		return err
	}
	if len(f.OtherWebhooks.Unread) == 0 {
		f.Webhooks = f.OtherWebhooks
		return nil
	}
	return fact(ctx, &f.Webhooks, "get webhook configurations", c.getWebhooks)
}

func (c *Cluster) listWebhooks(ctx context.Context) ([]WebhookFacts, error) {
	mutating, err := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, fromCache)
	if err != nil {
		return nil, err
	}
	validating, err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, fromCache)
	if err != nil {
		return nil, err
	}
	return webhookFacts(mutating.Items, validating.Items), nil
}

func (c *Cluster) getWebhooks(ctx context.Context) ([]WebhookFacts, error) {
	var mutating []admissionregistrationv1.MutatingWebhookConfiguration
	for _, name := range mutatingNames {
		found, err := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			mutating = append(mutating, *found)
		} else if !apierrors.IsNotFound(err) && !(apierrors.IsForbidden(err) && len(mutating) > 0) {
			return nil, err
		}
	}
	var validating []admissionregistrationv1.ValidatingWebhookConfiguration
	for _, name := range validatingNames {
		found, err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			validating = append(validating, *found)
		} else if !apierrors.IsNotFound(err) && !(apierrors.IsForbidden(err) && len(validating) > 0) {
			return nil, err
		}
	}
	return webhookFacts(mutating, validating), nil
}

func webhookFacts(mutating []admissionregistrationv1.MutatingWebhookConfiguration, validating []admissionregistrationv1.ValidatingWebhookConfiguration) []WebhookFacts {
	var out []WebhookFacts
	for i := range mutating {
		for j := range mutating[i].Webhooks {
			out = append(out, mutatingFacts(mutating[i].Name, &mutating[i].Webhooks[j]))
		}
	}
	for i := range validating {
		for j := range validating[i].Webhooks {
			out = append(out, validatingFacts(validating[i].Name, &validating[i].Webhooks[j]))
		}
	}
	return out
}

// defaultTimeout is how long the API server waits for a webhook that sets no timeout.
const defaultTimeout = 10

func mutatingFacts(configuration string, w *admissionregistrationv1.MutatingWebhook) WebhookFacts {
	return WebhookFacts{
		Kind: "MutatingWebhookConfiguration", Configuration: configuration, Name: w.Name, Client: w.ClientConfig, Rules: w.Rules,
		Fails:      w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Namespaces: w.NamespaceSelector, Objects: w.ObjectSelector, Conditional: len(w.MatchConditions) > 0, Mutating: true,
		Reinvoked:      w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy,
		TimeoutSeconds: valueOr(w.TimeoutSeconds, defaultTimeout),
	}
}

func validatingFacts(configuration string, w *admissionregistrationv1.ValidatingWebhook) WebhookFacts {
	return WebhookFacts{
		Kind: "ValidatingWebhookConfiguration", Configuration: configuration, Name: w.Name, Client: w.ClientConfig, Rules: w.Rules,
		Fails:      w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Namespaces: w.NamespaceSelector, Objects: w.ObjectSelector, Conditional: len(w.MatchConditions) > 0,
		TimeoutSeconds: valueOr(w.TimeoutSeconds, defaultTimeout),
	}
}

func valueOr(value *int32, otherwise int32) int32 {
	if value == nil {
		return otherwise
	}
	return *value
}
