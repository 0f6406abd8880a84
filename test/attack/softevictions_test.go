package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// softRequest asks node agents for the eviction of a pod.
const softRequest = `{"initiator":"koord-descheduler","reason":"node is overutilized"}`

// TestTenantsRequestNoSoftEvictions tries every way to have a node agent use up its eviction budget, for pods of the tenant's own.
func TestTenantsRequestNoSoftEvictions(t *testing.T) {
	pods, key := tenant.CoreV1().Pods(tenantNamespace), extension.AnnotationSoftEviction
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, softRequest)
	attempts := map[string]func(t *testing.T, name string) error{
		"created": func(t *testing.T, name string) error {
			pod := podOf(name)
			pod.Annotations[key], pod.Spec.NodeName = softRequest, "sim-0001"
			_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
			return err
		},
		"merge patch": func(t *testing.T, name string) error {
			mine(t, podOf(name))
			_, err := pods.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"server-side apply": func(t *testing.T, name string) error {
			mine(t, podOf(name))
			applied := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"annotations":{%q:%q}}}`, name, key, softRequest)
			_, err := pods.Patch(t.Context(), name, types.ApplyPatchType, applied, metav1.PatchOptions{FieldManager: "eve", Force: new(true)})
			return err
		},
		"update": func(t *testing.T, name string) error {
			pod := mine(t, podOf(name))
			pod.Annotations = map[string]string{key: softRequest}
			_, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{})
			return err
		},
		"status": func(t *testing.T, name string) error {
			mine(t, podOf(name))
			_, err := pods.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		},
		"binding": func(t *testing.T, name string) error {
			mine(t, podOf(name))
			return pods.Bind(t.Context(), &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{key: softRequest}},
				Target:     corev1.ObjectReference{Kind: "Node", Name: "sim-0001"},
			}, metav1.CreateOptions{})
		},
		"another value": func(t *testing.T, name string) error {
			requestedByAdmin(t, name)
			_, err := pods.Patch(t.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"{}"}}}`, key), metav1.PatchOptions{})
			return err
		},
	}
	for way, attempt := range attempts {
		t.Run(way, func(t *testing.T) {
			name := strings.ReplaceAll("soft-"+way, " ", "-")
			refusedBy(t, attempt(t, name), "KOORD1315")
			if pod, err := pods.Get(t.Context(), name, metav1.GetOptions{}); err == nil && way != "another value" && pod.Annotations[key] != "" {
				t.Errorf("the pod has %s=%s all the same", key, pod.Annotations[key])
			}
		})
	}
	t.Run("what was requested can be cancelled", func(t *testing.T) {
		requestedByAdmin(t, "soft-cancelled")
		cancel := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, key)
		if _, err := pods.Patch(t.Context(), "soft-cancelled", types.MergePatchType, cancel, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("another annotation is the tenant's affair", func(t *testing.T) {
		requestedByAdmin(t, "soft-other")
		if _, err := pods.Patch(t.Context(), "soft-other", types.MergePatchType, []byte(`{"metadata":{"annotations":{"team":"a"}}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// requestedByAdmin creates a pod of the tenant for the time of a test, with a request of one who may make it.
func requestedByAdmin(t *testing.T, name string) {
	t.Helper()
	mine(t, podOf(name))
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, extension.AnnotationSoftEviction, softRequest)
	if _, err := admin.CoreV1().Pods(tenantNamespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestControllersMakeNoPodsWithRequests: the permissions of the controller that creates the pods do not matter.
func TestControllersMakeNoPodsWithRequests(t *testing.T) {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"app": "requests"}, Annotations: map[string]string{extension.AnnotationSoftEviction: softRequest},
	}, Spec: podOf("requests").Spec}
	if _, err := tenant.AppsV1().Deployments(tenantNamespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "requests"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		_ = admin.AppsV1().Deployments(tenantNamespace).Delete(context.Background(), "requests", background)
	})
	awaitControllersRefused(t, "KOORD1315", "ReplicaSet")
}
