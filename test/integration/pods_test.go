package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// space makes a namespace for the time of the test. One that an earlier run left may still be on its way out.
func space(t *testing.T, name string) string {
	t.Helper()
	namespaces := client.CoreV1().Namespaces()
	sandboxtest.Created(t, patience, func() error {
		_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		ctx := context.Background()
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
		if err := client.CoreV1().Pods(name).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		abolish(t, name)
		if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// abolish deletes the quotas of a namespace, as soon as admission has seen that their pods are gone. The namespace would take
// them with it, but one that is deleted right after the API server was killed can leave custom resources behind: its controller
// looks for them before they are served again. Nobody can write the status of what is left of a namespace that is gone.
func abolish(t *testing.T, namespace string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		err := dynamicClient.Resource(quotaResource).Namespace(namespace).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("delete the quotas of %s: %w", namespace, err)
		}
		return nil
	})
}

// demand is a pod of a pool. Pairs are resources and their amounts.
func demand(namespace, name, pool string, pairs ...string) *corev1.Pod {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			SchedulerName: "koord-scheduler", PriorityClassName: "koord-prod", RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector: map[string]string{"pool": pool}, TerminationGracePeriodSeconds: new(int64(0)),
			// No kubelet keeps the machines of these tests ready.
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "main", Image: "sandbox.invalid/main",
				Resources: corev1.ResourceRequirements{Requests: list, Limits: maps.Clone(list)},
			}},
		},
	}
}

// binding makes a pod one that owns its CPUs, by a policy if it is not empty.
func binding(pod *corev1.Pod, spec string) *corev1.Pod {
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
	if spec != "" {
		pod.Annotations[extension.AnnotationResourceSpec] = spec
	}
	return pod
}

// persist repeats an action on the API server until it is not its failure, as controllers do.
func persist(ctx context.Context, action func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for {
		err := action()
		var status apierrors.APIStatus
		answered := errors.As(err, &status) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsTooManyRequests(err) &&
			!apierrors.IsInternalError(err) && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsForbidden(err)
		if err == nil || answered || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// submit creates a pod, through outages.
func submit(ctx context.Context, pod *corev1.Pod) error {
	return persist(ctx, func() error {
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier attempt was lost
			return nil
		}
		return err
	})
}

// remove deletes a pod, through outages.
func remove(ctx context.Context, namespace, name string) error {
	return persist(ctx, func() error {
		err := client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// mustSubmit creates pods and fails the test where that fails.
func mustSubmit(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		if err := submit(t.Context(), pod); err != nil {
			t.Fatalf("create pod %s/%s: %v", pod.Namespace, pod.Name, err)
		}
	}
}

// boundIn lists the bound and the pending pods of a namespace.
func boundIn(ctx context.Context, namespace string) (bound, pending []corev1.Pod, err error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		} else {
			bound = append(bound, pod)
		}
	}
	return bound, pending, nil
}

// awaitBound waits until so many pods of a namespace are bound and so many are not.
func awaitBound(t *testing.T, within time.Duration, namespace string, wantBound, wantPending int) {
	t.Helper()
	sandboxtest.Eventually(t, within, func() error {
		bound, pending, err := boundIn(t.Context(), namespace)
		if err != nil {
			return err
		}
		if len(bound) != wantBound || len(pending) != wantPending {
			return fmt.Errorf("%s: %d pods are bound and %d pending, want %d and %d%s", namespace, len(bound), len(pending), wantBound, wantPending, why(pending))
		}
		return nil
	})
}

// why quotes what the scheduler says of the first pending pods.
func why(pending []corev1.Pod) string {
	text := ""
	for _, pod := range pending[:min(3, len(pending))] {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				text += fmt.Sprintf("\n%s: %s", pod.Name, condition.Message)
			}
		}
	}
	return text
}

// unstructuredCPU reads a quantity of cpu, in thousandths.
func unstructuredCPU(object map[string]any, fields ...string) (milli int64, found bool, err error) {
	text, found, err := unstructured.NestedString(object, fields...)
	if err != nil || !found {
		return 0, false, err
	}
	quantity, err := resource.ParseQuantity(text)
	return quantity.MilliValue(), true, err
}
