package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

var quotaProfileResource = quotav1alpha1.GroupVersion.WithResource("elasticquotaprofiles")

// awaitQuotaAdmission waits until quotas and the configuration are judged.
func awaitQuotaAdmission(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, time.Minute, func() error {
		configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
		if err != nil {
			return err
		}
		var names []string
		for i := range configuration.Webhooks {
			names = append(names, configuration.Webhooks[i].Name)
		}
		for _, want := range []string{"validate-elasticquota.koordinator.sh", "validate-configmap.koordinator.sh"} {
			if !strings.Contains(strings.Join(names, " "), want) {
				return fmt.Errorf("%s is not among %v", want, names)
			}
		}
		return nil
	})
}

// quotaOf is a quota of cpu in a namespace, with labels in pairs.
func quotaOf(namespace, name, least, most string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	q := &schedulingsigsv1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}},
		Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{
			Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(least)}, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(most)},
		},
	}
	for i := 0; i < len(labels); i += 2 {
		q.Labels[labels[i]] = labels[i+1]
	}
	return q
}

func createQuota(t *testing.T, quota *schedulingsigsv1alpha1.ElasticQuota) error {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(quota)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamicClient.Resource(quotaResource).Namespace(quota.Namespace).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	return err
}

func patchQuota(t *testing.T, namespace, name, patch string) error {
	t.Helper()
	_, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func deleteQuota(namespace, name string) error {
	return dynamicClient.Resource(quotaResource).Namespace(namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
}

func readQuota(t *testing.T, namespace, name string) *schedulingsigsv1alpha1.ElasticQuota {
	t.Helper()
	object, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quota := &schedulingsigsv1alpha1.ElasticQuota{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, quota); err != nil {
		t.Fatal(err)
	}
	return quota
}

// refusedFor checks that a write was refused with a code; "" wants it admitted.
func refusedFor(t *testing.T, what string, err error, wantCode string) {
	t.Helper()
	switch {
	case wantCode == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case wantCode != "" && (err == nil || !strings.Contains(err.Error(), wantCode)):
		t.Errorf("%s: got %v, want a refusal with %s", what, err, wantCode)
	}
}

func TestTheTreeOfQuotasKeepsItsRules(t *testing.T) {
	awaitQuotaAdmission(t)
	ns := space(t, "quota-rules")
	parent, child := extension.LabelQuotaIsParent, extension.LabelQuotaParent
	tree := extension.LabelQuotaTreeID
	// Applied one right after the other: each sees those before.
	refusedFor(t, "a parent", createQuota(t, quotaOf(ns, "rules-dept", "10", "20", parent, "true", tree, "77")), "")
	refusedFor(t, "a child beyond its parent", createQuota(t, quotaOf(ns, "rules-a", "16", "20", child, "rules-dept")), "KOORD1209")
	refusedFor(t, "a child", createQuota(t, quotaOf(ns, "rules-a", "6", "40", child, "rules-dept")), "")
	refusedFor(t, "a second child beyond", createQuota(t, quotaOf(ns, "rules-b", "5", "20", child, "rules-dept")), "KOORD1209")
	refusedFor(t, "a second child", createQuota(t, quotaOf(ns, "rules-b", "4", "20", child, "rules-dept")), "")
	refusedFor(t, "an orphan", createQuota(t, quotaOf(ns, "rules-c", "0", "20", child, "rules-none")), "KOORD1207")
	refusedFor(t, "a child of a leaf", createQuota(t, quotaOf(ns, "rules-c", "0", "20", child, "rules-a")), "KOORD1326")
	refusedFor(t, "another tree", createQuota(t, quotaOf(ns, "rules-c", "0", "20", child, "rules-dept", tree, "78")), "KOORD1325")
	refusedFor(t, "min beyond max", createQuota(t, quotaOf(ns, "rules-c", "30", "20")), "min")

	got := readQuota(t, ns, "rules-a")
	if got.Labels[tree] != "77" || got.Annotations[extension.AnnotationQuotaSharedWeight] != `{"cpu":"40"}` {
		t.Errorf("the child was not completed: %v %v", got.Labels, got.Annotations)
	}
	if root := readQuota(t, ns, "rules-dept").Labels[child]; root != extension.RootQuotaName {
		t.Errorf("the parent of the parent is %q", root)
	}

	label := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, value) }
	refusedFor(t, "the tree changes", patchQuota(t, ns, "rules-a", label(tree, `"78"`)), "KOORD1324")
	refusedFor(t, "a parent becomes a leaf", patchQuota(t, ns, "rules-dept", label(parent, `"false"`)), "KOORD1322")
	refusedFor(t, "a parent below its child", patchQuota(t, ns, "rules-dept", label(child, `"rules-dept"`)), "KOORD1206")
	refusedFor(t, "a child is raised beyond", patchQuota(t, ns, "rules-a", `{"spec":{"min":{"cpu":"7"}}}`), "KOORD1209")
	refusedFor(t, "by force", patchQuota(t, ns, "rules-a", `{"metadata":{"labels":{"`+extension.LabelQuotaAllowForceUpdate+`":"true"}},"spec":{"min":{"cpu":"7"}}}`), "")
	refusedFor(t, "a parent is lowered", patchQuota(t, ns, "rules-dept", `{"spec":{"min":{"cpu":"9"}}}`), "KOORD1209")
	refusedFor(t, "a resource of its own", patchQuota(t, ns, "rules-a", `{"spec":{"max":{"memory":"1Gi"}}}`), "KOORD1212")
	refusedFor(t, "max is raised", patchQuota(t, ns, "rules-a", `{"spec":{"max":{"cpu":"50"}}}`), "")
	if weight := readQuota(t, ns, "rules-a").Annotations[extension.AnnotationQuotaSharedWeight]; weight != `{"cpu":"50"}` {
		t.Errorf("the weight does not follow max: %s", weight)
	}
	refusedFor(t, "a namespace", patchQuota(t, ns, "rules-a", `{"metadata":{"annotations":{"`+extension.AnnotationQuotaNamespaces+`":"[\"rules-x\"]"}}}`), "")
	refusedFor(t, "the same namespace", patchQuota(t, ns, "rules-b", `{"metadata":{"annotations":{"`+extension.AnnotationQuotaNamespaces+`":"[\"rules-x\"]"}}}`), "KOORD1327")

	refusedFor(t, "deleting a parent", deleteQuota(ns, "rules-dept"), "KOORD1322")
	refusedFor(t, "deleting the default quota", deleteQuota("koordinator-system", extension.DefaultQuotaName), "KOORD1321")
	// From the leaves up, at once.
	for _, name := range []string{"rules-b", "rules-a", "rules-dept"} {
		refusedFor(t, "deleting "+name, deleteQuota(ns, name), "")
	}
}

