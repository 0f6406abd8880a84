package controlplane

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// CopyOf is a template with what makes another pod: its name, node, labels and owner.
func CopyOf(template, pod *corev1.Pod) *corev1.Pod {
	out := template.DeepCopy()
	out.Name, out.UID, out.Spec.NodeName, out.Labels, out.OwnerReferences = pod.Name, uuid.NewUUID(), pod.Spec.NodeName, pod.Labels, pod.OwnerReferences
	out.Status.ContainerStatuses[0].ContainerID = "containerd://" + string(out.UID)
	return out
}

// CreateRunningPod creates a pod of one container that has been ready for a day. It has no managed fields, which are of no one that is measured.
func (c *ControlPlane) CreateRunningPod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pods := c.Client.CoreV1().Pods(pod.Namespace)
	created, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	since := metav1.NewTime(time.Now().Add(-24 * time.Hour))
	created.Status.Phase, created.Status.StartTime = corev1.PodRunning, &since
	for _, condition := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		created.Status.Conditions = append(created.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	image := "registry.example/team/web@sha256:" + strings.Repeat("0123456789abcdef", 4)
	created.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: created.Spec.Containers[0].Name, Ready: true, Started: new(true), Image: image, ImageID: image, ContainerID: "containerd://" + string(created.UID),
		State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		AllocatedResources: created.Spec.Containers[0].Resources.Requests, Resources: &created.Spec.Containers[0].Resources,
	}}
	updated, err := pods.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	updated.ManagedFields = nil
	return updated, nil
}
