package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/source"
)

// autoscaled adds a VerticalPodAutoscaler that sets a resource, and a HorizontalPodAutoscaler of StatefulSet web in namespace shop.
func (b *clusterBuilder) autoscaled(sets string) *clusterBuilder {
	target := map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}
	add := func(resource, version, kind, name string, spec map[string]any) {
		b.list(resource, &unstructured.UnstructuredList{
			Object: map[string]any{"apiVersion": version, "kind": kind + "List"},
			Items: []unstructured.Unstructured{{Object: map[string]any{
				"apiVersion": version, "kind": kind, "metadata": map[string]any{"namespace": "shop", "name": name}, "spec": spec,
			}}},
		})
	}
	add("verticalpodautoscalers", "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "by-usage", map[string]any{
		"targetRef": target, "resourcePolicy": map[string]any{"containerPolicies": []any{map[string]any{"containerName": "*", "controlledResources": []any{sets}}}},
	})
	add("horizontalpodautoscalers", "autoscaling/v2", "HorizontalPodAutoscaler", "by-load", map[string]any{
		"scaleTargetRef": target, "metrics": []any{map[string]any{"type": "Resource", "resource": map[string]any{
			"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(50)},
		}}},
	})
	return b
}

func TestRecommendationsTellOfAutoscalers(t *testing.T) {
	const scales = `Autoscaled: not resized: HorizontalPodAutoscaler "by-load" scales by the utilization of cpu, which is relative to requests`
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		wantNotes      []string
		wantIncomplete []string
	}{
		"a horizontal one, beside a vertical one of what pods do not request": {
			edit:      func(b *clusterBuilder) { b.autoscaled("memory") },
			wantNotes: []string{scales},
		},
		"a vertical one of the same resource": {
			edit:      func(b *clusterBuilder) { b.autoscaled("cpu") },
			wantNotes: []string{`Autoscaled: not resized: VerticalPodAutoscaler "by-usage" sets cpu`},
		},
		"vertical ones that may not be listed": {
			edit:           func(b *clusterBuilder) { b.autoscaled("cpu").denied("list verticalpodautoscalers") },
			wantIncomplete: []string{`list verticalpodautoscalers.autoscaling.k8s.io in namespace "shop": not permitted for user "eve"; which resources VerticalPodAutoscalers set is unknown (KOORD0002)`},
		},
		"a cluster that does not know vertical ones": {
			edit: func(b *clusterBuilder) { b.denied("list verticalpodautoscalers") },
		},
		"horizontal ones that may not be listed": {
			edit:           func(b *clusterBuilder) { b.denied("list horizontalpodautoscalers") },
			wantIncomplete: []string{`list horizontalpodautoscalers.autoscaling in namespace "shop": not permitted for user "eve"; which resources HorizontalPodAutoscalers scale by is unknown (KOORD0002)`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := recommending()
			tc.edit(cluster)
			list, err := cluster.source(t).Recommendations(t.Context(), source.RecommendationQuery{Namespace: "shop", Names: []string{"web"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantNotes, list.Items[0].Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantIncomplete, list.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}