func TestQuotasWithPodsStay(t *testing.T) {
	awaitQuotaAdmission(t)
	ns := space(t, "quota-pods")
	refusedFor(t, "a leaf", createQuota(t, quotaOf(ns, "pods-leaf", "1", "2")), "")
	refusedFor(t, "a parent", createQuota(t, quotaOf(ns, "pods-dept", "1", "2", extension.LabelQuotaIsParent, "true")), "")
	pod := func(name, quota string) *corev1.Pod {
		p := demand(ns, name, "nowhere", "cpu", "1")
		p.Labels[extension.LabelQuotaName] = quota
		return p
	}
	var err error
	sandboxtest.Eventually(t, patience, func() error {
		_, err = client.CoreV1().Pods(ns).Create(t.Context(), pod("lost", "pods-dept"), dryRun)
		if err == nil || !strings.Contains(err.Error(), "KOORD1307") {
			return fmt.Errorf("a pod of a parent: %w", err)
		}
		return nil
	})
	mustSubmit(t, pod("waiting", "pods-leaf")) // it never gets a node
	refusedFor(t, "deleting a quota with a pending pod", deleteQuota(ns, "pods-leaf"), "KOORD1323")
	refusedFor(t, "a quota with a pending pod becomes a parent", patchQuota(t, ns, "pods-leaf", `{"metadata":{"labels":{"`+extension.LabelQuotaIsParent+`":"true"}}}`), "KOORD1323")
	if err := remove(t.Context(), ns, "waiting"); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error { return deleteQuota(ns, "pods-leaf") })
}

