package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

var scheduleExplanations = schedulingv1alpha1.GroupVersion.WithResource("scheduleexplanations")

// answerTime is what the scheduler has for one answer: it rests up to 10 s after each.
const answerTime = 3 * time.Minute

// asked makes a ScheduleExplanation about a pod of the tenant, split by node if that were granted, and returns its answer as it is stored.
func asked(t *testing.T, as dynamic.Interface, namespace, pod string) *unstructured.Unstructured {
	t.Helper()
	name := "why-" + pod
	objects := dynamicAs(t, config).Resource(scheduleExplanations).Namespace(namespace)
	t.Cleanup(func() {
		_ = objects.Delete(context.Background(), name, metav1.DeleteOptions{}) // it may be gone with its pod
	})
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": schedulingv1alpha1.GroupVersion.String(), "kind": "ScheduleExplanation",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{extension.LabelTopologyKeyToExplain: "kubernetes.io/hostname"}},
		"spec":     map[string]any{"questionObjectKey": tenantNamespace + "/" + pod},
	}}
	if _, err := as.Resource(scheduleExplanations).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var answer *unstructured.Unstructured
	sandboxtest.Eventually(t, answerTime, func() (err error) {
		if answer, err = as.Resource(scheduleExplanations).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if _, found, _ := unstructured.NestedSlice(answer.Object, "status", "detailedExplanation"); !found {
			return fmt.Errorf("no answer about pod %s: %v", pod, answer.Object["status"])
		}
		return nil
	})
	return answer
}

// grantQuestions lets the tenant ask by objects in its namespace, which no role of the chart does.
func grantQuestions(t *testing.T) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "questions"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{scheduleExplanations.Group}, Resources: []string{scheduleExplanations.Resource}, Verbs: []string{"get", "list", "watch", "create"},
	}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: tenantNamespace, Name: tenantName}},
	}
	t.Cleanup(func() {
		_ = admin.RbacV1().RoleBindings(tenantNamespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		_ = admin.RbacV1().Roles(tenantNamespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
	})
	if _, err := admin.RbacV1().Roles(tenantNamespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().RoleBindings(tenantNamespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		_, err := dynamicAs(t, tenantConfig()).Resource(scheduleExplanations).Namespace(tenantNamespace).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// TestAnswersOfObjectsNameNothingOfOthers has a tenant ask by objects in its namespace, and looks for all that it may not get.
func TestAnswersOfObjectsNameNothingOfOthers(t *testing.T) {
	setStage(t)
	grantQuestions(t)
	as := caller{name: "tenant", client: tenant}
	for _, pod := range []string{"bound", "crowded-out", "beyond-quota", "beyond-reservation", "preempting"} {
		t.Run(pod, func(t *testing.T) {
			answer := asked(t, dynamicAs(t, tenantConfig()), tenantNamespace, pod)
			text, err := json.Marshal(answer.Object["status"])
			if err != nil {
				t.Fatal(err)
			}
			stored, err := tenant.CoreV1().Pods(tenantNamespace).Get(t.Context(), pod, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if names := as.leaked(string(text), []string{stored.Spec.NodeName}); len(names) > 0 {
				t.Errorf("it names %q:\n%s", names, text)
			}
			if message, _, _ := unstructured.NestedString(answer.Object, "status", "failedMessage"); stored.Spec.NodeName == "" && !strings.Contains(message, "KOORD") {
				t.Errorf("message %q does not say why", message)
			}
		})
	}
}

// TestAnswersInTheSystemsNamespaceAreForWhoMaySeeEverything asks there, where the answer names nodes, and reads it as all kinds of user.
func TestAnswersInTheSystemsNamespaceAreForWhoMaySeeEverything(t *testing.T) {
	setStage(t)
	users := callers(t)
	answer := asked(t, dynamicAs(t, config), systemNamespace, "crowded-out")
	if text, err := json.Marshal(answer.Object["status"]); err != nil || !strings.Contains(string(text), nodeNames[0]) {
		t.Errorf("the answer names no nodes (%v): %s", err, text)
	}
	for _, c := range users {
		for _, namespace := range []string{systemNamespace, tenantNamespace} {
			err := c.client.CoreV1().RESTClient().Get().AbsPath("/apis", scheduleExplanations.Group, scheduleExplanations.Version).
				Namespace(namespace).Resource(scheduleExplanations.Resource).Do(t.Context()).Error()
			if everything := slices.Contains(c.gets, "nodes") && slices.Contains(c.gets, "pods"); everything == apierrors.IsForbidden(err) || everything && err != nil {
				t.Errorf("%s reads answers in %s: %v", c.name, namespace, err)
			}
		}
	}
	err := dynamicAs(t, tenantConfig()).Resource(scheduleExplanations).Namespace(tenantNamespace).Delete(t.Context(), "x", metav1.DeleteOptions{})
	refusedBy(t, err, "cannot delete")
	refusedBy(t, createAs(t, tenantConfig(), systemNamespace), "cannot create")
	refusedBy(t, createAs(t, tenantConfig(), tenantNamespace), "cannot create")
}

// createAs tries to ask about a pod of the tenant.
func createAs(t *testing.T, as *rest.Config, namespace string) error {
	t.Helper()
	_, err := dynamicAs(t, as).Resource(scheduleExplanations).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": schedulingv1alpha1.GroupVersion.String(), "kind": "ScheduleExplanation", "metadata": map[string]any{"name": "why"},
		"spec": map[string]any{"questionObjectKey": tenantNamespace + "/bound"},
	}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}
