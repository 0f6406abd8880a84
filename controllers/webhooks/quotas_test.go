package webhooks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiadmission "k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

// TestNothingOfTheSystemIsBlockedWhileNobodyAnswers looks at every webhook but those for pods, which leave those namespaces out.
func TestNothingOfTheSystemIsBlockedWhileNobodyAnswers(t *testing.T) {
	o := options()
	o.QuotaTrees = true
	type scope struct {
		name     string
		selector *metav1.LabelSelector
		failure  admissionregistrationv1.FailurePolicyType
	}
	var scopes []scope
	namespaces := quotaNamespaces{parents: []string{"dept", "kube-system"}, trees: []string{"kube-system", "team"}}
	for _, w := range o.mutating(anyPod(o.profileOptions().ExemptNamespaces), false, namespaces, []byte("b")) {
		scopes = append(scopes, scope{w.Name, w.NamespaceSelector, *w.FailurePolicy})
	}
	for _, w := range o.validating([]byte("b"), false, namespaces) {
		scopes = append(scopes, scope{w.Name, w.NamespaceSelector, *w.FailurePolicy})
	}
	seen := map[string]bool{}
	for _, s := range scopes {
		if seen[s.name] {
			t.Errorf("two webhooks are named %s", s.name)
		}
		seen[s.name] = true
		if s.failure == admissionregistrationv1.Ignore || s.name == "validate-eviction.koordinator.sh" { // asks about node agents alone
			continue
		}
		outside := s.selector.MatchExpressions
		if len(outside) != 1 || outside[0].Operator != metav1.LabelSelectorOpNotIn || strings.Join(outside[0].Values, ",") != "kube-system,"+system {
			t.Errorf("%s fails within %v", s.name, outside)
		}
	}
	for _, want := range []string{
		"validate-configmap.koordinator.sh", "mutate-elasticquota.koordinator.sh", "validate-elasticquota.koordinator.sh",
		"validate-elasticquota-of-the-system.koordinator.sh", "mutate-pod-quota-tree.koordinator.sh",
		"mutate-pod-quota-tree-of-the-namespace.koordinator.sh", "validate-pod-of-the-namespace.koordinator.sh",
	} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
	o.QuotaTrees = false
	for _, w := range o.mutating(anyPod(o.profileOptions().ExemptNamespaces), false, namespaces, []byte("b")) {
		if strings.HasPrefix(w.Name, "mutate-pod-quota-tree") {
			t.Error("pods are confined though it is turned off")
		}
	}
}

func TestPodsOfAQuotaTreeGetItsNodes(t *testing.T) {
	scheme := newScheme(t)
	if err := quotav1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	profile := &quotav1alpha1.ElasticQuotaProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "profile", Labels: map[string]string{extension.LabelQuotaTreeID: "7"}},
		Spec:       quotav1alpha1.ElasticQuotaProfileSpec{NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "a"}}},
	}
	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "leaf", Labels: map[string]string{extension.LabelQuotaTreeID: "7"}}}
	quota.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["listed"]`}
	outside := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "outside"}}
	reader := indexed(fake.NewClientBuilder().WithScheme(scheme).WithObjects(profile, quota, outside)).Build()
	mutator := &quotaPodMutator{reader: reader, decoder: admission.NewDecoder(scheme)}
	inPool := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}
	for name, test := range map[string]struct {
		namespace, key, value string
		want                  []corev1.NodeSelectorTerm
	}{
		"by its quota":                          {"x", extension.LabelQuotaName, "leaf", inPool},
		"by its tree":                           {"x", extension.LabelQuotaTreeID, "7", inPool},
		"of another tree":                       {"x", extension.LabelQuotaTreeID, "8", nil},
		"of a quota that is not there":          {"x", extension.LabelQuotaName, "none", nil},
		"of no quota":                           {"x", "app", "x", nil},
		"by the quota of its namespace":         {"listed", "app", "x", inPool},
		"of another quota than its namespace's": {"listed", extension.LabelQuotaName, "outside", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{test.key: test.value}}}
			data, err := json.Marshal(pod)
			if err != nil {
				t.Fatal(err)
			}
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: test.namespace, Object: runtime.RawExtension{Raw: data}}}
			got := patched(t, request, mutator.Handle(t.Context(), request))
			var terms []corev1.NodeSelectorTerm
			if got.Spec.Affinity != nil {
				terms = got.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			}
			if diff := cmp.Diff(test.want, terms); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

// anyPod is the scope of all pods but those of the exempt namespaces.
func anyPod(exempt []string) []policy.Scope {
	return []policy.Scope{{Namespaces: policy.OutsideOf(exempt), Condition: "true"}}
}

// TestWhatATreeHasIsJudged: the scheduler's status updates skip the webhook, but what a root says of its tree does not.
func TestWhatATreeHasIsJudged(t *testing.T) {
	o := options()
	quota := func(root string, annotations map[string]string) *schedulingsigsv1alpha1.ElasticQuota {
		return &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q", Labels: map[string]string{extension.LabelQuotaIsRoot: root}, Annotations: annotations}}
	}
	says := func(cpu string) map[string]string {
		return map[string]string{extension.AnnotationQuotaTotalResource: `{"cpu":"` + cpu + `"}`}
	}
	for name, test := range map[string]struct {
		quota, old *schedulingsigsv1alpha1.ElasticQuota
		want       bool
	}{
		"a root says more":              {quota("true", says("2")), quota("true", says("1")), true},
		"a root says so first":          {quota("true", says("2")), quota("true", nil), true},
		"a root says the same":          {quota("true", says("1")), quota("true", says("1")), false},
		"a quota that is no root":       {quota("", says("2")), quota("", says("1")), false},
		"what the scheduler says of it": {quota("true", map[string]string{extension.AnnotationQuotaRuntime: `{"cpu":"1"}`}), quota("true", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := apiadmission.NewAttributesRecord(test.quota, test.old, schedulingsigsv1alpha1.GroupVersion.WithKind("ElasticQuota"), "ns", "q",
				schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas"), "", apiadmission.Update, &metav1.UpdateOptions{}, false, nil)
			if got := matches(t, o.validatingQuotas(nil)[0].MatchConditions, attributes); got != test.want {
				t.Errorf("asked %v, want %v", got, test.want)
			}
		})
	}
}
