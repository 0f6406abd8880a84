package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// slim drops what takes memory and is not read: of all objects who wrote which field; of pods what their containers run, probes and the
// like; of the Node its images; of the NodeMetric what this agent itself reported.
func slim(object any) (any, error) {
	if meta, has := object.(metav1.ObjectMetaAccessor); has {
		meta.GetObjectMeta().SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		slimPod(o)
	case *corev1.Node:
		delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
		o.Status.Images, o.Status.VolumesInUse, o.Status.VolumesAttached = nil, nil, nil
	case *slov1alpha1.NodeMetric:
		o.Status = slov1alpha1.NodeMetricStatus{}
	}
	return object, nil
}

// slimPod keeps of volumes those of PersistentVolumeClaims, by which disks are found, and where containers have them.
func slimPod(pod *corev1.Pod) {
	delete(pod.Annotations, corev1.LastAppliedConfigAnnotation)
	pod.Spec.Tolerations, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = nil, nil, nil
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim == nil })
	claimed := func(mount corev1.VolumeMount) bool {
		return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			c := &containers[i]
			c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(mount corev1.VolumeMount) bool { return !claimed(mount) })
			c.Env, c.EnvFrom, c.Command, c.Args = nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle = nil, nil, nil, nil
		}
	}
	if len(pod.Spec.Volumes) == 0 {
		pod.Spec.Volumes = nil
	}
}
