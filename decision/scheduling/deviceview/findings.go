package deviceview

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/device"
)

// findings are the devices that are gone, replaced or not healthy and still held, those of which more is held than there is, and what
// pods claim beyond their requests.
func (v *view) findings() []diagnosticsv1alpha1.Finding {
	out := v.ledger.OrphanFindings(v.held)
	for i := range v.entries {
		if e := &v.entries[i]; e.HeldPercent() > 100 {
			out = append(out, v.ignored(fmt.Sprintf("%d%% of %s %d of node %s is held, by %s.", e.HeldPercent(), e.Type, e.Minor, v.Object.Name, holdersOf(e)), "koordctl why "+string(finding.ClaimIgnored)))
		}
	}
	for _, pod := range v.Pods {
		if !podrequest.Consumes(pod) {
			continue
		}
		if problem := device.Owners([]*corev1.Pod{pod})[0].Problem; problem != "" {
			message := fmt.Sprintf("Pod %s/%s on node %s: %s.", pod.Namespace, pod.Name, v.Object.Name, problem)
			out = append(out, v.ignored(message, fmt.Sprintf("kubectl -n %s delete pod %s", pod.Namespace, pod.Name)))
		}
	}
	return out
}

// ignored is a finding about what koordlet does not give to a pod.
func (v *view) ignored(message, hint string) diagnosticsv1alpha1.Finding {
	return diagnosticsv1alpha1.Finding{
		Code: string(finding.ClaimIgnored), Severity: diagnosticsv1alpha1.Severity(finding.ClaimIgnored.Severity()), Message: message, Hint: hint,
		Object: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: v.Object.Name, Field: "spec.devices"},
	}
}

// holdersOf names who holds a device.
func holdersOf(e *device.Entry) string {
	names := make([]string, len(e.Shares))
	for i := range e.Shares {
		names[i] = nameOf(e.Shares[i].Pod)
	}
	return strings.Join(names, ", ")
}

// nameOf is a pod as NAMESPACE/NAME, or a Reservation as reservation NAME.
func nameOf(pod *corev1.Pod) string {
	kind, namespace, name := named(pod)
	if kind == podKind {
		return namespace + "/" + name
	}
	return "reservation " + name
}