func TestPodsOfANamespaceDoNotSlipIntoAParent(t *testing.T) {
	awaitQuotaAdmission(t)
	ns, elsewhere := space(t, "quota-namesake"), space(t, "quota-elsewhere")
	isParent := extension.LabelQuotaIsParent
	admitted := func(namespace string) error {
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), demand(namespace, "p", "nowhere", "cpu", "1"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	listing := quotaOf(ns, "namesake-listing", "1", "2", isParent, "true")
	listing.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["` + elsewhere + `"]`}
	refusedFor(t, "a parent that lists a namespace", createQuota(t, listing), "KOORD1332")
	refusedFor(t, "a leaf that does", createQuota(t, func() *schedulingsigsv1alpha1.ElasticQuota {
		leaf := listing.DeepCopy()
		delete(leaf.Labels, isParent)
		return leaf
	}()), "")
	refusedFor(t, "a pod before there is a parent", admitted(ns), "")
	refusedFor(t, "a parent with the name of its namespace", createQuota(t, quotaOf(ns, ns, "1", "2", isParent, "true")), "")
	sandboxtest.Eventually(t, patience, func() error {
		if err := admitted(ns); err == nil || !strings.Contains(err.Error(), "KOORD1307") {
			return fmt.Errorf("a pod of the parent's namespace: %w", err)
		}
		return nil
	})
	refusedFor(t, "a pod of a leaf's namespace", admitted(elsewhere), "")
	for _, name := range []string{ns, "namesake-listing"} {
		refusedFor(t, "deleting "+name, deleteQuota(ns, name), "")
	}
	sandboxtest.Eventually(t, patience, func() error { return admitted(ns) })
}

func TestAQuotaProfileIsAsLargeAsItsNodes(t *testing.T) {
	awaitQuotaAdmission(t)
	const pool = "quota-profile"
	names := machines(t, pool, 2)
	ns := space(t, "quota-profile")
	ratio := "0.5"
	create(t, quotaProfileResource, &quotav1alpha1.ElasticQuotaProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: quotav1alpha1.GroupVersion.String(), Kind: "ElasticQuotaProfile"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "pool"},
		Spec: quotav1alpha1.ElasticQuotaProfileSpec{
			QuotaName: "profile-root", ResourceRatio: &ratio, QuotaLabels: map[string]string{"kind": "pool"},
			NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": pool}},
		},
	})
	half := func(count int) *resource.Quantity {
		node, err := client.CoreV1().Nodes().Get(t.Context(), names[0], metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return resource.NewMilliQuantity(node.Status.Allocatable.Cpu().MilliValue()*int64(count)/2, resource.DecimalSI)
	}
	sized := func(count int) error {
		object, err := dynamicClient.Resource(quotaResource).Namespace(ns).Get(t.Context(), "profile-root", metav1.GetOptions{})
		if err != nil {
			return err
		}
		cpu, _, _ := unstructured.NestedString(object.Object, "spec", "min", "cpu")
		if got, err := resource.ParseQuantity(cpu); err != nil || got.Cmp(*half(count)) != 0 {
			return fmt.Errorf("min is %q, want %s", cpu, half(count))
		}
		return nil
	}
	sandboxtest.Eventually(t, patience, func() error { return sized(2) })
	quota := readQuota(t, ns, "profile-root")
	profile, err := dynamicClient.Resource(quotaProfileResource).Namespace(ns).Get(t.Context(), "pool", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if id := quota.Labels[extension.LabelQuotaTreeID]; id == "" || profile.GetLabels()[extension.LabelQuotaTreeID] != id || quota.Labels["kind"] != "pool" || !extension.IsQuotaTreeRoot(quota) {
		t.Errorf("labels are %v, those of the profile %v", quota.Labels, profile.GetLabels())
	}
	child := quotaOf(ns, "profile-team", "1", "4", extension.LabelQuotaParent, "profile-root")
	child.Spec.Min[corev1.ResourceMemory], child.Spec.Max[corev1.ResourceMemory] = resource.MustParse("1Gi"), resource.MustParse("4Gi")
	refusedFor(t, "a child", createQuota(t, child), "")
	if got := readQuota(t, ns, "profile-team").Labels[extension.LabelQuotaTreeID]; got != quota.Labels[extension.LabelQuotaTreeID] {
		t.Errorf("the child is in tree %q", got)
	}
	// A node less, whatever the children have.
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), names[1], types.MergePatchType, []byte(`{"metadata":{"labels":{"pool":"elsewhere"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error { return sized(1) })
	if err := deleteQuota(ns, "profile-team"); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

func TestTheConfigurationIsReviewed(t *testing.T) {
	awaitQuotaAdmission(t)
	patch := `{"data":{"colocation-config":"{\"cpuReclaimThresholdPercent\": -1}","cpu-burst-config":"{"}}`
	_, err := client.CoreV1().ConfigMaps("koordinator-system").Patch(t.Context(), "slo-controller-config", types.MergePatchType, []byte(patch),
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	refusedFor(t, "two errors", err, "has 2 errors")
}

// asked is how often the API server has asked for a judgement of updates of quotas.
func asked(t *testing.T) int {
	t.Helper()
	metrics, err := client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for line := range strings.SplitSeq(string(metrics), "\n") {
		if !strings.HasPrefix(line, "apiserver_admission_webhook_request_total{") || !strings.Contains(line, `name="validate-elasticquota.koordinator.sh"`) ||
			!strings.Contains(line, `operation="UPDATE"`) {
			continue
		}
		count := 0
		if _, err := fmt.Sscan(line[strings.LastIndex(line, " "):], &count); err != nil {
			t.Fatal(err)
		}
		total += count
	}
	return total
}

func TestStatusesOfQuotasAskNobody(t *testing.T) {
	awaitQuotaAdmission(t)
	ns := space(t, "quota-status")
	refusedFor(t, "a quota", createQuota(t, quotaOf(ns, "status-leaf", "1", "2")), "")
	before := asked(t)
	for i := range 5 {
		status := fmt.Sprintf(`{"metadata":{"annotations":{"%s":"{\"cpu\":\"%d\"}"}},"status":{"used":{"cpu":"%d"}}}`, extension.AnnotationQuotaRuntime, i, i)
		refusedFor(t, "a status", patchQuota(t, ns, "status-leaf", status), "")
	}
	if after := asked(t); after != before {
		t.Errorf("asked %d times about statuses", after-before)
	}
	refusedFor(t, "a max", patchQuota(t, ns, "status-leaf", `{"spec":{"max":{"cpu":"3"}}}`), "")
	if after := asked(t); after != before+1 {
		t.Errorf("asked %d times about a new max, want once", after-before)
	}
	refusedFor(t, "deleting it", deleteQuota(ns, "status-leaf"), "")
}
