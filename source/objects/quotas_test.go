package objects

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

func quotaBelow(name, parent string) schedulingsigsv1alpha1.ElasticQuota {
	return schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}}}
}

func TestQuotasAreOrderedAsATree(t *testing.T) {
	for name, tc := range map[string]struct {
		parents [][2]string
		want    []string
	}{
		"parents before children, children by name": {[][2]string{{"web", "shop"}, {"ads", "shop"}, {"shop", ""}, {"analytics", ""}}, []string{"0 analytics", "0 shop", "1 ads", "1 web"}},
		"the root has its own line":                 {[][2]string{{extension.RootQuotaName, ""}, {"shop", ""}}, []string{"0 " + extension.RootQuotaName, "0 shop"}},
		"a parent that does not exist":              {[][2]string{{"web", "gone"}}, []string{"0 web"}},
		"a cycle is listed once":                    {[][2]string{{"a", "b"}, {"b", "a"}}, []string{"0 a", "0 b"}},
		"its own parent":                            {[][2]string{{"a", "a"}}, []string{"0 a"}},
		"none":                                      {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []schedulingsigsv1alpha1.ElasticQuota
			for _, p := range tc.parents {
				objects = append(objects, quotaBelow(p[0], p[1]))
			}
			var got []string
			for _, q := range Quotas(objects) {
				got = append(got, fmt.Sprintf("%d %s", q.Depth, q.Name))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("quotas (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotasHaveWhatIsPublished(t *testing.T) {
	object := quotaBelow("web", "")
	object.Annotations = map[string]string{extension.AnnotationQuotaRuntime: `{"cpu":"40"}`, extension.AnnotationQuotaRequest: `{"cpu":`}
	object.Status.Used = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("12500m")}
	got := Quotas([]schedulingsigsv1alpha1.ElasticQuota{object})[0]
	if diff := cmp.Diff(quota.Amounts{{Resource: "cpu", Value: 40000}}, got.Runtime); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	if used, _ := got.Used.Get("cpu"); used != 12500 || got.Request != nil || len(got.Problems) != 1 {
		t.Errorf("used %d, request %v, problems %q", used, got.Request, got.Problems)
	}
}

func TestQuotasThatAreMisplacedSayWhy(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{quotaBelow("web", "gone"), quotaBelow("a", "b"), quotaBelow("b", "a"), quotaBelow("c", "b"), quotaBelow("web", "")}
	objects[4].Namespace, objects[4].CreationTimestamp = "younger", metav1.Unix(1000, 0)
	want := map[string]string{
		"teams/web":   `there is no parent "gone"; the quota is at the top of its tree`,
		"teams/a":     `parent "b" is below the quota itself; the quota is at the top of its tree`,
		"teams/b":     `parent "a" is below the quota itself; the quota is at the top of its tree`,
		"younger/web": "the quota in namespace younger does not count: the older one in namespace teams has the name",
	}
	got := map[string]string{}
	for _, q := range Quotas(objects) {
		if q.Misplaced != "" {
			got[q.Namespace+"/"+q.Name] = q.Misplaced
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("misplaced quotas (-want +got):\n%s", diff)
	}
}

func TestSubtreesBeginWithTheirQuota(t *testing.T) {
	all := Quotas([]schedulingsigsv1alpha1.ElasticQuota{quotaBelow("a", ""), quotaBelow("b", "a"), quotaBelow("c", "b"), quotaBelow("d", "a"), quotaBelow("e", "")})
	for name, want := range map[string][]string{"a": {"0 a", "1 b", "2 c", "1 d"}, "b": {"0 b", "1 c"}, "d": {"0 d"}, "e": {"0 e"}, "f": nil} {
		var got []string
		for _, q := range SubtreeOf(all, "teams", name) {
			got = append(got, fmt.Sprintf("%d %s", q.Depth, q.Name))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("below %s (-want +got):\n%s", name, diff)
		}
	}
}
