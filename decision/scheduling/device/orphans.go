package device

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// OrphanFindings say which of the pods on a node hold devices that are gone, replaced or not healthy, in the order of the pods.
// Labels are the node's; pods that have ended must not be among those given.
func OrphanFindings(object *schedulingv1alpha1.Device, labels map[string]string, pods []*corev1.Pod) []diagnosticsv1alpha1.Finding {
	var held []Held
	for _, pod := range pods {
		if allocation, holds := HeldBy(pod); holds {
			held = append(held, Held{Pod: pod, Allocation: allocation})
		}
	}
	if len(held) == 0 {
		return nil
	}
	return NewLedger(DecodeNode(object), labels, held).OrphanFindings(held)
}

// OrphanFindings say which pods and Reservations hold devices that are gone, replaced or not healthy. held is what the ledger was made
// from.
func (l *Ledger) OrphanFindings(held []Held) []diagnosticsv1alpha1.Finding {
	byName := map[string]*corev1.Pod{}
	for i := range held {
		byName[held[i].Pod.Namespace+"/"+held[i].Pod.Name] = held[i].Pod
	}
	var findings []diagnosticsv1alpha1.Finding
	for _, orphan := range l.orphans {
		holder, hint := "Pod "+orphan.Pod, ""
		switch pod := byName[orphan.Pod]; {
		case pod == nil:
		case reservation.IsReservePod(pod):
			holder, hint = "Reservation "+reservation.NameOf(pod), "kubectl delete reservation "+reservation.NameOf(pod)
		default:
			hint = fmt.Sprintf("kubectl -n %s delete pod %s", pod.Namespace, pod.Name)
		}
		findings = append(findings, diagnosticsv1alpha1.Finding{
			Code: string(finding.DeviceStray), Severity: diagnosticsv1alpha1.Severity(finding.DeviceStray.Severity()),
			Message: fmt.Sprintf("%s holds %s %d of node %s: %s.", holder, orphan.Type, orphan.Minor, l.node.name, orphan.Reason), Hint: hint,
			Object: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: l.node.name, Field: "spec.devices"},
		})
	}
	return findings
}
