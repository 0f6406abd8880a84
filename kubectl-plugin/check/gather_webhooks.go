package check

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Names of the configurations of this build and of upstream's, for users who may get these and not list all.
var (
	mutatingNames   = []string{"koordinator-admission", "koordinator-mutating-webhook-configuration"}
	validatingNames = []string{"koordinator-admission", "koordinator-validating-webhook-configuration"}
)

// readWebhooks lists all webhooks: a configuration of the system may have any name, and those of others matter for the order. A user who
// may not list them gets the configurations with known names.
func readWebhooks(ctx context.Context, c *Cluster, f *Facts) error {
	err := fact(ctx, &f.Webhooks, "list webhook configurations", c.listWebhooks)
	if err != nil || len(f.Webhooks.Unread) == 0 {
		return err
	}
	f.UnlistedWebhooks, f.Webhooks.Unread = f.Webhooks.Unread, nil
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
	mutating, err := getKnown(ctx, mutatingNames, c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get)
	if err != nil {
		return nil, err
	}
	validating, err := getKnown(ctx, validatingNames, c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get)
	if err != nil {
		return nil, err
	}
	return webhookFacts(mutating, validating), nil
}

// getKnown gets the objects of these names that exist. A user who may get the first need not be permitted to get the others.
func getKnown[T any](ctx context.Context, names []string, get func(context.Context, string, metav1.GetOptions) (*T, error)) ([]T, error) {
	var out []T
	for _, name := range names {
		found, err := get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			out = append(out, *found)
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err) && len(out) > 0:
		default:
			return nil, err
		}
	}
	return out, nil
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
		Kind: mutatingKind, Configuration: configuration, Name: w.Name, Client: w.ClientConfig, Rules: w.Rules,
		Fails:      w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Namespaces: w.NamespaceSelector, Objects: w.ObjectSelector, Conditional: len(w.MatchConditions) > 0,
		Reinvoked:      w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy,
		TimeoutSeconds: ptr.Deref(w.TimeoutSeconds, defaultTimeout),
	}
}

func validatingFacts(configuration string, w *admissionregistrationv1.ValidatingWebhook) WebhookFacts {
	return WebhookFacts{
		Kind: validatingKind, Configuration: configuration, Name: w.Name, Client: w.ClientConfig, Rules: w.Rules,
		Fails:      w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Namespaces: w.NamespaceSelector, Objects: w.ObjectSelector, Conditional: len(w.MatchConditions) > 0,
		TimeoutSeconds: ptr.Deref(w.TimeoutSeconds, defaultTimeout),
	}
}
