package defaultprebind

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
)

// nothing maps each annotation in which schedulers write a pod's allocations to the value that stands for no allocation. Node
// agents and schedulers act on them, so a pod must not be bound with a value that no scheduler decided: users with the right to
// create pods could take CPUs and devices by writing it, and a failed attempt may have left it there. Every reader of JSON
// understands an empty object; not all of them understand an empty text.
var nothing = map[string]string{
	extension.AnnotationResourceStatus: "{}", extension.AnnotationDeviceAllocated: "{}",
	extension.AnnotationGPUMinors: "", extension.AnnotationReservationAllocated: "",
}

// toWrite are the annotations to be written on a pod: what plugins asked for, and nothing in the place of each annotation
// that pretends a decision. It is nil when there is nothing to write.
func toWrite(state fwk.CycleState, pod *corev1.Pod, now time.Time) map[string]string {
	annotations := annotationsAt(state, now)
	for key, value := range nothing {
		if _, known := annotations[key]; known || pod.Annotations[key] == "" {
			continue
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
	}
	if len(annotations) == 0 {
		return nil
	}
	return annotations
}

// patchOf is a merge patch of annotations, which removes those that say nothing.
func patchOf(annotations map[string]string) map[string]*string {
	patch := make(map[string]*string, len(annotations))
	for key, value := range annotations {
		patch[key] = nil
		if value != "" && value != nothing[key] {
			patch[key] = &value
		}
	}
	return patch
}
