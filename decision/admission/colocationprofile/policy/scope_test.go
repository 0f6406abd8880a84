package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/test/profilecases"
)

// byWebhook is a profile that needs the webhook, for pods with label app of its name.
func byWebhook(name string, namespaces *metav1.LabelSelector) configv1alpha1.ClusterColocationProfile {
	p := configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	p.Spec.NamespaceSelector = namespaces
	p.Spec.Patch.Raw = []byte(`{"spec":{"nodeSelector":{"a":"b"}}}`)
	return p
}

// scopesOf are the scopes that select a namespace.
func scopesOf(t interface{ Fatal(...any) }, scopes []Scope, namespace map[string]string) []Scope {
	var out []Scope
	for _, scope := range scopes {
		selector, err := metav1.LabelSelectorAsSelector(scope.Namespaces)
		if err != nil {
			t.Fatal(err)
		}
		if selector.Matches(labels.Set(namespace)) {
			out = append(out, scope)
		}
	}
	return out
}

// asksAbout says whether a condition is about the pods of a profile.
func asksAbout(scope Scope, profile string) bool {
	before, _, _ := strings.Cut(scope.Condition, "has(object.spec.resources)")
	return strings.Contains(before, fmt.Sprintf("%q", profile))
}

func TestAProfileAsksAboutPodsOfItsNamespacesOnly(t *testing.T) {
	compiled := Compile([]configv1alpha1.ClusterColocationProfile{
		byWebhook("spark", &metav1.LabelSelector{MatchLabels: map[string]string{"team": "data"}}),
		byWebhook("train", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "gpu", Operator: metav1.LabelSelectorOpExists}}}),
	}, profilecases.PriorityClasses(), Options{})
	for _, test := range []struct {
		namespace map[string]string
		want      []string
	}{
		{nil, nil}, {map[string]string{"team": "web"}, nil}, {map[string]string{"team": "data"}, []string{"spark"}},
		{map[string]string{"gpu": "yes"}, []string{"train"}}, {map[string]string{"team": "data", "gpu": ""}, []string{"spark", "train"}},
	} {
		scopes := scopesOf(t, compiled.Scopes([]string{"kube-system"}), test.namespace)
		if len(scopes) != 1 {
			t.Fatalf("namespace %v: %d webhooks are asked", test.namespace, len(scopes))
		}
		for _, profile := range []string{"spark", "train"} {
			if got := asksAbout(scopes[0], profile); got != slices.Contains(test.want, profile) {
				t.Errorf("namespace %v: pods of %s wait: %v; condition %s", test.namespace, profile, got, scopes[0].Condition)
			}
		}
	}
	if got := scopesOf(t, compiled.Scopes([]string{"kube-system"}), map[string]string{"kubernetes.io/metadata.name": "kube-system", "team": "data"}); len(got) > 0 {
		t.Errorf("the exempt namespace is asked about: %+v", got)
	}
}

func TestWithoutProfilesForTheWebhookThereIsOneScope(t *testing.T) {
	compiled := Compile(profilecases.BatchProfile(), profilecases.PriorityClasses(), Options{})
	scopes := compiled.Scopes(nil)
	if len(scopes) != 1 || scopes[0].Condition != compiled.WebhookCondition {
		t.Errorf("scopes are %+v, want one with condition %s", scopes, compiled.WebhookCondition)
	}
}

// TestEveryNamespaceIsInExactlyOneScope draws selectors and namespaces, and compares who is asked about with the selectors.
func TestEveryNamespaceIsInExactlyOneScope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SampledFrom([]string{"1", "2", "3"})
		var profiles []configv1alpha1.ClusterColocationProfile
		for i := range rapid.IntRange(0, 5).Draw(t, "profiles") {
			selector := &metav1.LabelSelector{}
			for range rapid.IntRange(0, 2).Draw(t, "requirements") {
				r := metav1.LabelSelectorRequirement{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), Operator: rapid.SampledFrom([]metav1.LabelSelectorOperator{
					metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist}).Draw(t, "operator")}
				if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
					r.Values = rapid.SliceOfNDistinct(values, 1, 2, rapid.ID).Draw(t, "values")
				}
				selector.MatchExpressions = append(selector.MatchExpressions, r)
			}
			profiles = append(profiles, byWebhook(fmt.Sprintf("p%d", i), selector))
		}
		compiled := Compile(profiles, profilecases.PriorityClasses(), Options{Unserved: rapid.SampledFrom([]string{"", "not served"}).Draw(t, "unserved")})
		scopes := compiled.Scopes(nil)
		if len(scopes) > maxScopes {
			t.Fatalf("%d scopes", len(scopes))
		}
		namespace := map[string]string{}
		for _, key := range []string{"a", "b"} {
			if rapid.Bool().Draw(t, "has "+key) {
				namespace[key] = values.Draw(t, key)
			}
		}
		found := scopesOf(t, scopes, namespace)
		if len(found) != 1 {
			t.Fatalf("namespace %v is in %d scopes of %+v", namespace, len(found), scopes)
		}
		for i := range profiles {
			selector, err := metav1.LabelSelectorAsSelector(profiles[i].Spec.NamespaceSelector)
			if err != nil {
				t.Fatal(err)
			}
			want := selector.Matches(labels.Set(namespace))
			if got := asksAbout(found[0], profiles[i].Name); want && !got || got && !want && len(scopes) > 1 {
				t.Fatalf("namespace %v: asked about pods of %s: %v, want %v", namespace, profiles[i].Name, got, want)
			}
		}
	})
}
