package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/test/sandboxtest"
)

// victim is another tenant. It has a quota with two pods' worth, a parent quota and its own tree.
const victim = "victim"

var quotaResource = schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")

// most is the largest amount that can be written.
const most = "9223372036854775807"

func quotaOf(namespace, name, least, limit string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	amount := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	q := &schedulingsigsv1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "ElasticQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: amount(least), Max: amount(limit)},
	}
	for i := 0; i < len(labels); i += 2 {
		q.Labels[labels[i]] = labels[i+1]
	}
	return q
}

func annotated(q *schedulingsigsv1alpha1.ElasticQuota, key, value string) *schedulingsigsv1alpha1.ElasticQuota {
	q.Annotations = map[string]string{key: value}
	return q
}

// quotasAs are ElasticQuotas as somebody sees them.
func quotasAs(t *testing.T, asTenant bool) dynamic.NamespaceableResourceInterface {
	t.Helper()
	as := config
	if asTenant {
		as = tenantConfig()
	}
	dynamicClient, err := dynamic.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	return dynamicClient.Resource(quotaResource)
}

func create(t *testing.T, quotas dynamic.NamespaceableResourceInterface, q *schedulingsigsv1alpha1.ElasticQuota) error {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(q)
	if err != nil {
		t.Fatal(err)
	}
	_, err = quotas.Namespace(q.Namespace).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	return err
}

// keep has a quota for the time of the test. Admission lets it go a moment after it has seen that no pods belong to it.
func keep(t *testing.T, quotas dynamic.NamespaceableResourceInterface, q *schedulingsigsv1alpha1.ElasticQuota) {
	t.Helper()
	t.Cleanup(func() {
		sandboxtest.Eventually(t, patience, func() error {
			err := quotasAs(t, false).Namespace(q.Namespace).Delete(context.Background(), q.Name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	})
	sandboxtest.Created(t, patience, func() error { return create(t, quotas, q) })
}

// settleQuotas lets the tenant write quotas in its namespace, as the owner of one, and makes those of the victim.
func settleQuotas(t *testing.T) (mine dynamic.NamespaceableResourceInterface) {
	t.Helper()
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: victim}}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "quotas"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{schedulingsigsv1alpha1.GroupVersion.Group}, Verbs: []string{rbacv1.VerbAll}, Resources: []string{"elasticquotas"},
	}}}
	if _, err := admin.RbacV1().Roles(tenantNamespace).Create(ctx, role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "quotas"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "quotas"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: tenantNamespace, Name: tenantName}},
	}
	if _, err := admin.RbacV1().RoleBindings(tenantNamespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	const parent, tree, root = extension.LabelQuotaIsParent, extension.LabelQuotaTreeID, extension.LabelQuotaIsRoot
	for _, q := range []*schedulingsigsv1alpha1.ElasticQuota{
		quotaOf(victim, "theirs", "2", "8"), quotaOf(victim, "theirs-dept", "2", "8", parent, "true"),
		annotated(quotaOf(victim, "theirs-pool", "1", "8", parent, "true", tree, "theirs", root, "true"), extension.AnnotationQuotaTotalResource, `{"cpu":"1"}`),
		annotated(quotaOf(victim, "shared", "0", "8"), extension.AnnotationQuotaNamespaces, `["shared-with"]`),
	} {
		keep(t, quotasAs(t, false), q)
	}
	mine = quotasAs(t, true)
	keep(t, mine, quotaOf(tenantNamespace, "mine", "1", "8"))
	return mine
}

