package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/test/sandboxtest"
)

// bindInNamespace binds a ClusterRole to a user in one namespace for the time of the test.
func bindInNamespace(t *testing.T, namespace, role, user string) {
	t.Helper()
	bindings := client.RbacV1().RoleBindings(namespace)
	binding, err := bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "it-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(context.Background(), binding.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// TestNamespacedUsersAskWithStockKubectl creates questions as users with rights in one namespace only, who may not list
// CustomResourceDefinitions, and without turning kubectl's validation off.
func TestNamespacedUsersAskWithStockKubectl(t *testing.T) {
	question := func(field string) string {
		return fmt.Sprintf(`{"apiVersion": "diagnostics.koordinator.sh/v1alpha1", "kind": "PodExplanation",
			"metadata": {"namespace": "analytics"}, "spec": {%q: "monthly-report"}}`, field)
	}
	for _, role := range []string{"admin", "view"} {
		t.Run("role "+role, func(t *testing.T) {
			user := "namespaced-" + role
			bindInNamespace(t, "analytics", role, user)
			if may := kubectl(t, "", "auth", "can-i", "list", "customresourcedefinitions", "--as", user); may.Code == 0 {
				t.Fatalf("the user may list CustomResourceDefinitions, so this shows nothing: %s", may.Stdout)
			}
			// What an aggregated API server says of its kinds, the API server asks for once a minute.
			sandboxtest.Eventually(t, 2*patience, func() error {
				result := kubectl(t, question("podName"), "create", "--as", user, "-f", "-", "-o", "yaml")
				if result.Code != 0 || !strings.Contains(result.Stdout, "verdict: Unschedulable") {
					return fmt.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
				}
				return nil
			})
			result := kubectl(t, question("podname"), "create", "--as", user, "-f", "-", "-o", "yaml")
			if result.Code == 0 || !strings.Contains(result.Stderr, `unknown field "spec.podname"`) {
				t.Errorf("a misspelt field: exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
			}
		})
	}
}
