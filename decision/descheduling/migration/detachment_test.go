package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// webPod is a pod of ReplicaSet web-7d.
func webPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-7d-x", UID: podUID, ResourceVersion: "7", Labels: map[string]string{"app": "web", "pod-template-hash": "7d"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d", UID: "set", Controller: new(true)}},
	}}
}

const detachment = `{"metadata":{"annotations":{"descheduler.koordinator.sh/surge":` +
	`"{\"job\":\"move\",\"jobUID\":\"job\",\"podTemplateHash\":\"7d\",\"replicaSet\":\"web-7d\",\"replicaSetUID\":\"set\"}"},` +
	`"labels":{"pod-template-hash":null},"resourceVersion":"7","uid":"pod"}}`

func TestWhatIsDetachedIsAttachedAsItWas(t *testing.T) {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move", UID: jobUID}}
	patch, err := Detachment(job, webPod())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(detachment, string(patch)); diff != "" {
		t.Errorf("detachment (-want +got):\n%s", diff)
	}
	pod := webPod()
	delete(pod.Labels, "pod-template-hash")
	pod.Annotations = map[string]string{extension.AnnotationSurge: `{"job":"move","jobUID":"job","podTemplateHash":"7d","replicaSet":"web-7d","replicaSetUID":"set"}`}
	const back = `"annotations":{"descheduler.koordinator.sh/surge":null},"labels":{"pod-template-hash":"7d"},`
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"the ReplicaSet has let it go": {
			func(pod *corev1.Pod) { pod.OwnerReferences = nil },
			`{"metadata":{` + back + `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d","uid":"set","controller":true}],"resourceVersion":"7","uid":"pod"}}`,
		},
		"the ReplicaSet still owns it": {func(*corev1.Pod) {}, `{"metadata":{` + back + `"resourceVersion":"7","uid":"pod"}}`},
		"an annotation that cannot be read": {
			func(pod *corev1.Pod) { pod.Annotations[extension.AnnotationSurge] = "{" },
			`{"metadata":{"annotations":{"descheduler.koordinator.sh/surge":null},"resourceVersion":"7","uid":"pod"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := pod.DeepCopy()
			test.change(pod)
			patch, err := Attachment(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(patch)); diff != "" {
				t.Errorf("attachment (-want +got):\n%s", diff)
			}
		})
	}
	bare := webPod()
	bare.OwnerReferences = nil
	if _, err := Detachment(job, bare); err == nil {
		t.Error("a pod without a ReplicaSet is detached")
	}
}
