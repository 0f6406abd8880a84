package check

import (
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

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
	if len(found) == 0 && len(f.UnlistedWebhooks) > 0 {
		return unknown(f.UnlistedWebhooks...)
	}
	return judged(fmt.Sprintf("webhooks: %d", len(own)), found)
}

// changesPods is true for a webhook that may change a pod when it is created.
func (w *WebhookFacts) changesPods() bool {
	return w.Kind == mutatingKind && w.covers("", "pods", admissionregistrationv1.Create)
}

// laterInjectors are the configurations of others whose webhooks change pods after one of ours that is not called again.
func (f *Facts) laterInjectors(w *WebhookFacts) []string {
	if !w.changesPods() || w.Reinvoked {
		return nil
	}
	var out []string
	for i := range f.Webhooks.Value {
		other := &f.Webhooks.Value[i]
		if !f.serves(other) && other.changesPods() && other.Configuration > w.Configuration && !slices.Contains(out, other.Configuration) {
			out = append(out, other.Configuration)
		}
	}
	return out
}
