package node

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/realnode"
)

// Container runs the workload's program with arguments, or nothing where there are none.
func Container(name string, resources corev1.ResourceRequirements, args ...string) corev1.Container {
	image := realnode.WorkloadImage
	if len(args) == 0 {
		image = realnode.PauseImage
	}
	return corev1.Container{Name: name, Image: image, ImagePullPolicy: corev1.PullNever, Args: args, Resources: resources}
}

// Pod of containers.
func Pod(name string, containers ...corev1.Container) *corev1.Pod {
	grace := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace, Labels: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: containers, TerminationGracePeriodSeconds: &grace},
	}
}
