package quotaadmission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestDefaultsOfAQuota(t *testing.T) {
	object := func(parent, most, weight string) *schedulingsigsv1alpha1.ElasticQuota {
		q := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Max: list(most)}}
		if parent != "" {
			q.Labels = map[string]string{extension.LabelQuotaParent: parent}
		}
		if weight != "" {
			q.Annotations = map[string]string{extension.AnnotationQuotaSharedWeight: weight}
		}
		return q
	}
	quotas := indexOf(quota("tree", "", "", "", treeRoot, inTree("7")), quota("plain", "", "", "", parental))
	tests := map[string]struct {
		quota, old *schedulingsigsv1alpha1.ElasticQuota
		wantParent string
		wantTree   string
		wantWeight string
	}{
		"the root is the parent and max the weight": {quota: object("", "cpu=2", ""), wantParent: extension.RootQuotaName, wantWeight: `{"cpu":"2"}`},
		"the tree is the parent's":                  {quota: object("tree", "", ""), wantTree: "7"},
		"the default tree needs no label":           {quota: object("plain", "", "")},
		"a weight is completed and trimmed":         {quota: object("plain", "cpu=2,memory=1Gi", `{"cpu":"1","gpu":"1"}`), wantWeight: `{"cpu":"1","memory":"1Gi"}`},
		"a whole weight stays":                      {quota: object("plain", "cpu=2", `{"cpu":"0"}`)},
		"a weight that cannot be decoded stays":     {quota: object("plain", "cpu=2", `[`)},
		"a weight that was max follows max":         {old: object("plain", "cpu=2", `{"cpu":"2"}`), quota: object("plain", "cpu=3", `{"cpu":"2"}`), wantWeight: `{"cpu":"3"}`},
		"a weight of its own does not":              {old: object("plain", "cpu=2", `{"cpu":"1"}`), quota: object("plain", "cpu=3", `{"cpu":"1"}`)},
		"a weight that is given with a new max":     {old: object("plain", "cpu=2", `{"cpu":"2"}`), quota: object("plain", "cpu=3", `{"cpu":"5"}`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			labels, annotations, err := Default(test.quota, test.old, quotas)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{labels[extension.LabelQuotaParent], labels[extension.LabelQuotaTreeID], annotations[extension.AnnotationQuotaSharedWeight]}
			if diff := cmp.Diff([]string{test.wantParent, test.wantTree, test.wantWeight}, got); diff != "" {
				t.Errorf("parent, tree, weight (-want +got):\n%s", diff)
			}
		})
	}
	builtIn := object("", "cpu=1", "")
	builtIn.Name = extension.RootQuotaName
	if labels, annotations, err := Default(builtIn, nil, quotas); len(labels)+len(annotations) > 0 || err != nil {
		t.Errorf("the root gets %v %v, %v", labels, annotations, err)
	}
}
