package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

var quotaResource = schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")

// elastic makes a quota of cpu that pods belong to.
func elastic(t *testing.T, namespace, name, parent, minimum, maximum string) {
	t.Helper()
	share(t, namespace, name, parent, minimum, maximum, false)
}

// share makes a quota of cpu, for pods or for other quotas.
func share(t *testing.T, namespace, name, parent, minimum, maximum string, isParent bool) {
	t.Helper()
	create(t, quotaResource, shareOf(namespace, name, parent, minimum, maximum, isParent))
}

func shareOf(namespace, name, parent, minimum, maximum string, isParent bool) *schedulingsigsv1alpha1.ElasticQuota {
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	return &schedulingsigsv1alpha1.ElasticQuota{
		TypeMeta: metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{extension.LabelQuotaParent: parent, extension.LabelQuotaIsParent: fmt.Sprint(isParent)},
		},
		Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Min: cpu(minimum), Max: cpu(maximum)},
	}
}

// raise sets the max of a quota.
func raise(t *testing.T, namespace, name, maximum string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"max":{"cpu":%q}}}`, maximum)
	_, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// tenant submits pods of one CPU.
func tenant(t *testing.T, namespace, pool string, from, count int) {
	t.Helper()
	for i := range count {
		mustSubmit(t, demand(namespace, fmt.Sprintf("job-%02d", from+i), pool, "cpu", "1"))
	}
}

// whyPending asks koordctl about a pod that is not bound.
func whyPending(t *testing.T, namespace, pod string) (diagnosticsv1alpha1.PodExplanationStatus, string, error) {
	t.Helper()
	result, err := shared.Koordctl(t.Context(), "explain", "pod", pod, "-n", namespace, "-o", "json")
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("explain pod %s: exit code %d: %s", pod, result.Code, result.Stderr)
	}
	var explanation diagnosticsv1alpha1.PodExplanation
	if err == nil {
		err = json.Unmarshal([]byte(result.Stdout), &explanation)
	}
	return explanation.Status, result.Stdout, err
}

// refusedWith checks that a pod is pending for the reason with a code, and that the explanation names what it should.
func refusedWith(t *testing.T, namespace, pod, wantCode string, wantNames ...string) error {
	t.Helper()
	status, text, err := whyPending(t, namespace, pod)
	if err != nil {
		return err
	}
	if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || !strings.Contains(text, wantCode) {
		return fmt.Errorf("%s is %s with %s, want Unschedulable with %s: %s", pod, status.Verdict, status.Code, wantCode, status.Summary)
	}
	for _, name := range wantNames {
		if !strings.Contains(text, name) {
			return fmt.Errorf("the explanation of %s does not name %s:\n%s", pod, name, text)
		}
	}
	return nil
}

func TestTenantsBorrowAndGiveBack(t *testing.T) {
	observe(t)
	const pool = "quotas"
	machines(t, pool, 3)
	above, a, b := space(t, "inv-dept"), space(t, "inv-tenant-a"), space(t, "inv-tenant-b")
	share(t, above, above, "", "8", "16", true)
	elastic(t, a, a, above, "4", "12")
	elastic(t, b, b, above, "4", "12")

	// Nobody else asks: a borrows up to its max.
	tenant(t, a, pool, 0, 13)
	awaitBound(t, patience, a, 12, 1)
	sandboxtest.Eventually(t, patience, func() error { return refusedAny(t, a, "KOORD1201", a) })

	// b asks for its part: of what is above its min, half. The rest is with a.
	tenant(t, b, pool, 0, 10)
	awaitBound(t, patience, b, 8, 2)
	sandboxtest.Eventually(t, patience, func() error { return refusedAny(t, b, "KOORD1202", b, a) })

	// a gives back.
	giveBack(t, a, 9)
	awaitBound(t, patience, b, 10, 0)

	// More than max, until max is raised, here and above.
	tenant(t, b, pool, 10, 4)
	awaitBound(t, patience, b, 12, 2)
	sandboxtest.Eventually(t, patience, func() error { return refusedAny(t, b, "KOORD1201", b) })
	raise(t, b, b, "16")
	raise(t, above, above, "24")
	awaitBound(t, patience, b, 14, 0)
}

// refusedAny is refusedWith for the first pending pod of a namespace.
func refusedAny(t *testing.T, namespace, wantCode string, wantNames ...string) error {
	t.Helper()
	_, pending, err := boundIn(t.Context(), namespace)
	if err != nil {
		return err
	}
	if len(pending) == 0 {
		return fmt.Errorf("no pod of %s is pending", namespace)
	}
	return refusedWith(t, namespace, pending[0].Name, wantCode, wantNames...)
}

// giveBack deletes pods of a namespace, pending ones first.
func giveBack(t *testing.T, namespace string, count int) {
	t.Helper()
	bound, pending, err := boundIn(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range append(pending, bound...)[:count] {
		if err := remove(t.Context(), namespace, pod.Name); err != nil {
			t.Fatal(err)
		}
	}
}
