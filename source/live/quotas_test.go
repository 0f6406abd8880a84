package live

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestQuotasAreListed(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*clusterBuilder)
		want finding.Code
	}{
		"of all namespaces": {func(*clusterBuilder) {}, ""},
		"no permission":     {func(b *clusterBuilder) { b.denied("list elasticquotas") }, finding.Forbidden},
		"not installed":     {func(b *clusterBuilder) { b.server.NoCRDs, b.server.Lists = true, nil }, finding.NotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := makeCluster()
			cluster.server.Lists = map[string]runtime.Object{"elasticquotas": &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{
				{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ManagedFields: managed(10)}},
			}}}
			tc.edit(cluster)
			quotas, err := cluster.source(t).Quotas(t.Context())
			found, coded := finding.From(err)
			switch {
			case tc.want == "" && (err != nil || len(quotas) != 1 || quotas[0].Namespace != "shop"):
				t.Errorf("quotas %v, error %v", quotas, err)
			case tc.want != "" && (!coded || found.Code != tc.want):
				t.Errorf("error %v, want code %s", err, tc.want)
			}
		})
	}
}
