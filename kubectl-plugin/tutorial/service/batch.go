package service

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// CheckBatch returns an error unless all pods are what a ClusterColocationProfile makes of those of an engine: batch pods that
// koord-scheduler bound to the node.
func CheckBatch(node string, pods []corev1.Pod) error {
	var errs []error
	for i := range pods {
		pod := &pods[i]
		requests := pod.Spec.Containers[0].Resources.Requests
		cpu := requests[extension.BatchCPU]
		if pod.Spec.NodeName != node || pod.Spec.SchedulerName != "koord-scheduler" || pod.Labels[extension.LabelPodQoS] != string(extension.QoSBE) ||
			cpu.Value() == 0 || !requests.Cpu().IsZero() || !requests.Memory().IsZero() {
			errs = append(errs, fmt.Errorf("pod %q, scheduled by %q to %q, has labels %v and requests %v: it is no batch pod", pod.Name,
				pod.Spec.SchedulerName, pod.Spec.NodeName, pod.Labels, requests))
		}
	}
	return errors.Join(errs...)
}
