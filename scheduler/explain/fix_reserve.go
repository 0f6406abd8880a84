package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/reason"
)

// costEndReservation is that of room that somebody counts on: no work is lost, but other work may have to wait.
const costEndReservation = 60.0

// endings proposes to end a reservation that holds what a node lacks. Reserve pods are mostly more important than any other pod,
// and so no victims.
func endings(e *evaluation) []candidate {
	var list []candidate
	for info, missing := range e.curable() {
		for _, held := range reservedOn(info, e.pod) {
			if frees(held, missing) {
				list = append(list, ending(info.Node().Name, held.GetPod()))
			}
		}
	}
	return keepCheapest(list, 8)
}

// reservedOn lists the reserve pods of a node, but for the pod itself.
func reservedOn(info fwk.NodeInfo, pod *corev1.Pod) []fwk.PodInfo {
	var list []fwk.PodInfo
	for _, other := range info.GetPods() {
		if decision.IsReservePod(other.GetPod()) && other.GetPod().UID != pod.UID {
			list = append(list, other)
		}
	}
	return list
}

func ending(node string, held *corev1.Pod) candidate {
	return candidate{
		cost: costEndReservation,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "endReservation", Node: node,
			Description: fmt.Sprintf("end %s, which holds resources on node %s", reason.Called(held), node), Steps: []diagnosticsv1alpha1.FixStep{reason.Eviction(held)},
		},
		edit: func(w *world) (*world, error) { return w.withoutPod(held, node) },
	}
}
