package integration

import (
	"context"
	"errors"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/test/sandboxtest"
)

// setRules gives the manager's ClusterRole other rules, and returns those that it had.
func setRules(ctx context.Context, rules []rbacv1.PolicyRule) ([]rbacv1.PolicyRule, error) {
	roles := client.RbacV1().ClusterRoles()
	role, err := roles.Get(ctx, "koord-manager", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	before := role.Rules
	if rules == nil {
		return before, nil
	}
	role.Rules = rules
	_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
	return before, err
}

// allow gives the manager's ClusterRole the rules that it has in a chart with some values, until the end of the test.
func allow(t *testing.T, values map[string]any) {
	t.Helper()
	for _, object := range chartOf(t, systemNamespace, values) {
		var role rbacv1.ClusterRole
		if object.GetKind() != "ClusterRole" || object.GetName() != "koord-manager" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			t.Fatal(err)
		}
		before, err := setRules(t.Context(), role.Rules)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := setRules(context.Background(), before); err != nil {
				t.Errorf("restore the role: %v", err)
			}
		})
		return
	}
	t.Fatal("the chart has no role of the manager")
}

// asksAboutUpdatesOfPods reports whether updates of pods wait for the webhook, as they do without the policy of the labels.
func asksAboutUpdatesOfPods(ctx context.Context) (bool, error) {
	configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	for _, webhook := range configuration.Webhooks {
		for _, rule := range webhook.Rules {
			if webhook.Name == "validate-pod.koordinator.sh" && rule.Resources[0] == "pods" && len(rule.Operations) > 1 {
				return true, nil
			}
		}
	}
	return false, nil
}

// TestAManagerDoesWithoutAPolicyThatAnOlderChartDoesNotAllow has a manager lead with the roles of a chart that does not know
// the policy of the labels: it registers the webhooks all the same, which see what the policy would, and takes the policy
// into use when the chart is upgraded.
func TestAManagerDoesWithoutAPolicyThatAnOlderChartDoesNotAllow(t *testing.T) {
	awaitLabelPolicy(t)
	backToTheSandbox(t)
	rules, err := setRules(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	older := slices.DeleteFunc(slices.Clone(rules), func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.Resources, "validatingadmissionpolicies")
	})
	if len(older) == len(rules) {
		t.Fatal("the role has no rule for the policy of the labels")
	}
	restore := func() error {
		_, err := setRules(context.WithoutCancel(t.Context()), rules)
		return err
	}
	t.Cleanup(func() {
		if err := restore(); err != nil {
			t.Errorf("restore the role: %v", err)
		}
	})
	if _, err := setRules(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	suspend(t)
	manager := startManager(t, managerFile())
	vacate(t)
	awaitLeader(t, manager.webhooks)
	sandboxtest.Eventually(t, patience, func() error {
		asks, err := asksAboutUpdatesOfPods(t.Context())
		if err == nil && !asks {
			err = errors.New("nobody sees the updates of pods")
		}
		return err
	})
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	awaitLabelPolicy(t)
}
