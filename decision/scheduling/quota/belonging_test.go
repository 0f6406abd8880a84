package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestTheQuotaOfAPod(t *testing.T) {
	specs := []*Spec{
		{Namespace: "q", Name: "second", Namespaces: []string{"listed"}},
		{Namespace: "q", Name: "listing", Namespaces: []string{"both", "listed", "rooted"}},
		{Namespace: "q", Name: "named"}, {Namespace: "both", Name: "both"}, {Namespace: "elsewhere", Name: "plain"},
		{Namespace: "q", Name: extension.RootQuotaName, Namespaces: []string{"everything", "rooted"}},
	}
	exists := func(name string) bool {
		for _, spec := range specs {
			if spec.Name == name && name != extension.RootQuotaName {
				return true
			}
		}
		return false
	}
	tests := map[string]struct {
		namespace, label, wantName, wantQuota string
		wantRule                              Rule
	}{
		"the label comes first":                         {"both", "named", "named", "named", ByLabel},
		"then the quota named like the namespace":       {"both", "", "both", "both", ByNamespaceName},
		"but only if it is in the namespace":            {"plain", "", "", extension.DefaultQuotaName, ByDefault},
		"then the first quota that lists the namespace": {"listed", "", "listing", "listing", ByNamespaceList},
		"then the default quota":                        {"other", "", "", extension.DefaultQuotaName, ByDefault},
		"a label without a quota means the default":     {"both", "gone", "gone", extension.DefaultQuotaName, ByDefaultForMissing},
		"the root is no quota for pods":                 {"everything", "", "", extension.DefaultQuotaName, ByDefault},
		"and takes no namespace from another":           {"rooted", "", "listing", "listing", ByNamespaceList},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace, Labels: map[string]string{extension.LabelQuotaName: test.label}}}
			b := BelongingTo(specs)
			if got := b.Name(pod); got != test.wantName {
				t.Errorf("it asks for %q, want %q", got, test.wantName)
			}
			if got, rule := b.Rule(pod, exists); got != test.wantQuota || rule != test.wantRule {
				t.Errorf("it counts against %q by %s, want %q by %s", got, rule, test.wantQuota, test.wantRule)
			}
		})
	}
}

func TestTheNamespacesThatAQuotaClaims(t *testing.T) {
	tests := map[string]struct {
		namespace, name, annotation string
		want                        []string
	}{
		"none":                        {namespace: "q", name: "team"},
		"those that it lists":         {namespace: "q", name: "team", annotation: `["b","a","b"]`, want: []string{"a", "b"}},
		"the one of its name":         {namespace: "team", name: "team", want: []string{"team"}},
		"both":                        {namespace: "m", name: "m", annotation: `["z","a"]`, want: []string{"a", "m", "z"}},
		"one twice":                   {namespace: "m", name: "m", annotation: `["m"]`, want: []string{"m"}},
		"the root claims nothing":     {namespace: "q", name: extension.RootQuotaName, annotation: `["a"]`},
		"an annotation is not a list": {namespace: "q", name: "team", annotation: `{`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace, Name: test.name}}
			if test.annotation != "" {
				object.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: test.annotation}
			}
			if diff := cmp.Diff(test.want, Claims(object)); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}
