package controlplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MetricsToken makes an account in a namespace that may read metrics and profiles, and returns a token of it.
func (c *ControlPlane) MetricsToken(ctx context.Context, namespace string) (string, error) {
	meta := metav1.ObjectMeta{Name: "bench"}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics", "/debug/pprof/*"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: meta.Name}},
	}
	accounts := c.Client.CoreV1().ServiceAccounts(namespace)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err == nil {
		_, err = c.Client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = c.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	}
	if err != nil {
		return "", fmt.Errorf("allow the benchmark to read metrics: %w", err)
	}
	seconds := int64((6 * time.Hour).Seconds())
	token, err := accounts.CreateToken(ctx, meta.Name, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("make a token to read metrics with: %w", err)
	}
	return token.Status.Token, nil
}