// TestAQuotaTakesNothingFromOthers tries what the owner of a quota may write.
func TestAQuotaTakesNothingFromOthers(t *testing.T) {
	mine := settleQuotas(t)
	const parent, tree, root, force = extension.LabelQuotaParent, extension.LabelQuotaTreeID, extension.LabelQuotaIsRoot, extension.LabelQuotaAllowForceUpdate
	created := func(q *schedulingsigsv1alpha1.ElasticQuota) func() error {
		return func() error { return create(t, mine, q) }
	}
	patched := func(namespace, name, patch string) func() error {
		return func() error {
			_, err := mine.Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
	}
	label := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value) }
	for name, attempt := range map[string]struct {
		do   func() error
		want string
	}{
		"a quota guarantees itself all that can be written": {created(quotaOf(tenantNamespace, "all", most, most)), "KOORD1215"},
		"more than remains": {created(quotaOf(tenantNamespace, "all", "100000", most)), "remain"},
		"of what no node has": {created(func() *schedulingsigsv1alpha1.ElasticQuota {
			q := quotaOf(tenantNamespace, "all", "0", "1")
			q.Spec.Min["example.com/none"], q.Spec.Max["example.com/none"] = resource.MustParse("1"), resource.MustParse("1")
			return q
		}()), "KOORD1215"},
		"its own is raised":    {patched(tenantNamespace, "mine", `{"spec":{"min":{"cpu":"`+most+`"},"max":{"cpu":"`+most+`"}}}`), "KOORD1215"},
		"raised by force":      {patched(tenantNamespace, "mine", `{"metadata":{"labels":{"`+force+`":"true"}},"spec":{"min":{"cpu":"`+most+`"},"max":{"cpu":"`+most+`"}}}`), "KOORD1215"},
		"raised as a root":     {patched(tenantNamespace, "mine", `{"metadata":{"labels":{"`+root+`":"true"}},"spec":{"min":{"cpu":"`+most+`"},"max":{"cpu":"`+most+`"}}}`), "KOORD1215"},
		"sums are not checked": {patched(tenantNamespace, "mine", label(force, "true")), "KOORD1333"},
		"pods of another tenant in a quota that has none":  {patched(tenantNamespace, "mine", `{"metadata":{"annotations":{"`+extension.AnnotationQuotaNamespaces+`":"[\"victim\"]"}}}`), "KOORD1333"},
		"of another tenant from the start":                 {created(annotated(quotaOf(tenantNamespace, "trap", "0", "0"), extension.AnnotationQuotaNamespaces, `["victim"]`)), "KOORD1333"},
		"of a namespace to come":                           {created(annotated(quotaOf(tenantNamespace, "trap", "0", "0"), extension.AnnotationQuotaNamespaces, `["to-come"]`)), "KOORD1333"},
		"of the system":                                    {created(annotated(quotaOf(tenantNamespace, "trap", "0", "0"), extension.AnnotationQuotaNamespaces, `["kube-system"]`)), "KOORD1333"},
		"a quota below another tenant's":                   {created(quotaOf(tenantNamespace, "below", "1", "8", parent, "theirs-dept")), "KOORD1333"},
		"its own moves below another tenant's":             {patched(tenantNamespace, "mine", label(parent, "theirs-dept")), "KOORD1333"},
		"a quota beside the root of another tenant's tree": {created(quotaOf(tenantNamespace, "beside", "0", "8", tree, "theirs")), "KOORD1333"},
		"a quota below the root of another tenant's tree":  {created(quotaOf(tenantNamespace, "below", "0", "8", parent, "theirs-pool", tree, "theirs")), "KOORD1333"},
		"a quota in a tree to come":                        {created(quotaOf(tenantNamespace, "early", "0", "8", tree, "to-come")), "KOORD1333"},
		"a tree with the nodes of everybody":               {created(annotated(quotaOf(tenantNamespace, "tree", "0", "8", tree, "eve", root, "true"), extension.AnnotationQuotaTotalResource, `{"cpu":"`+most+`"}`)), "KOORD1333"},
		"another root of another tenant's tree":            {created(annotated(quotaOf(tenantNamespace, "tree", "0", "8", tree, "theirs", root, "true"), extension.AnnotationQuotaTotalResource, `{"cpu":"1"}`)), "KOORD1333"},
		"a quota of the system":                            {created(quotaOf(tenantNamespace, extension.SystemQuotaName, "0", "0")), "KOORD1333"},
		"a name that is taken":                             {created(quotaOf(tenantNamespace, "theirs", "0", "0")), "KOORD1208"},
		"another tenant's max falls":                       {patched(victim, "theirs", `{"spec":{"min":{"cpu":"0"},"max":{"cpu":"0"}}}`), "cannot patch"},
		"another tenant's is labelled":                     {patched(victim, "theirs", label("x", "y")), "cannot patch"},
		"another tenant's is deleted":                      {func() error { return mine.Namespace(victim).Delete(t.Context(), "theirs", metav1.DeleteOptions{}) }, "cannot delete"},
		"a quota in another namespace":                     {created(quotaOf(victim, victim, "0", "0")), "cannot create"},
		"a profile, of which the manager makes a tree": {func() error {
			profiles, err := dynamic.NewForConfig(tenantConfig())
			if err != nil {
				return err
			}
			_, err = profiles.Resource(quotav1alpha1.GroupVersion.WithResource("elasticquotaprofiles")).Namespace(tenantNamespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": quotav1alpha1.GroupVersion.String(), "kind": "ElasticQuotaProfile", "metadata": map[string]any{"name": "all"}, "spec": map[string]any{"quotaName": "all"},
			}}, metav1.CreateOptions{})
			return err
		}, "cannot create"},
	} {
		t.Run(name, func(t *testing.T) { refusedBy(t, attempt.do(), attempt.want) })
	}
	t.Run("what is one's own is admitted", func(t *testing.T) {
		// In this order: a quota that lists the namespace has its pods, and cannot be deleted.
		for _, one := range []struct {
			what string
			do   func() error
		}{
			{"a max", patched(tenantNamespace, "mine", `{"spec":{"max":{"cpu":"9"}}}`)},
			{"less min", patched(tenantNamespace, "mine", `{"spec":{"min":{"cpu":"500m"}}}`)},
			{"its own namespace", patched(tenantNamespace, "mine", `{"metadata":{"annotations":{"`+extension.AnnotationQuotaNamespaces+`":"[\"tenant\"]"}}}`)},
			{"none", patched(tenantNamespace, "mine", `{"metadata":{"annotations":{"`+extension.AnnotationQuotaNamespaces+`":null}}}`)},
		} {
			if err := one.do(); err != nil {
				t.Errorf("%s: %v", one.what, err)
			}
		}
	})
	t.Run("the victim still has its share", func(t *testing.T) {
		stored, err := quotasAs(t, false).Namespace(victim).Get(t.Context(), "theirs", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if least, _, _ := unstructured.NestedString(stored.Object, "spec", "min", "cpu"); least != "2" {
			t.Errorf("its min is %s", least)
		}
	})
}

