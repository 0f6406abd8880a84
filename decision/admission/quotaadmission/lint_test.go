package quotaadmission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// manifestOf is a quota as a user writes it.
func manifestOf(name, parent string, isParent bool, least, most int64) schedulingsigsv1alpha1.ElasticQuota {
	cpus := func(n int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	object := schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name, Labels: map[string]string{}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: cpus(least), Max: cpus(most)},
	}
	if parent != "" {
		object.Labels[extension.LabelQuotaParent] = parent
	}
	if isParent {
		object.Labels[extension.LabelQuotaIsParent] = "true"
	}
	return object
}

func TestLint(t *testing.T) {
	type quotas = []schedulingsigsv1alpha1.ElasticQuota
	used := func(object schedulingsigsv1alpha1.ElasticQuota) schedulingsigsv1alpha1.ElasticQuota {
		object.Status.Used = object.Spec.Max
		return object
	}
	strict := func(object schedulingsigsv1alpha1.ElasticQuota) schedulingsigsv1alpha1.ElasticQuota {
		object.Annotations = map[string]string{extension.AnnotationQuotaMaxStrictCheckResourceKeys: `["cpu"]`}
		return object
	}
	tests := map[string]struct {
		in LintInput
		// want are the codes of each object, with ! for a refusal.
		want [][]string
	}{
		"a tree in its order": {LintInput{Objects: quotas{manifestOf("org", "", true, 10, 20), manifestOf("team", "org", false, 10, 20)}}, [][]string{nil, nil}},
		"more than the parent guarantees": {
			LintInput{Objects: quotas{manifestOf("org", "", true, 10, 20), manifestOf("a", "org", false, 6, 20), manifestOf("b", "org", false, 5, 20)}},
			[][]string{nil, nil, {"KOORD1209!"}},
		},
		"min above max": {LintInput{Objects: quotas{manifestOf("team", "", false, 9, 5)}}, [][]string{{"KOORD1210!"}}},
		"one mistake is reported once": {
			LintInput{Objects: quotas{manifestOf("org", "", true, 30, 20), manifestOf("team", "org", false, 10, 20)}}, [][]string{{"KOORD1210!"}, nil},
		},
		"a parent that may be in the cluster": {LintInput{Objects: quotas{manifestOf("team", "org", false, 1, 2)}}, [][]string{{"KOORD1207"}}},
		"a parent that is not in the cluster": {LintInput{Objects: quotas{manifestOf("team", "org", false, 1, 2)}, Whole: true}, [][]string{{"KOORD1207!"}}},
		"a parent that is in the cluster": {
			LintInput{Objects: quotas{manifestOf("team", "org", false, 1, 2)}, Existing: quotas{manifestOf("org", "", true, 10, 20)}, Whole: true}, [][]string{nil},
		},
		"a parent that comes after its child": {
			LintInput{Objects: quotas{manifestOf("team", "org", false, 1, 2), manifestOf("org", "", true, 10, 20)}, Whole: true}, [][]string{{"KOORD1207!"}, nil},
		},
		"a parent that is none": {
			LintInput{Objects: quotas{manifestOf("org", "", false, 10, 20), manifestOf("team", "org", false, 1, 2)}}, [][]string{nil, {"KOORD1326!"}},
		},
		"a max below what is used": {
			LintInput{Objects: quotas{strict(manifestOf("team", "", false, 1, 2))}, Existing: quotas{used(manifestOf("team", "", false, 1, 9))}, Whole: true}, [][]string{{"KOORD1328!"}},
		},
		"what a manifest says of its status is nothing": {
			LintInput{Objects: quotas{used(manifestOf("team", "", false, 1, 9)), strict(manifestOf("team", "", false, 1, 2))}}, [][]string{nil, nil},
		},
		"more than the nodes have": {
			LintInput{Objects: quotas{manifestOf("team", "", false, 9, 12)}, Total: manifestOf("", "", false, 8, 8).Spec.Max}, [][]string{{"KOORD1215!"}},
		},
		"nothing": {LintInput{}, [][]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var before quotas
			for i := range tc.in.Objects {
				before = append(before, *tc.in.Objects[i].DeepCopy())
			}
			got := make([][]string, 0, len(tc.want))
			for _, verdict := range Lint(tc.in) {
				var codes []string
				for _, f := range verdict.Findings {
					code := string(f.Code)
					if f.Refused {
						code += "!"
					}
					codes = append(codes, code)
				}
				got = append(got, codes)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.in.Objects); diff != "" {
				t.Errorf("the manifests were changed (-before +after):\n%s", diff)
			}
		})
	}
}
