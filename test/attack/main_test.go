package attack

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/test/sandboxtest"
)

// patience bounds waits for what is to come soon.
const patience = time.Minute

// The tenant is a ServiceAccount with the role that clusters give to those who administer one namespace.
const (
	tenantNamespace = "tenant"
	tenantName      = "eve"
	tenantUser      = "system:serviceaccount:" + tenantNamespace + ":" + tenantName
)

var (
	shared *sandboxtest.Sandbox
	config *rest.Config
	// admin may do everything, tenant what its role lets it.
	admin, tenant kubernetes.Interface
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	home, err := os.MkdirTemp("", "koord-at-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary directory
	if shared, err = sandboxtest.New("at", home); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := shared.Up(ctx, "--nodes", "3", "--scenario", "none"); err != nil {
		return 1, err
	}
	defer func() {
		if downErr := shared.Down(context.Background()); downErr != nil && err == nil {
			code, err = 1, downErr
		}
	}()
	if config, err = shared.Config(); err != nil {
		return 1, err
	}
	if admin, err = kubernetes.NewForConfig(config); err != nil {
		return 1, err
	}
	if err := settle(ctx); err != nil {
		return 1, err
	}
	if tenant, err = kubernetes.NewForConfig(tenantConfig()); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// settle makes the namespace of the tenant, and its roles in it: that of an administrator, and all rights on pods, since the policies
// are what is tried here.
func settle(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenantNamespace}}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: tenantName}}
	if _, err := admin.CoreV1().ServiceAccounts(tenantNamespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	pods := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "all-of-pods"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Verbs: []string{rbacv1.VerbAll},
		Resources: []string{"pods", "pods/binding", "pods/ephemeralcontainers", "pods/resize", "pods/status"},
	}}}
	if _, err := admin.RbacV1().Roles(tenantNamespace).Create(ctx, pods, metav1.CreateOptions{}); err != nil {
		return err
	}
	for kind, name := range map[string]string{"ClusterRole": "admin", "Role": pods.Name} {
		if _, err := admin.RbacV1().RoleBindings(tenantNamespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: tenantNamespace, Name: tenantName}},
		}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// tenantConfig asks as the tenant's ServiceAccount.
func tenantConfig() *rest.Config {
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{
		UserName: tenantUser, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + tenantNamespace, "system:authenticated"},
	}
	return as
}
