package main

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/connection/connectiontest"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const node = "node"

// cluster is what the agent reads: a node with a service and a best-effort pod, which is limited by its quota to 90 % of the node less
// what others use.
func cluster(cpus int64) (*connectiontest.Server, error) {
	server := connectiontest.New()
	size := corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("4Gi"),
	}
	enable, threshold, policy := true, int64(90), slov1alpha1.CPUCfsQuotaPolicy
	return server, errors.Join(
		server.Put("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{Capacity: size, Allocatable: size}}),
		server.Put("pods", pod("service", extension.QoSLS, corev1.PodQOSBurstable)),
		server.Put("pods", pod("batch", extension.QoSBE, corev1.PodQOSBestEffort)),
		server.Put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: slov1alpha1.NodeSLOSpec{
			ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
				Enable: &enable, CPUSuppressThresholdPercent: &threshold, CPUSuppressPolicy: policy,
			},
		}}),
	)
}

func pod(name string, qos extension.QoSClass, class corev1.PodQOSClass) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: string(qos)}},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: class},
	}
}
