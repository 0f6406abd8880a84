package check

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// registeredID is what the other checks of webhooks need.
const registeredID = "webhook-registered"

// upstreamService is the Service of upstream's webhooks.
const upstreamService = "koordinator-webhook-service"

var webhookChecks = []Check{
	{
		ID: registeredID, Category: Webhook, Retry: true, Needs: []string{installedID}, Title: "the API server calls webhooks of the system", Judge: webhooksRegistered,
	}, {
		ID: "webhook-ca-bundle", Category: Webhook, Retry: true, Needs: []string{registeredID}, Title: "every webhook has a caBundle that can be read and has not expired",
		Codes: []finding.Code{finding.BundleInvalid}, Judge: webhookBundles,
	}, {
		ID: "webhook-certificate", Category: Webhook, Retry: true, Needs: []string{"webhook-ca-bundle"},
		Title: "the serving certificate is valid, names the Service, and the caBundle verifies it", Codes: certificateCodes, Judge: webhookCertificates,
	}, {
		ID: "webhook-endpoints", Category: Webhook, Retry: true, Needs: []string{registeredID}, Title: "the Services of the webhooks have endpoints that are ready",
		Codes: []finding.Code{finding.WebhookUnserved}, Judge: webhookEndpoints,
	}, {
		ID: "webhook-deadlock", Category: Webhook, Needs: []string{registeredID}, Title: "no webhook can keep the pods that serve it from being created",
		Codes: []finding.Code{finding.WebhookDeadlock}, Judge: webhookDeadlock,
	}, {
		ID: "webhook-settings", Category: Webhook, Needs: []string{registeredID}, Title: "the webhooks answer within seconds, and see what later webhooks change",
		Codes: []finding.Code{finding.WebhookSettings}, Judge: webhookSettings,
	},
}

// WebhookFacts is one webhook of a configuration.
type WebhookFacts struct {
	// Kind and Configuration name the object that has it; Name is the webhook's.
	Kind, Configuration, Name string
	Client                    admissionregistrationv1.WebhookClientConfig
	Rules                     []admissionregistrationv1.RuleWithOperations
	// Fails is true when a request is refused that the webhook does not answer.
	Fails bool
	// Namespaces and Objects select what the webhook is called for; nil for everything.
	Namespaces, Objects *metav1.LabelSelector
	// Conditional is true for a webhook with match conditions.
	Conditional bool
	// Reinvoked is true for a webhook that is called again after later ones have changed the object.
	Reinvoked      bool
	TimeoutSeconds int32
}

// Kinds of the configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// String names the webhook.
func (w *WebhookFacts) String() string {
	return fmt.Sprintf("webhook %s of %s %s", w.Name, strings.ToLower(w.Kind), w.Configuration)
}

// serves says whether a Service of the system's namespace serves the webhook, whatever its configuration is called.
func (f *Facts) serves(w *WebhookFacts) bool {
	return w.Client.Service != nil && w.Client.Service.Namespace == f.Namespace
}

// ownWebhooks are those that the system serves.
func (f *Facts) ownWebhooks() []WebhookFacts {
	var out []WebhookFacts
	for i := range f.Webhooks.Value {
		if f.serves(&f.Webhooks.Value[i]) {
			out = append(out, f.Webhooks.Value[i])
		}
	}
	return out
}

func webhooksRegistered(f *Facts) Outcome {
	own := f.ownWebhooks()
	switch {
	case len(f.Webhooks.Unread) > 0:
		return unknown(f.Webhooks.Unread...)
	case len(own) == 0:
		return skip("no webhook is served from namespace %s", f.Namespace)
	}
	return pass("webhooks: %d", len(own))
}

// webhookBundles reports each bundle that verifies nothing, once for the webhooks that share it.
func webhookBundles(f *Facts) Outcome {
	if len(f.Webhooks.Unread) > 0 {
		return unknown(f.Webhooks.Unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	own := f.ownWebhooks()
	for i := range own {
		found = append(found, f.judgeBundle(served{subject: own[i].String(), bundle: own[i].Client.CABundle})...)
	}
	return judged(fmt.Sprintf("webhooks: %d", len(own)), found)
}

// webhookCertificates judges the certificate of each Service by each bundle, once. What is wrong with the certificate itself is reported once.
func webhookCertificates(f *Facts) Outcome {
	if len(f.Webhooks.Unread) > 0 {
		return unknown(f.Webhooks.Unread...)
	}
	outcome, judgedAlready := skip("the Secret of the serving certificate is not known"), map[string]bool{}
	var found []diagnosticsv1alpha1.Finding
	own := f.ownWebhooks()
	for i := range own {
		w := &own[i]
		key := w.Client.Service.Name + string(w.Client.CABundle)
		of := f.secretOf(w.Client.Service.Name)
		if judgedAlready[key] || of == nil {
			continue
		}
		judgedAlready[key] = true
		one := f.serving(served{subject: w.String(), service: w.Client.Service.Name, bundle: w.Client.CABundle, secret: of})
		for _, problem := range one.Findings {
			if !slices.ContainsFunc(found, func(f diagnosticsv1alpha1.Finding) bool { return f.Message == problem.Message }) {
				found = append(found, problem)
			}
		}
		if outcome.State == Skipped || one.State == Unknown {
			outcome = one
		}
	}
	if len(found) > 0 {
		return judged(outcome.Detail, found)
	}
	return outcome
}

func webhookEndpoints(f *Facts) Outcome {
	if unread := slices.Concat(f.Webhooks.Unread, f.Services.Unread, f.Endpoints.Unread); len(unread) > 0 {
		return unknown(unread...)
	}
	var names []string
	for _, w := range f.ownWebhooks() {
		if !slices.Contains(names, w.Client.Service.Name) {
			names = append(names, w.Client.Service.Name)
		}
	}
	var found []diagnosticsv1alpha1.Finding
	var details []string
	for _, name := range names {
		service := named(f.Services.Value, name)
		switch {
		case service == nil:
			found = append(found, report(finding.WebhookUnserved, "kubectl -n "+f.Namespace+" get services", "service %q does not exist", name))
		case service.Spec.ExternalName != "":
			details = append(details, name+" is outside the cluster")
		case f.readyEndpoints(name) == 0:
			found = append(found, report(finding.WebhookUnserved, fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", f.Namespace, name),
				"service %q has no ready endpoint", name))
		default:
			details = append(details, fmt.Sprintf("%s: %d", name, f.readyEndpoints(name)))
		}
	}
	return judged(strings.Join(details, ", "), found)
}

// readyEndpoints counts the endpoints of a Service; one that does not say is ready.
func (f *Facts) readyEndpoints(service string) int {
	n := 0
	for i := range f.Endpoints.Value {
		slice := &f.Endpoints.Value[i]
		if slice.Labels["kubernetes.io/service-name"] != service {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				n += len(endpoint.Addresses)
			}
		}
	}
	return n
}
