package manifest

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// templateOf is the metadata of an object and its pod; nil for an object that has none.
func templateOf(object runtime.Object) (*metav1.ObjectMeta, *corev1.PodTemplateSpec) {
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.ObjectMeta, &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}
	case *corev1.PodTemplate:
		return &o.ObjectMeta, &o.Template
	case *corev1.ReplicationController:
		if o.Spec.Template == nil {
			return &o.ObjectMeta, &corev1.PodTemplateSpec{}
		}
		return &o.ObjectMeta, o.Spec.Template
	case *appsv1.Deployment:
		return &o.ObjectMeta, &o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.ObjectMeta, &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.ObjectMeta, &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.ObjectMeta, &o.Spec.Template
	case *batchv1.Job:
		return &o.ObjectMeta, &o.Spec.Template
	case *batchv1.CronJob:
		return &o.ObjectMeta, &o.Spec.JobTemplate.Spec.Template
	}
	return nil, nil
}

func nameOf(object runtime.Object) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}
