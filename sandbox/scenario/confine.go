package scenario

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/sandbox/component"
)

// KeepToSimulatedNodes makes the pods of the waves run on simulated nodes only, in a sandbox that has another node.
func KeepToSimulatedNodes(waves []Wave) {
	for _, wave := range waves {
		for _, object := range wave.Objects {
			switch o := object.(type) {
			case *corev1.Pod:
				confine(&o.Spec)
			case *appsv1.Deployment:
				confine(&o.Spec.Template.Spec)
			case *batchv1.Job:
				confine(&o.Spec.Template.Spec)
			}
		}
	}
}

func confine(spec *corev1.PodSpec) {
	if spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	spec.NodeSelector[component.SimulatedNodeLabel] = "true"
}
