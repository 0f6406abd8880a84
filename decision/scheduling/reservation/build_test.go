package reservation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func newPod(name string, requests ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: list(requests...)}}}},
	}
}

// newObject is an available Reservation for pods labelled app=web.
func newObject(name string, requests ...string) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template:       &corev1.PodTemplateSpec{Spec: newPod("", requests...).Spec},
			Owners:         []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
			AllocateOnce:   new(false),
			AllocatePolicy: schedulingv1alpha1.ReservationAllocatePolicyAligned,
		},
		Status: schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "node-1", Allocatable: list(requests...)},
	}
}

func compile(t testing.TB, object *schedulingv1alpha1.Reservation) *Reservation {
	t.Helper()
	compiled, problems := Compile(object)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return compiled
}

func demandOf(t testing.TB, pod *corev1.Pod) *Demand {
	t.Helper()
	demand, err := NewDemand(pod)
	if err != nil {
		t.Fatal(err)
	}
	return demand
}

func usersOf(pods ...*corev1.Pod) map[types.UID]User {
	users := map[types.UID]User{}
	for _, pod := range pods {
		users[pod.UID] = NewUser(pod, pod.Annotations)
	}
	return users
}
