package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// claims are the annotations that say what a pod was given, each with a value that takes something.
var claims = map[string]string{
	extension.AnnotationResourceStatus:       `{"cpuset":"0-1"}`,
	extension.AnnotationDeviceAllocated:      `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100"}}]}`,
	extension.AnnotationGPUMinors:            "0,1",
	extension.AnnotationReservationAllocated: `{"name":"theirs","uid":"00000000-0000-0000-0000-000000000001"}`,
}

// podOf is a pod that no scheduler looks at.
func podOf(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: tenantNamespace, Labels: map[string]string{"app": name}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody", TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{Name: "main", Image: "sandbox.invalid/main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			}}},
		},
	}
}

// mine creates a pod of the tenant for the time of a test.
func mine(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	made, err := tenant.CoreV1().Pods(tenantNamespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.CoreV1().Pods(tenantNamespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}) // it may be gone
	})
	return made
}

// refusedBy fails the test where an attempt went through, or was refused for another reason.
func refusedBy(t *testing.T, err error, want string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("the attempt ends with %v, want it forbidden with %q", err, want)
	}
}

// awaitControllersRefused waits until controllers of some kinds were refused the pods of the tenant's templates, with a code.
func awaitControllersRefused(t *testing.T, code string, kinds ...string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		events, err := admin.CoreV1().Events(tenantNamespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
		if err != nil {
			return err
		}
		refused := map[string]bool{}
		for _, event := range events.Items {
			if strings.Contains(event.Message, code) {
				refused[event.InvolvedObject.Kind] = true
			}
		}
		for _, kind := range kinds {
			if !refused[kind] {
				return fmt.Errorf("refused are the pods of %v, want those of a %s", refused, kind)
			}
		}
		return nil
	})
}

// TestNobodyButTheSchedulerSaysWhatAPodWasGiven tries every way to write the annotations that node agents obey.
func TestNobodyButTheSchedulerSaysWhatAPodWasGiven(t *testing.T) {
	const code = "KOORD1311"
	pods := tenant.CoreV1().Pods(tenantNamespace)
	for key, value := range claims {
		short := key[strings.LastIndex(key, "/")+1:]
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
		attempts := map[string]func(t *testing.T, name string) error{
			"created": func(t *testing.T, name string) error {
				pod := podOf(name)
				pod.Annotations[key] = value
				_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
				return err
			},
			"created on a node": func(t *testing.T, name string) error {
				pod := podOf(name)
				pod.Annotations[key], pod.Spec.NodeName = value, "sim-0001"
				_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
				return err
			},
			"merge patch": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				_, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				return err
			},
			"JSON patch": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				add := fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations","value":{%q:%q}}]`, key, value)
				_, err := pods.Patch(t.Context(), name, types.JSONPatchType, []byte(add), metav1.PatchOptions{})
				return err
			},
			"server-side apply": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				applied := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"annotations":{%q:%q}}}`, name, key, value)
				_, err := pods.Patch(t.Context(), name, types.ApplyPatchType, []byte(applied), metav1.PatchOptions{FieldManager: "eve", Force: new(true)})
				return err
			},
			"update": func(t *testing.T, name string) error {
				pod := mine(t, podOf(name))
				pod.Annotations = map[string]string{key: value}
				_, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{})
				return err
			},
			"status": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				_, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
				return err
			},
			"resize": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				_, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "resize")
				return err
			},
			"binding": func(t *testing.T, name string) error {
				mine(t, podOf(name))
				return pods.Bind(t.Context(), &corev1.Binding{
					ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{key: value}},
					Target:     corev1.ObjectReference{Kind: "Node", Name: "sim-0001"},
				}, metav1.CreateOptions{})
			},
			"ephemeral containers": func(t *testing.T, name string) error {
				pod := mine(t, podOf(name))
				pod.Annotations = map[string]string{key: value}
				pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "sandbox.invalid/debug"}}}
				_, err := pods.UpdateEphemeralContainers(t.Context(), name, pod, metav1.UpdateOptions{})
				return err
			},
		}
		for way, attempt := range attempts {
			t.Run(short+", "+way, func(t *testing.T) {
				name := strings.ReplaceAll(strings.ToLower("p-"+short+"-"+way), " ", "-")
				switch err := attempt(t, name); way {
				case "resize", "ephemeral containers": // the API server keeps no metadata of these
					if err != nil {
						t.Error(err)
					}
				default:
					refusedBy(t, err, code)
				}
				if pod, err := pods.Get(t.Context(), name, metav1.GetOptions{}); err == nil && pod.Annotations[key] != "" {
					t.Errorf("the pod has %s=%s all the same", key, pod.Annotations[key])
				}
			})
		}
	}
}

// TestControllersMakeNoPodsWithClaims: what a tenant may not create itself, no controller creates from its template.
func TestControllersMakeNoPodsWithClaims(t *testing.T) {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"app": "claims"}, Annotations: map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"0-1"}`},
	}, Spec: podOf("claims").Spec}
	selector := &metav1.LabelSelector{MatchLabels: template.Labels}
	jobTemplate := *template.DeepCopy()
	jobTemplate.Labels, jobTemplate.Spec.RestartPolicy = map[string]string{"app": "claims-job"}, corev1.RestartPolicyNever
	apps, batch := tenant.AppsV1(), tenant.BatchV1()
	if _, err := apps.Deployments(tenantNamespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "claims"}, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Jobs(tenantNamespace).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "claims-job"}, Spec: batchv1.JobSpec{Template: jobTemplate},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, background := context.Background(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		_ = admin.AppsV1().Deployments(tenantNamespace).Delete(ctx, "claims", background)
		_ = admin.BatchV1().Jobs(tenantNamespace).Delete(ctx, "claims-job", background)
	})
	awaitControllersRefused(t, "KOORD1311", "ReplicaSet", "Job")
}

