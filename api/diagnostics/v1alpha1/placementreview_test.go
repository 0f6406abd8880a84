package v1alpha1

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestValidatePlacementReview(t *testing.T) {
	pod := PlacementReviewPod{Namespace: "shop", Name: "web-1"}
	tests := []struct {
		name string
		spec PlacementReviewSpec
		// want are parts of the errors, in their order; none for a valid question.
		want []string
	}{
		{name: "a pod", spec: PlacementReviewSpec{Pods: []PlacementReviewPod{pod}}},
		{name: "a pod with targets", spec: PlacementReviewSpec{Pods: []PlacementReviewPod{{Namespace: "shop", Name: "web-1", Targets: []string{"worker-1"}}}}},
		{name: "pods that wait alone", spec: PlacementReviewSpec{Waiting: true}},
		{name: "copies on new nodes", spec: PlacementReviewSpec{
			Copies: []PlacementReviewCopies{{Namespace: "shop", Like: "web-1", Count: 1000}}, NewNodes: []PlacementReviewNodes{{Like: "worker-1", Count: 100}},
		}},
		{
			name: "counts that are none, or too many in all",
			spec: PlacementReviewSpec{
				Copies:   []PlacementReviewCopies{{Namespace: "shop", Like: "web-1"}, {Namespace: "shop", Like: "web-2", Count: 600}, {Namespace: "shop", Like: "web-3", Count: 401}},
				NewNodes: []PlacementReviewNodes{{Like: "worker-1", Count: -1}, {Like: "worker-2", Count: 101}},
			},
			want: []string{"spec.copies[0].count", "spec.copies[2].count", "spec.newNodes[0].count", "spec.newNodes[1].count: Invalid value: 101: must be at least 1, and at most 100 in all"},
		},
		{
			name: "copies and new nodes whose names are paths",
			spec: PlacementReviewSpec{Copies: []PlacementReviewCopies{{Namespace: "..", Like: "a/b", Count: 1}}, NewNodes: []PlacementReviewNodes{{Like: "../n", Count: 1}}},
			want: []string{"spec.copies[0].namespace", "spec.copies[0].like", "spec.newNodes[0].like"},
		},
		{
			name: "too many copies and new nodes", spec: PlacementReviewSpec{Copies: make([]PlacementReviewCopies, 11), NewNodes: make([]PlacementReviewNodes, 101)},
			want: []string{"spec.copies: Too many", "spec.newNodes: Too many"},
		},
		{name: "offers", spec: PlacementReviewSpec{Waiting: true, Offers: []PlacementReviewOffer{
			{Node: "worker-1", Allocatable: corev1.ResourceList{"kubernetes.io/batch-cpu": resource.MustParse("0"), corev1.ResourceCPU: resource.MustParse("8")}}, {Node: "worker-2"},
		}}},
		{
			name: "offers twice, of a path, of less than nothing and of no resource",
			spec: PlacementReviewSpec{Waiting: true, Offers: []PlacementReviewOffer{
				{Node: "../n"}, {Node: "worker-1"}, {Node: "worker-1", Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1"), "/x y": {}}},
			}},
			want: []string{"spec.offers[0].node", "spec.offers[2].node: Duplicate", "spec.offers[2].allocatable[/x y]", "spec.offers[2].allocatable[cpu]: Invalid value: \"-1\": must be 0 or more"},
		},
		{name: "too many offers", spec: PlacementReviewSpec{Waiting: true, Offers: make([]PlacementReviewOffer, 10001)}, want: []string{"spec.offers: Too many"}},
		{name: "no pod", want: []string{"spec.pods: Required"}},
		{name: "a pod twice", spec: PlacementReviewSpec{Pods: []PlacementReviewPod{pod, pod}}, want: []string{`spec.pods[1]: Duplicate value: "shop/web-1"`}},
		{
			name: "names that are paths",
			spec: PlacementReviewSpec{Pods: []PlacementReviewPod{{Namespace: "..", Name: "a/b", Targets: []string{"../n"}}}, ExcludedNodes: []string{""}},
			want: []string{"spec.pods[0].namespace", "spec.pods[0].name", "spec.pods[0].targets[0]", "spec.excludedNodes[0]"},
		},
		{name: "too many pods", spec: PlacementReviewSpec{Pods: make([]PlacementReviewPod, 201)}, want: []string{"spec.pods: Too many"}},
		{
			name: "too many targets", spec: PlacementReviewSpec{Pods: []PlacementReviewPod{{Namespace: "shop", Name: "web-1", Targets: make([]string, 11)}}},
			want: []string{"spec.pods[0].targets: Too many"},
		},
		{name: "too many nodes", spec: PlacementReviewSpec{Pods: []PlacementReviewPod{pod}, MaxNodes: new(int32(101))}, want: []string{"spec.maxNodes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			errs := ValidatePlacementReview(&PlacementReview{Spec: tt.spec})
			rest := errs.ToAggregate()
			if len(tt.want) == 0 && rest != nil {
				t.Fatalf("errors %v, want none", rest)
			}
			for _, want := range tt.want {
				if rest == nil || !strings.Contains(rest.Error(), want) {
					t.Errorf("errors %v, want %q", rest, want)
				}
			}
		})
	}
}
