package migration

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Detachment is the merge patch that takes a pod from its ReplicaSet for a job: without the label pod-template-hash the ReplicaSet no
// longer selects it, removes its owner reference and creates another pod. Services, which do not select by that label, keep the pod.
func Detachment(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) ([]byte, error) {
	const hash = appsv1.DefaultDeploymentUniqueLabelKey
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil || controller.Kind != "ReplicaSet" || pod.Labels[hash] == "" {
		return nil, fmt.Errorf("detach pod %s/%s: it does not belong to the ReplicaSet of a Deployment", pod.Namespace, pod.Name)
	}
	surge, err := json.Marshal(extension.Surge{
		Job: job.Name, JobUID: job.UID, PodTemplateHash: pod.Labels[hash], ReplicaSet: controller.Name, ReplicaSetUID: controller.UID,
	})
	if err != nil {
		return nil, fmt.Errorf("detach pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return PodPatch(pod, map[string]any{"labels": map[string]any{hash: nil}, "annotations": map[string]any{extension.AnnotationSurge: string(surge)}})
}

// Attachment is the merge patch that gives a detached pod back. It restores the owner reference as well: when the ReplicaSet was deleted in
// the meantime, the garbage collector of Kubernetes then deletes the pod, too. An annotation that cannot be read is only removed.
func Attachment(pod *corev1.Pod) ([]byte, error) {
	changes := map[string]any{"annotations": map[string]any{extension.AnnotationSurge: nil}}
	surge, err := extension.GetSurge(pod.Annotations)
	if err == nil && surge.PodTemplateHash != "" {
		changes["labels"] = map[string]any{appsv1.DefaultDeploymentUniqueLabelKey: surge.PodTemplateHash}
	}
	if err == nil && surge.ReplicaSetUID != "" && metav1.GetControllerOfNoCopy(pod) == nil {
		changes["ownerReferences"] = append(pod.DeepCopy().OwnerReferences, metav1.OwnerReference{
			APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSet", Name: surge.ReplicaSet, UID: surge.ReplicaSetUID, Controller: new(true),
		})
	}
	return PodPatch(pod, changes)
}

// PodPatch is a merge patch of metadata, on the condition that the pod did not change.
func PodPatch(pod *corev1.Pod, changes map[string]any) ([]byte, error) {
	changes["uid"], changes["resourceVersion"] = pod.UID, pod.ResourceVersion
	patch, err := json.Marshal(map[string]any{"metadata": changes})
	if err != nil {
		return nil, fmt.Errorf("encode a patch of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return patch, nil
}

// ReplicaSetOf is the ReplicaSet of a pod, or the one that the pod was taken from; nil for other pods.
func ReplicaSetOf(pod *corev1.Pod) *metav1.OwnerReference {
	if controller := metav1.GetControllerOfNoCopy(pod); controller != nil {
		if controller.Kind != "ReplicaSet" || controller.APIVersion != appsv1.SchemeGroupVersion.String() {
			return nil
		}
		return controller
	}
	surge, err := extension.GetSurge(pod.Annotations)
	if err != nil || surge.ReplicaSet == "" {
		return nil
	}
	return &metav1.OwnerReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSet", Name: surge.ReplicaSet, UID: surge.ReplicaSetUID}
}