// inQuota is a pod of the tenant that names a quota.
func inQuota(name, quota string) *corev1.Pod {
	pod := podOf(name)
	pod.Labels[extension.LabelQuotaName] = quota
	return pod
}

// TestNobodyUsesTheQuotaOfOthers tries every way to make a pod that names one.
func TestNobodyUsesTheQuotaOfOthers(t *testing.T) {
	settleQuotas(t)
	const code = "KOORD1314"
	pods := tenant.CoreV1().Pods(tenantNamespace)
	t.Run("created", func(t *testing.T) {
		for _, quota := range []string{"theirs", "shared"} {
			_, err := pods.Create(t.Context(), inQuota("direct", quota), metav1.CreateOptions{})
			refusedBy(t, err, code)
		}
	})
	t.Run("created on a node", func(t *testing.T) {
		pod := inQuota("placed", "theirs")
		pod.Spec.NodeName = "sim-0001"
		_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		refusedBy(t, err, code)
	})
	t.Run("server-side apply", func(t *testing.T) {
		pod := inQuota("applied", "theirs")
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		content, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pods.Patch(t.Context(), pod.Name, types.ApplyPatchType, content, metav1.PatchOptions{FieldManager: "eve", Force: new(true)})
		refusedBy(t, err, code)
	})
	t.Run("labelled later", func(t *testing.T) {
		mine(t, podOf("later"))
		_, err := pods.Patch(t.Context(), "later", types.MergePatchType, []byte(`{"metadata":{"labels":{"`+extension.LabelQuotaName+`":"theirs"}}}`), metav1.PatchOptions{})
		refusedBy(t, err, "KOORD1305")
	})
	t.Run("labelled by a binding", func(t *testing.T) {
		mine(t, podOf("bound-into"))
		for _, key := range podvalidation.ImmutableLabels() {
			err := pods.Bind(t.Context(), &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: "bound-into", Labels: map[string]string{key: "theirs"}}, Target: corev1.ObjectReference{Kind: "Node", Name: "sim-0001"},
			}, metav1.CreateOptions{})
			refusedBy(t, err, "KOORD1305")
		}
	})
	t.Run("by a controller that may do everything", func(t *testing.T) {
		pod := inQuota("owned", "theirs")
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Batch", Name: "eve", UID: "00000000-0000-0000-0000-000000000001", Controller: new(true)}}
		_, err := admin.CoreV1().Pods(tenantNamespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		refusedBy(t, err, code)
	})
	t.Run("by controllers", byControllers)
	t.Run("those who may", func(t *testing.T) {
		if _, err := pods.Create(t.Context(), inQuota("own", "mine"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("its own quota: %v", err)
		}
		if _, err := admin.CoreV1().Pods(tenantNamespace).Create(t.Context(), inQuota("administrators", "theirs"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("an administrator: %v", err)
		}
		grantUse(t, "shared", "default")
		sandboxtest.Eventually(t, patience, func() error {
			_, err := pods.Create(t.Context(), inQuota("granted", "shared"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		})
		_, err := pods.Create(t.Context(), inQuota("another", "theirs"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		refusedBy(t, err, code)
	})
}

// grantUse lets a ServiceAccount of the tenant use a quota of the victim.
func grantUse(t *testing.T, quota, account string) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "use-" + quota}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{schedulingsigsv1alpha1.GroupVersion.Group}, Verbs: []string{"use"}, Resources: []string{"elasticquotas"}, ResourceNames: []string{quota},
	}}}
	if _, err := admin.RbacV1().Roles(victim).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: tenantNamespace, Name: account}},
	}
	if _, err := admin.RbacV1().RoleBindings(victim).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.RbacV1().RoleBindings(victim).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		_ = admin.RbacV1().Roles(victim).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
	})
}

