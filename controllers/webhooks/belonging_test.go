package webhooks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// claimant is a quota that lists namespaces, which is a JSON list or empty, with labels in pairs.
func claimant(namespace, name, namespaces string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	q := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if namespaces != "" {
		metav1.SetMetaDataAnnotation(&q.ObjectMeta, extension.AnnotationQuotaNamespaces, namespaces)
	}
	for i := 0; i < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&q.ObjectMeta, labels[i], labels[i+1])
	}
	return q
}

const parent, tree = extension.LabelQuotaIsParent, extension.LabelQuotaTreeID

func TestNamespacesAboutWhosePodsQuotasSaySomething(t *testing.T) {
	reader := cluster(t,
		claimant("q", "dept", `["listed-by-a-parent","beaten"]`, parent, "true"),
		claimant("own", "own", "", parent, "true"),
		claimant("beaten", "beaten", ""),
		claimant("q", "leaf", `["listed-by-a-leaf"]`),
		claimant("q", "gpu", `["listed-in-a-tree"]`, tree, "7"),
		claimant("q", "unclaiming", "", parent, "true", tree, "7"),
	).Build()
	got, err := readQuotaNamespaces(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	want := quotaNamespaces{parents: []string{"listed-by-a-parent", "own"}, trees: []string{"listed-in-a-tree"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(quotaNamespaces{})); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

// asksAbout are the namespaces in the selectors of the registered webhook of a name, by its configuration.
func (r *registration) asksAbout(t *testing.T) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	var mutating admissionregistrationv1.MutatingWebhookConfiguration
	var validating admissionregistrationv1.ValidatingWebhookConfiguration
	for _, configuration := range []client.Object{&mutating, &validating} {
		if err := r.client.Get(t.Context(), types.NamespacedName{Name: ConfigurationName}, configuration); err != nil {
			t.Fatal(err)
		}
	}
	add := func(name string, selector *metav1.LabelSelector) {
		if len(selector.MatchExpressions) == 1 && selector.MatchExpressions[0].Operator == metav1.LabelSelectorOpIn {
			got[name] = selector.MatchExpressions[0].Values
		}
	}
	for _, w := range mutating.Webhooks {
		add(w.Name, w.NamespaceSelector)
	}
	for _, w := range validating.Webhooks {
		add(w.Name, w.NamespaceSelector)
	}
	return got
}

func TestTheScopeOfPodsWithoutALabelFollowsTheQuotas(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.options.QuotaTrees = true
	const validating, mutating = validateNamespacePodName, "mutate-pod-quota-tree-of-the-namespace.koordinator.sh"
	check := func(when string, parents, trees []string) {
		t.Helper()
		r.run(t)
		got := r.asksAbout(t)
		if !slices.Equal(got[validating], parents) || !slices.Equal(got[mutating], trees) {
			t.Errorf("%s: asked about pods of %v and %v, want %v and %v", when, got[validating], got[mutating], parents, trees)
		}
	}
	check("without quotas", nil, nil)
	dept := claimant("q", "dept", `["kube-system","web"]`, parent, "true", tree, "7")
	if err := r.client.Create(t.Context(), dept); err != nil {
		t.Fatal(err)
	}
	check("with a parent", []string{"web"}, []string{"web"})
	r.options.Validation.AllowParentQuota = true
	check("where parents may have pods", nil, []string{"web"})
	if err := r.client.Delete(t.Context(), dept); err != nil {
		t.Fatal(err)
	}
	check("when it is gone", nil, nil)
	writes := r.writes
	check("once more", nil, nil)
	if r.writes != writes {
		t.Errorf("%d writes when nothing changed", r.writes-writes)
	}
}

func TestTooManyNamespacesAreNotNamed(t *testing.T) {
	var names []string
	for i := range mostNamespaces + 1 {
		names = append(names, fmt.Sprintf("ns-%d", i))
	}
	for count, want := range map[int]metav1.LabelSelectorOperator{mostNamespaces: metav1.LabelSelectorOpIn, mostNamespaces + 1: metav1.LabelSelectorOpNotIn} {
		if got := selecting(names[:count], []string{"kube-system"}).MatchExpressions; len(got) != 1 || got[0].Operator != want {
			t.Errorf("%d namespaces: %v, want %s", count, got, want)
		}
	}
}

func TestAPodIsAskedAboutOnce(t *testing.T) {
	o := options()
	for name, pod := range map[string]*corev1.Pod{
		"a pod without co-location": labelled(corev1.ResourceCPU), "a pod of class LS": labelled(corev1.ResourceCPU, extension.LabelPodQoS, "LS"),
		"a batch pod": labelled(extension.BatchCPU, extension.LabelPodQoS, "BE"), "a pod in a quota": labelled(corev1.ResourceCPU, extension.LabelQuotaName, "team"),
	} {
		for _, byPolicy := range []bool{false, true} {
			asked := 0
			for _, webhook := range o.validatingPods(nil, byPolicy, quotaNamespaces{parents: []string{"shop"}}) {
				if matches(t, webhook.MatchConditions, podAttributes(pod, nil, "")) {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("%s, beside the policy %t: asked %d times, want once", name, byPolicy, asked)
			}
		}
	}
}

func TestOnlyWhatChangesTheScopeWakesTheRegistration(t *testing.T) {
	claiming, idle := claimant("q", "dept", `["web"]`, parent, "true"), claimant("q", "leaf", "")
	used := claiming.DeepCopy()
	metav1.SetMetaDataAnnotation(&used.ObjectMeta, extension.AnnotationQuotaRuntime, `{"cpu":"1"}`)
	passes := claimsChange()
	for name, test := range map[string]struct{ got, want bool }{
		"a quota with a namespace":      {passes.Create(event.CreateEvent{Object: claiming}), true},
		"one without":                   {passes.Create(event.CreateEvent{Object: idle}), false},
		"one with a namespace goes":     {passes.Delete(event.DeleteEvent{Object: claiming}), true},
		"a status":                      {passes.Update(event.UpdateEvent{ObjectOld: claiming, ObjectNew: used}), false},
		"a namespace comes":             {passes.Update(event.UpdateEvent{ObjectOld: idle, ObjectNew: claimant("q", "leaf", `["web"]`)}), true},
		"a parent becomes a leaf":       {passes.Update(event.UpdateEvent{ObjectOld: claiming, ObjectNew: claimant("q", "dept", `["web"]`)}), true},
		"a tree without namespaces":     {passes.Update(event.UpdateEvent{ObjectOld: idle, ObjectNew: claimant("q", "leaf", "", tree, "7")}), false},
		"a quota named like its own":    {passes.Create(event.CreateEvent{Object: claimant("own", "own", "")}), true},
		"the last namespace is dropped": {passes.Update(event.UpdateEvent{ObjectOld: claiming, ObjectNew: claimant("q", "dept", "", parent, "true")}), true},
	} {
		if test.got != test.want {
			t.Errorf("%s: wakes it %t, want %t", name, test.got, test.want)
		}
	}
}
