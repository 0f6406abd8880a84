package migration

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// detachedPod is a pod that was taken from ReplicaSet web-7d for a job.
func detachedPod(name, job string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{extension.AnnotationSurge: `{"job":"` + job + `","jobUID":"` + string(uid) +
			`","podTemplateHash":"7d","replicaSet":"web-7d","replicaSetUID":"set"}`},
	}}
}

func TestPodsOfJobsThatDoNotExistAreGivenBack(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulingv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	garbage := detachedPod("garbage", "", "")
	garbage.Annotations[extension.AnnotationSurge] = "{"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "running", UID: "running"}},
		&schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "unseen", UID: "unseen"}},
		detachedPod("of-a-running-job", "running", "running"), detachedPod("of-a-job-the-cache-lacks", "unseen", "unseen"),
		detachedPod("of-no-job", "gone", "gone"), detachedPod("of-a-namesake", "running", "another"), garbage,
	).Build()
	s := &scavenger{client: c, live: c, pods: podList(c, nil)}
	if err := s.attachOrphans(t.Context(), map[types.UID]bool{"running": true}); err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range pods.Items {
		got[pods.Items[i].Name] = attached(&pods.Items[i])
	}
	want := map[string]string{
		"of-a-running-job": "detached", "of-a-job-the-cache-lacks": "detached", "of-no-job": "7d of set", "of-a-namesake": "7d of set", "garbage": " of ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if err := s.attachOrphans(t.Context(), nil); err != nil {
		t.Fatalf("pods that have been given back: %v", err)
	}
}

// attached says by which label and owner a ReplicaSet knows a pod.
func attached(pod *corev1.Pod) string {
	if _, detached := pod.Annotations[extension.AnnotationSurge]; detached {
		return "detached"
	}
	owner := ""
	if controller := metav1.GetControllerOf(pod); controller != nil {
		owner = string(controller.UID)
	}
	return pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] + " of " + owner
}

func TestAPodThatChangedIsGivenBackTheNextTime(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulingv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(detachedPod("web", "gone", "gone")).Build()
	stale := detachedPod("web", "gone", "gone")
	stale.ResourceVersion = "1"
	s := &scavenger{client: c, live: c, pods: podList(c, nil)}
	if err := s.attach(t.Context(), stale); err == nil {
		t.Error("a pod is changed by what a stale cache says of it")
	}
	var pod corev1.Pod
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stale), &pod); err != nil {
		t.Fatal(err)
	}
	if got := attached(&pod); got != "detached" {
		t.Errorf("the pod is %s, want detached", got)
	}
}
