package defaultprebind

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/scheduler/reason"
)

var _ reason.Annotator = &Plugin{}

// Annotated implements reason.Annotator.
func (p *Plugin) Annotated(state fwk.CycleState, pod *corev1.Pod, at time.Time) *corev1.Pod {
	annotated := pod.DeepCopy()
	for key, value := range toWrite(state, pod, at) {
		metav1.SetMetaDataAnnotation(&annotated.ObjectMeta, key, value)
	}
	return annotated
}
