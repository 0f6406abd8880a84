package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
	"koordinator.sh/koord/test/sandboxtest"
)

// awaitLabelPolicy waits until the API server decides the label rules, and updates of pods do not wait for the webhook.
func awaitLabelPolicy(t *testing.T) {
	t.Helper()
	awaitAdmission(t)
	sandboxtest.Eventually(t, patience, func() error {
		if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(t.Context(), labelpolicy.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, webhook := range configuration.Webhooks {
			for _, rule := range webhook.Rules {
				if webhook.Name == "validate-pod.koordinator.sh" && rule.Resources[0] == "pods" && len(rule.Operations) > 1 {
					return fmt.Errorf("updates of pods wait for the webhook")
				}
			}
		}
		return nil
	})
}

// TestLabelRulesHoldWhileTheManagerIsDown stops the manager: what the API server decides by itself is decided as before.
func TestLabelRulesHoldWhileTheManagerIsDown(t *testing.T) {
	awaitLabelPolicy(t)
	const namespace = "label-rules"
	namespaceFor(t, namespace)
	sandboxtest.Created(t, patience, func() error {
		pod := admittedPod(namespace, map[string]string{"koordinator.sh/qosClass": "LS"})
		pod.Spec.NodeSelector = map[string]string{"no": "node"}
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	pause(t, "koord-manager")
	change := func(labels string) error {
		_, err := client.CoreV1().Pods(namespace).Patch(t.Context(), "pod", types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{})
		return err
	}
	if err := change(`{"mine":"1"}`); err != nil {
		t.Errorf("another label: %v", err)
	}
	for label, want := range map[string]string{
		`{"koordinator.sh/qosClass":"BE"}`: `labels.koordinator.sh/qosClass: Invalid value: "BE": field is immutable, it was "LS" (KOORD1305)`,
		`{"koordinator.sh/priority":"7"}`:  `labels.koordinator.sh/priority: Invalid value: "7": field is immutable, it was "" (KOORD1305)`,
	} {
		if err := change(label); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", label, err, want)
		}
	}
	pod := admittedPod(namespace, map[string]string{"koordinator.sh/qosClass": "BE"})
	pod.Name, pod.Spec.PriorityClassName = "other", "koord-prod"
	_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, dryRun)
	if want := "Pod: Forbidden: koordinator.sh/qosClass=BE and priorityClass=koord-prod cannot be used in combination (KOORD1303)"; !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("a forbidden combination: %v, want %s", err, want)
	}
}

func TestResizesAreValidated(t *testing.T) {
	awaitAdmission(t)
	const namespace = "resized-pods"
	namespaceFor(t, namespace)
	sandboxtest.Created(t, patience, func() error {
		pod := admittedPod(namespace, map[string]string{"koordinator.sh/qosClass": "LSR"})
		pod.Spec.NodeSelector, pod.Spec.PriorityClassName = map[string]string{"no": "node"}, "koord-prod"
		pod.Spec.Containers[0].Resources.Requests = amounts("cpu", "2")
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	resize := func(cpu string) error {
		patch := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
		_, err := client.CoreV1().Pods(namespace).Patch(t.Context(), "pod", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "resize")
		return err
	}
	if err := resize("1500m"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "KOORD1111") {
		t.Errorf("to a fraction of a CPU: %v", err)
	}
	if err := resize("3"); err != nil {
		t.Errorf("to whole CPUs: %v", err)
	}
}

func TestNodesThatCannotBeReadAreRefusedWithACode(t *testing.T) {
	awaitAdmission(t)
	name := machines(t, "validated", 1)[0]
	annotate := func(value string) error {
		_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"node.koordinator.sh/reservation":`+value+`}}}`), metav1.PatchOptions{})
		return err
	}
	for value, want := range map[string]string{
		`"{"`:                                "KOORD0201",
		`"{\"resources\":{\"cpu\":\"99\"}}"`: "99 of cpu is reserved, more than the node's capacity of 16 (KOORD0209)",
	} {
		sandboxtest.Eventually(t, patience, func() error {
			if err := annotate(value); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%s: %v, want %s", value, err, want)
			}
			return nil
		})
	}
	if err := annotate(`"{\"resources\":{\"cpu\":\"1\"}}"`); err != nil {
		t.Errorf("a sound reservation: %v", err)
	}
	_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"node.koordinator.sh/numa-topology-policy":"Strict"}}}`), metav1.PatchOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "KOORD0203") {
		t.Errorf("a NUMA policy that does not exist: %v", err)
	}
	var node *corev1.Node
	if node, err = client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{}); err != nil || node.Labels["node.koordinator.sh/numa-topology-policy"] != "" {
		t.Errorf("the node is %v, %v", node.Labels, err)
	}
}
