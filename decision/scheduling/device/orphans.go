package device

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// OrphanFindings say which of the pods on a node hold devices that are gone, replaced or not healthy, in the order of the pods.
// Labels are the node's; pods that have ended must not be among those given.
func OrphanFindings(object *schedulingv1alpha1.Device, labels map[string]string, pods []*corev1.Pod) []diagnosticsv1alpha1.Finding {
	var held []Held
	byName := map[string]*corev1.Pod{}
	for _, pod := range pods {
		if allocation, holds := HeldBy(pod); holds {
			held = append(held, Held{Pod: pod, Allocation: allocation})
			byName[pod.Namespace+"/"+pod.Name] = pod
		}
	}
	if len(held) == 0 {
		return nil
	}
	var findings []diagnosticsv1alpha1.Finding
	for _, orphan := range NewLedger(DecodeNode(object), labels, held).Orphans() {
		pod := byName[orphan.Pod]
		findings = append(findings, diagnosticsv1alpha1.Finding{
			Code: string(finding.DeviceStray), Severity: diagnosticsv1alpha1.Severity(finding.DeviceStray.Severity()),
			Message: fmt.Sprintf("Pod %s holds %s %d of node %s: %s.", orphan.Pod, orphan.Type, orphan.Minor, object.Name, orphan.Reason),
			Hint:    fmt.Sprintf("kubectl -n %s delete pod %s", pod.Namespace, pod.Name),
			Object:  &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: object.Name, Field: "spec.devices"},
		})
	}
	return findings
}
