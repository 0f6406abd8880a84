package live

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/source"
)

// owned makes a pod one of a StatefulSet.
func owned(by string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: by, Controller: new(true)}}
	}
}

func recommending() *clusterBuilder {
	return makeCluster().node("worker-1").
		pod("shop", "web-0", "worker-1", "1", owned("web")).pod("shop", "web-1", "worker-1", "1", owned("web")).pod("spark", "web-0", "worker-1", "1", owned("web")).
		pod("shop", "web-2", "", "1", owned("web")).
		recommendation("spark", "web", nil).recommendation("shop", "web", map[string]string{"app": "web"}).recommendation("shop", "cart", nil)
}

func TestRecommendationsAreSelected(t *testing.T) {
	tests := map[string]struct {
		query    source.RecommendationQuery
		want     []string
		wantPods []int32
	}{
		"all, by namespace and name": {source.RecommendationQuery{}, []string{"shop/cart", "shop/web", "spark/web"}, []int32{0, 2, 1}},
		"of a namespace":             {source.RecommendationQuery{Namespace: "shop"}, []string{"shop/cart", "shop/web"}, []int32{0, 2}},
		"one":                        {source.RecommendationQuery{Namespace: "shop", Names: []string{"web"}}, []string{"shop/web"}, []int32{2}},
		"two":                        {source.RecommendationQuery{Namespace: "shop", Names: []string{"web", "cart"}}, []string{"shop/cart", "shop/web"}, []int32{0, 2}},
		"by label":                   {source.RecommendationQuery{LabelSelector: "app=web"}, []string{"shop/web"}, []int32{2}},
		"none":                       {source.RecommendationQuery{Namespace: "empty"}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := recommending().source(t).Recommendations(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if list.Items == nil || list.Kind != "RecommendationExplanationList" || len(list.Incomplete) > 0 {
				t.Errorf("list %+v", list)
			}
			var got []string
			var pods []int32
			for i := range list.Items {
				item := &list.Items[i]
				got, pods = append(got, item.Namespace+"/"+item.Name), append(pods, *item.Pods)
				if item.Kind != "RecommendationExplanation" || item.ManagedFields != nil {
					t.Errorf("item %+v", item)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantPods, pods); diff != "" {
				t.Errorf("pods of their own namespace that are bound (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecommendationsThatCannotBeRead(t *testing.T) {
	tests := map[string]struct {
		edit               func(*clusterBuilder)
		query              source.RecommendationQuery
		wantErr, wantHint  string
		wantCode           finding.Code
		wantOnlyIncomplete string
	}{
		"one that is not there": {
			func(*clusterBuilder) {}, source.RecommendationQuery{Namespace: "shop", Names: []string{"wep"}},
			`recommendation "wep" not found in namespace "shop", did you mean "web"?`, "koordctl top recommendations -n shop", finding.NotFound, "",
		},
		"two, of which one is not there": {
			func(*clusterBuilder) {}, source.RecommendationQuery{Namespace: "shop", Names: []string{"web", "quite-another"}},
			`recommendation "quite-another" not found in namespace "shop"`, "koordctl top recommendations -n shop", finding.NotFound, "",
		},
		"no permission": {
			func(b *clusterBuilder) { b.denied("list recommendations") }, source.RecommendationQuery{Namespace: "shop"},
			`list recommendations.analysis.koordinator.sh in namespace "shop": not permitted for user "eve"`,
			"kubectl auth can-i list recommendations.analysis.koordinator.sh -n shop", finding.Forbidden, "",
		},
		"not installed": {
			func(b *clusterBuilder) { b.server.NoCRDs = true }, source.RecommendationQuery{},
			"list recommendations.analysis.koordinator.sh: the server doesn't have this resource type", "koordctl install", finding.NotInstalled, "",
		},
		"no permission for pods": {
			edit: func(b *clusterBuilder) { b.denied("list pods") }, query: source.RecommendationQuery{Namespace: "shop"},
			wantOnlyIncomplete: `list pods in namespace "shop": not permitted for user "eve"; what pods request, and what applying does to them, is unknown (KOORD0002)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := recommending()
			tc.edit(cluster)
			list, err := cluster.source(t).Recommendations(t.Context(), tc.query)
			if tc.wantOnlyIncomplete != "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{tc.wantOnlyIncomplete}, list.Incomplete); diff != "" {
					t.Errorf("incomplete (-want +got):\n%s", diff)
				}
				for i := range list.Items {
					if list.Items[i].Pods != nil || len(list.Items[i].Incomplete) == 0 {
						t.Errorf("%s knows of %d pods", list.Items[i].Name, *list.Items[i].Pods)
					}
				}
				return
			}
			found, coded := finding.From(err)
			if !coded || err.Error() != tc.wantErr || found.Code != tc.wantCode || found.Hint != tc.wantHint {
				t.Errorf("error %v, %+v, want %q, %s, hint %q", err, found, tc.wantErr, tc.wantCode, tc.wantHint)
			}
		})
	}
}

func TestCPUsAreThoseThatNodesReport(t *testing.T) {
	report := func(name string, annotations map[string]string) topologyv1alpha1.NodeResourceTopology {
		return topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
	}
	cluster := makeCluster()
	cluster.server.Topologies = []topologyv1alpha1.NodeResourceTopology{
		report("worker-1", map[string]string{extension.AnnotationCPUBasicInfo: `{"cpuModel":"XEON","hyperThreadEnabled":true,"turboEnabled":false,"catL3CbmMask":"fff","vendorID":"GenuineIntel"}`}),
		report("worker-2", map[string]string{extension.AnnotationCPUBasicInfo: `{"cpuModel":`}),
		report("worker-3", nil),
	}
	got, err := cluster.source(t).CPUs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["worker-1"] == nil || got["worker-1"].CPUModel != "XEON" || !got["worker-1"].HyperThreadEnabled {
		t.Errorf("got %+v, want worker-1 alone: a report that cannot be read counts as none", got)
	}
}

func TestCPUsOfAClusterWithoutReports(t *testing.T) {
	without := makeCluster()
	without.server.NoCRDs = true
	if got, err := without.source(t).CPUs(t.Context()); err != nil || got != nil {
		t.Errorf("where the kind is unknown: %v, %v", got, err)
	}
	src := sourceOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[")) })
	if _, err := src.CPUs(t.Context()); err == nil || !strings.Contains(err.Error(), "list noderesourcetopologies.topology.node.k8s.io") {
		t.Errorf("an answer that is no JSON: %v", err)
	}
}
