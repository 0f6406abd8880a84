package podselection

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhichPodsMayLeave(t *testing.T) {
	web := Selector{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	db := Selector{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}
	tests := map[string]struct {
		namespaces *Namespaces
		selectors  []Selector
		want       string
	}{
		"all by default":                  {},
		"those of an included namespace":  {namespaces: &Namespaces{Include: []string{"shop"}}},
		"none of another":                 {namespaces: &Namespaces{Include: []string{"bank"}}, want: "its namespace is not evictable"},
		"none of an excluded namespace":   {namespaces: &Namespaces{Exclude: []string{"shop"}}, want: "its namespace is not evictable"},
		"those that any selector matches": {selectors: []Selector{db, web}},
		"none that no selector matches":   {selectors: []Selector{db}, want: "no pod selector matches it"},
		"all with a selector of nothing":  {selectors: []Selector{{Name: "empty"}}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"app": "web"}}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			selection, err := Compile(tc.namespaces, tc.selectors)
			if err != nil {
				t.Fatal(err)
			}
			if got := selection.Refuses(pod); got != tc.want {
				t.Errorf("refused because %q, want %q", got, tc.want)
			}
		})
	}
}

func TestInvalidSelectionsAreReported(t *testing.T) {
	wrong := []Selector{{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}}
	errs := Validate(&Namespaces{Include: []string{"a"}, Exclude: []string{"b"}}, wrong)
	if len(errs) != 2 || errs[0].Field != "evictableNamespaces" || errs[1].Field != "podSelectors[0].selector.matchExpressions[0].operator" {
		t.Errorf("errors %v, want one of each", errs)
	}
	if _, err := Compile(nil, wrong); err == nil {
		t.Error("an invalid selector compiles")
	}
}
