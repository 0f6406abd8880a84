package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
)

// trees has the quota a of namespace one, with b and c of namespace two below it, and d of namespace two below b.
func trees() *clusterBuilder {
	quota := func(namespace, name, parent string) schedulingsigsv1alpha1.ElasticQuota {
		return schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}, ManagedFields: managed(10)}}
	}
	return makeCluster().list("elasticquotas", &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{
		quota("two", "d", "b"), quota("two", "c", "a"), quota("two", "b", "a"), quota("one", "a", ""),
	}})
}

func quotaLines(list *diagnosticsv1alpha1.QuotaOverviewList) []string {
	var out []string
	for i := range list.Items {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s/%s %s", list.Items[i].Depth, list.Items[i].Namespace, list.Items[i].Name, list.Items[i].Misplaced)))
	}
	return out
}

func TestQuotasAreSelected(t *testing.T) {
	tests := map[string]struct {
		query    source.QuotaQuery
		denied   []string
		want     []string
		wantCode finding.Code
		wantErr  string
	}{
		"all, by namespace and name": {want: []string{"0 one/a", "0 two/b", "0 two/c", "0 two/d"}},
		"a namespace":                {query: source.QuotaQuery{Namespace: "one"}, want: []string{"0 one/a"}},
		"a label":                    {query: source.QuotaQuery{LabelSelector: extension.LabelQuotaParent + "=a"}, want: []string{"0 two/b", "0 two/c"}},
		"one name":                   {query: source.QuotaQuery{Namespace: "two", Names: []string{"c"}}, want: []string{"0 two/c"}},
		"several names":              {query: source.QuotaQuery{Namespace: "two", Names: []string{"d", "b"}}, want: []string{"0 two/b", "0 two/d"}},
		"a name that none has":       {query: source.QuotaQuery{Namespace: "one", Names: []string{"web"}}, wantCode: finding.NotFound, wantErr: `elasticquota "web" not found in namespace "one"`},
		"one of two names":           {query: source.QuotaQuery{Namespace: "two", Names: []string{"b", "web"}}, wantCode: finding.NotFound, wantErr: `elasticquota "web" not found in namespace "two"`},
		"no permission":              {denied: []string{"list elasticquotas"}, wantCode: finding.Forbidden, wantErr: `list elasticquotas.scheduling.sigs.k8s.io: not permitted for user "eve"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := trees().denied(tc.denied...).source(t).QuotaOverviews(t.Context(), tc.query)
			if tc.wantErr != "" {
				if !hasCode(err, tc.wantCode) || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, quotaLines(list)); diff != "" || list.Kind != "QuotaOverviewList" || list.Items[0].Kind != "QuotaOverview" {
				t.Errorf("%s of %s, quotas (-want +got):\n%s", list.Kind, list.Items[0].Kind, diff)
			}
		})
	}
}

func TestTreesOfQuotasAreShown(t *testing.T) {
	tests := map[string]struct {
		namespace, name string
		denied          []string
		want            []string
		wantIncomplete  []string
		wantCode        finding.Code
		wantErr         string
	}{
		"all":                     {want: []string{"0 one/a", "1 two/b", "2 two/d", "1 two/c"}},
		"one with those below it": {namespace: "two", name: "b", want: []string{"0 two/b", "1 two/d"}},
		"one without any":         {namespace: "two", name: "c", want: []string{"0 two/c"}},
		"of another namespace":    {namespace: "one", name: "b", wantCode: finding.NotFound, wantErr: `elasticquota "b" not found in namespace "one", did you mean "a"?`},
		"of the namespace that may be listed": {
			namespace: "two", denied: []string{"list elasticquotas -A"},
			want:           []string{`0 two/b there is no parent "a"; the quota is at the top of its tree`, "1 two/d", `0 two/c there is no parent "a"; the quota is at the top of its tree`},
			wantIncomplete: []string{`list elasticquotas.scheduling.sigs.k8s.io: not permitted for user "eve"; parents in other namespaces are not found (KOORD0002)`},
		},
		"without a namespace there is none to fall back to": {
			denied: []string{"list elasticquotas -A"}, wantCode: finding.Forbidden,
			wantErr: `list elasticquotas.scheduling.sigs.k8s.io: not permitted for user "eve"`,
		},
		"none may be listed": {
			namespace: "two", denied: []string{"list elasticquotas"}, wantCode: finding.Forbidden,
			wantErr: `list elasticquotas.scheduling.sigs.k8s.io in namespace "two": not permitted for user "eve"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := trees().denied(tc.denied...).source(t).QuotaTree(t.Context(), tc.namespace, tc.name)
			if tc.wantErr != "" {
				if !hasCode(err, tc.wantCode) || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, quotaLines(list)); diff != "" {
				t.Errorf("quotas (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantIncomplete, list.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}