// TestWhatThePodWasGivenStaysAsItIs: the tenant changes and removes what the scheduler wrote on its own pod.
func TestWhatThePodWasGivenStaysAsItIs(t *testing.T) {
	pod := podOf("bound")
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
	pod.Spec.SchedulerName, pod.Spec.PriorityClassName = "koord-scheduler", "koord-prod"
	two := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: two, Limits: two}
	mine(t, pod)
	given := ""
	sandboxtest.Eventually(t, patience, func() error {
		bound, err := admin.CoreV1().Pods(tenantNamespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if given = bound.Annotations[extension.AnnotationResourceStatus]; given == "" || bound.Spec.NodeName == "" {
			return fmt.Errorf("node %q, annotations %v", bound.Spec.NodeName, bound.Annotations)
		}
		return nil
	})
	for name, value := range map[string]any{"more CPUs": `{"cpuset":"0-12"}`, "none": nil, "the CPUs of others": `{"cpuset":"14-15"}`} {
		t.Run(name, func(t *testing.T) {
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{extension.AnnotationResourceStatus: value}}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = tenant.CoreV1().Pods(tenantNamespace).Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			refusedBy(t, err, "KOORD1311")
		})
	}
	t.Run("another label is the tenant's affair", func(t *testing.T) {
		if _, err := tenant.CoreV1().Pods(tenantNamespace).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"a"}}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// TestLimitsOfABatchPodStayThoseOfItsSpec: the annotation repeats them, and is the manager's.
func TestLimitsOfABatchPodStayThoseOfItsSpec(t *testing.T) {
	pod := podOf("batch")
	pod.Labels[extension.LabelPodQoS], pod.Spec.PriorityClassName = string(extension.QoSBE), "koord-batch"
	offered := corev1.ResourceList{extension.BatchCPU: resource.MustParse("100"), extension.BatchMemory: resource.MustParse("64Mi")}
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: offered, Limits: offered}
	mine(t, pod)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, extension.AnnotationExtendedResourceSpec,
		`{"containers":{"main":{"limits":{"kubernetes.io/batch-memory":"100Gi"}}}}`)
	_, err := tenant.CoreV1().Pods(tenantNamespace).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	refusedBy(t, err, "KOORD1311")
}
