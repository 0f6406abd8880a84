package integration

import (
	"context"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	release "helm.sh/helm/v4/pkg/release/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

func TestStockKubectlGetsAnExplanation(t *testing.T) {
	question := `{"apiVersion": "diagnostics.koordinator.sh/v1alpha1", "kind": "PodExplanation",
		"metadata": {"namespace": "analytics"}, "spec": {"podName": "monthly-report"}}`
	result := kubectl(t, question, "create", "-f", "-", "-o", "yaml")
	if result.Code != 0 || !strings.Contains(result.Stdout, "verdict: Unschedulable") {
		t.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
}

func TestStockKubectlListsNodesAsCoLocationSeesThem(t *testing.T) {
	result := kubectl(t, "", "get", "nodeoverviews", "-o", "wide")
	if result.Code != 0 || !strings.HasPrefix(result.Stdout, "NAME ") || !strings.Contains(result.Stdout, "sim-0007") || !strings.Contains(result.Stdout, "expired after") {
		t.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
	result = kubectl(t, "", "get", "nodeoverviews", "sim-9999")
	if result.Code == 0 || !strings.Contains(result.Stderr, `nodes "sim-9999" not found`) {
		t.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
}

func TestHelmSeesTheRelease(t *testing.T) {
	flags := genericclioptions.NewConfigFlags(true)
	path := shared.Directory() + "/kubeconfig"
	flags.KubeConfig = &path
	config := action.NewConfiguration()
	if err := config.Init(flags, systemNamespace, "secret"); err != nil {
		t.Fatal(err)
	}
	releases, err := action.NewList(config).Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range releases {
		if r, ok := found.(*release.Release); ok && r.Name == "koordinator" && r.Info.Status == "deployed" {
			return
		}
	}
	t.Errorf("no deployed release koordinator among %d", len(releases))
}

// grant gives a user the rules for the time of the test.
func grant(t *testing.T, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := "it-" + user
	roles, bindings := client.RbacV1().ClusterRoles(), client.RbacV1().ClusterRoleBindings()
	_, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := roles.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := bindings.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	waitUntilAllowed(t, user, rules[0])
}

// waitUntilAllowed waits until the API server's authorizer knows a new rule.
func waitUntilAllowed(t *testing.T, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0],
		},
	}}
	for range 100 {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status.Allowed {
			return
		}
	}
	t.Fatalf("%s is still not allowed to %s %s", user, rule.Verbs[0], rule.Resources[0])
}

func TestDenialsNameWhatIsMissingAndKeepTheRest(t *testing.T) {
	t.Run("a stranger learns which verb on which resource he lacks", func(t *testing.T) {
		result := koordctl(t, 1, "top", "nodes", "--as", "stranger")
		for _, want := range []string{"error:", "list", "nodes", "KOORD0002"} {
			if !strings.Contains(result.Stderr, want) {
				t.Errorf("stderr lacks %q:\n%s", want, result.Stderr)
			}
		}
	})
	t.Run("who may list nodes alone still sees them", func(t *testing.T) {
		grant(t, "nodes-only", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list", "get"}})
		result := koordctl(t, 0, "top", "nodes", "--as", "nodes-only")
		if !strings.Contains(result.Stdout, "sim-0001") {
			t.Errorf("nodes are missing:\n%s", result.Stdout)
		}
		for _, want := range []string{"incomplete:", "pods", "nodemetrics"} {
			if !strings.Contains(result.Stderr, want) {
				t.Errorf("stderr lacks %q:\n%s", want, result.Stderr)
			}
		}
	})
	t.Run("the right to ask is not the right to see the pod", func(t *testing.T) {
		grant(t, "asker", rbacv1.PolicyRule{
			APIGroups: []string{"diagnostics.koordinator.sh"}, Resources: []string{"podexplanations"}, Verbs: []string{"create"},
		})
		question := `{"apiVersion": "diagnostics.koordinator.sh/v1alpha1", "kind": "PodExplanation",
			"metadata": {"namespace": "analytics"}, "spec": {"podName": "monthly-report"}}`
		result := kubectl(t, question, "create", "--as", "asker", "-f", "-", "-o", "yaml")
		if result.Code == 0 || !strings.Contains(result.Stderr, "cannot get resource \"pods\"") {
			t.Errorf("exit code %d, want a refusal that names get pods\n%s%s", result.Code, result.Stdout, result.Stderr)
		}
	})
}

func TestUnknownNamesGetAHint(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"node that does not exist": {args: []string{"explain", "node", "sim-9999"}, want: []string{`"sim-9999"`, "hint:", "KOORD0003"}},
		"pod that does not exist":  {args: []string{"explain", "pod", "nobody"}, want: []string{`"nobody"`, "hint:", "KOORD0003"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := koordctl(t, 1, test.args...)
			for _, want := range test.want {
				if !strings.Contains(result.Stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, result.Stderr)
				}
			}
		})
	}
}
