package attack

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/extension"
)

// recordedLimits would have koord-descheduler set a limit of 64 cores.
const recordedLimits = `{"time":"2026-01-02T03:04:05Z","usage":"1","containers":{"main":{"before":"64","after":"1"}}}`

// TestWhoMayNotResizePodsRecordsNoLimits: an editor of a namespace may write annotations, and may not resize pods.
func TestWhoMayNotResizePodsRecordsNoLimits(t *testing.T) {
	pods, key := editor(t).CoreV1().Pods(tenantNamespace), extension.AnnotationLoweredCPULimits
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, recordedLimits)

	mine(t, podOf("limits-patched"))
	_, err := pods.Patch(t.Context(), "limits-patched", types.MergePatchType, patch, metav1.PatchOptions{})
	refusedBy(t, err, "KOORD1318")

	created := podOf("limits-created")
	created.Annotations[key] = recordedLimits
	_, err = pods.Create(t.Context(), created, metav1.CreateOptions{})
	refusedBy(t, err, "KOORD1318")

	if _, err := tenant.CoreV1().Pods(tenantNamespace).Patch(t.Context(), "limits-patched", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Errorf("one who may resize pods is refused: %v", err)
	}
	if _, err := pods.Patch(t.Context(), "limits-patched", types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, key), metav1.PatchOptions{}); err != nil {
		t.Errorf("to remove it is refused: %v", err)
	}
}

// editor may do what the ClusterRole edit grants in the tenant's namespace.
func editor(t *testing.T) kubernetes.Interface {
	t.Helper()
	const user = "mallory"
	_, err := admin.RbacV1().RoleBindings(tenantNamespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := tenantConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