// byControllers: what a tenant may not create itself, no controller creates from its template.
func byControllers(t *testing.T) {
	template := func(app string) corev1.PodTemplateSpec {
		pod := inQuota(app, "theirs")
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app, extension.LabelQuotaName: "theirs"}}, Spec: pod.Spec}
	}
	selector := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	job := template("quota-job")
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	apps, name := tenant.AppsV1(), func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	_, deployed := apps.Deployments(tenantNamespace).Create(t.Context(), &appsv1.Deployment{ObjectMeta: name("quota-web"), Spec: appsv1.DeploymentSpec{Selector: selector("quota-web"), Template: template("quota-web")}}, metav1.CreateOptions{})
	_, set := apps.StatefulSets(tenantNamespace).Create(t.Context(), &appsv1.StatefulSet{ObjectMeta: name("quota-db"), Spec: appsv1.StatefulSetSpec{Selector: selector("quota-db"), Template: template("quota-db")}}, metav1.CreateOptions{})
	_, daemon := apps.DaemonSets(tenantNamespace).Create(t.Context(), &appsv1.DaemonSet{ObjectMeta: name("quota-agent"), Spec: appsv1.DaemonSetSpec{Selector: selector("quota-agent"), Template: template("quota-agent")}}, metav1.CreateOptions{})
	_, batch := tenant.BatchV1().Jobs(tenantNamespace).Create(t.Context(), &batchv1.Job{ObjectMeta: name("quota-job"), Spec: batchv1.JobSpec{Template: job}}, metav1.CreateOptions{})
	for _, err := range []error{deployed, set, daemon, batch} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx, background := context.Background(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		_ = admin.AppsV1().Deployments(tenantNamespace).Delete(ctx, "quota-web", background)
		_ = admin.AppsV1().StatefulSets(tenantNamespace).Delete(ctx, "quota-db", background)
		_ = admin.AppsV1().DaemonSets(tenantNamespace).Delete(ctx, "quota-agent", background)
		_ = admin.BatchV1().Jobs(tenantNamespace).Delete(ctx, "quota-job", background)
	})
	awaitControllersRefused(t, "KOORD1314", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
}
