package check

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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
	Fails                 bool
	Namespaces, Objects   *metav1.LabelSelector
	Conditional, Mutating bool
	Reinvoked             bool
	TimeoutSeconds        int32
}

// String names the webhook.
func (w *WebhookFacts) String() string {
	return fmt.Sprintf("webhook %s of %s %s", w.Name, strings.ToLower(w.Kind), w.Configuration)
}

// ownWebhooks are those that a Service of the system's namespace serves, whatever the configuration is called.
func (f *Facts) ownWebhooks() []WebhookFacts {
	var out []WebhookFacts
	for i := range f.Webhooks.Value {
		if service := f.Webhooks.Value[i].Client.Service; service != nil && service.Namespace == f.Namespace {
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

// webhookCertificates judges the certificate of each Service by each bundle, once.
func webhookCertificates(f *Facts) Outcome {
	if len(f.Webhooks.Unread) > 0 {
		return unknown(f.Webhooks.Unread...)
	}
	outcome, judgedAlready := skip("the Secret of the serving certificate is not known"), map[string]bool{}
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
		if outcome.State == Skipped || len(one.Findings) > len(outcome.Findings) {
			outcome = one
		}
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

// webhookDeadlock finds webhooks that must answer before a pod of the system's own namespace is created: once their server is down, its
// pods are refused, and it stays down. What match conditions leave of that is not evaluated, so that they make it a warning.
func webhookDeadlock(f *Facts) Outcome {
	if unread := slices.Concat(f.Webhooks.Unread, f.NamespaceLabels.Unread); len(unread) > 0 {
		return unknown(unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	own := f.ownWebhooks()
	for i := range own {
		w := &own[i]
		if !w.Fails || !w.covers("", "pods", admissionregistrationv1.Create) || !selects(w.Namespaces, f.NamespaceLabels.Value) || !f.selectsServer(w) {
			continue
		}
		one := report(finding.WebhookDeadlock, "", "%s selects pods of namespace %q, in which its server runs, and has failurePolicy Fail", w, f.Namespace)
		if w.Conditional {
			one.Severity = diagnosticsv1alpha1.SeverityWarning
			one.Message += "; only its matchConditions may exempt them"
		}
		found = append(found, one)
	}
	return judged("", found)
}

// selectsServer says whether a webhook's object selector selects the pods of the server; without pods, whether it selects any.
func (f *Facts) selectsServer(w *WebhookFacts) bool {
	pods := f.podsOf(managerName)
	if len(pods) == 0 {
		return selects(w.Objects, map[string]string{nameLabel: managerName})
	}
	for i := range pods {
		if selects(w.Objects, pods[i].Labels) {
			return true
		}
	}
	return false
}

func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	if selector == nil {
		return true
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(of))
}

// covers says whether the rules of a webhook have it called for an operation on a resource.
func (w *WebhookFacts) covers(group, resource string, operation admissionregistrationv1.OperationType) bool {
	has := func(values []string, value string) bool {
		return slices.Contains(values, value) || slices.Contains(values, "*")
	}
	return slices.ContainsFunc(w.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		operations := slices.Contains(rule.Operations, operation) || slices.Contains(rule.Operations, admissionregistrationv1.OperationAll)
		resources := has(rule.Resources, resource) || slices.Contains(rule.Resources, "*/*")
		return operations && has(rule.APIGroups, group) && resources
	})
}

// slowest is the timeout in seconds above which a webhook that does not answer blocks its callers for too long.
const slowest = 10

// webhookSettings reports long timeouts, and webhooks that set the resources of pods once while a later webhook may add containers: those
// are called in the order of the names of their configurations.
func webhookSettings(f *Facts) Outcome {
	if len(f.Webhooks.Unread) > 0 {
		return unknown(f.Webhooks.Unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	own := f.ownWebhooks()
	for i := range own {
		w := &own[i]
		if w.TimeoutSeconds > slowest {
			found = append(found, report(finding.WebhookSettings, "", "%s has timeoutSeconds %d: while its server does not answer, each request waits as long", w, w.TimeoutSeconds))
		}
		if later := f.laterInjectors(w); len(later) > 0 {
			found = append(found, report(finding.WebhookSettings, "", "%s has reinvocationPolicy Never: it does not see containers that are added by %s, which is called after it",
				w, some(later)))
		}
	}
	if len(found) == 0 && len(f.OtherWebhooks.Unread) > 0 {
		return unknown(f.OtherWebhooks.Unread...)
	}
	return judged(fmt.Sprintf("webhooks: %d", len(own)), found)
}

// laterInjectors are the configurations of others whose webhooks change pods after one of ours that is not called again.
func (f *Facts) laterInjectors(w *WebhookFacts) []string {
	if !w.Mutating || w.Reinvoked || !w.covers("", "pods", admissionregistrationv1.Create) {
		return nil
	}
	var out []string
	for i := range f.OtherWebhooks.Value {
		other := &f.OtherWebhooks.Value[i]
		foreign := other.Client.Service == nil || other.Client.Service.Namespace != f.Namespace
		if foreign && other.Mutating && other.Configuration > w.Configuration && other.covers("", "pods", admissionregistrationv1.Create) &&
			!slices.Contains(out, other.Configuration) {
			out = append(out, other.Configuration)
		}
	}
	return out
}
