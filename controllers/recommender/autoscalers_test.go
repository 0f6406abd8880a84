package recommender

import (
	"context"
	"errors"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
)

// scaledCluster answers lists of autoscalers, of which the cluster may not know the vertical ones, and of which reading may fail.
type scaledCluster struct {
	client.Client
	horizontal []autoscalingv2.HorizontalPodAutoscaler
	vertical   []unstructured.Unstructured
	unserved   bool
	err        error
	lists      int
}

func (a *scaledCluster) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	switch into := list.(type) {
	case *autoscalingv2.HorizontalPodAutoscalerList:
		a.lists++
		into.Items = a.horizontal
		return a.err
	case *unstructured.UnstructuredList:
		a.lists++
		kind := into.GroupVersionKind()
		if a.unserved {
			return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
		}
		into.Items = a.vertical
		return nil
	}
	return a.Client.List(ctx, list, options...)
}

func horizontalOfWeb() autoscalingv2.HorizontalPodAutoscaler {
	out := autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	out.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))},
	}}}
	return out
}

func verticalOfWeb(mode string) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": map[string]any{"namespace": "shop", "name": "web"},
		"spec": map[string]any{
			"targetRef":    map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
			"updatePolicy": map[string]any{"updateMode": mode},
		},
	}}
}

func TestResourcesAreLeftToAutoscalers(t *testing.T) {
	const sets = `not resized: VerticalPodAutoscaler "web" sets cpu and memory`
	tests := map[string]struct {
		autoscalers            scaledCluster
		recommendation         *analysisv1alpha1.Recommendation
		wantResized, wantLists int
		wantReason, wantText   string
	}{
		"none, and no kind of vertical ones": {autoscalers: scaledCluster{unserved: true}, recommendation: inPlace(), wantResized: 1, wantLists: 2},
		"a vertical one that only recommends": {
			autoscalers: scaledCluster{vertical: []unstructured.Unstructured{verticalOfWeb("Off")}}, recommendation: inPlace(), wantResized: 1, wantLists: 2,
		},
		"a vertical one": {
			autoscalers: scaledCluster{vertical: []unstructured.Unstructured{verticalOfWeb("InPlaceOrRecreate")}}, recommendation: inPlace(),
			wantLists: 2, wantReason: "VerticalPodAutoscaler", wantText: sets,
		},
		"a horizontal one": {
			autoscalers: scaledCluster{horizontal: []autoscalingv2.HorizontalPodAutoscaler{horizontalOfWeb()}}, recommendation: inPlace(), wantLists: 2,
			wantReason: "HorizontalPodAutoscaler", wantText: `not resized: HorizontalPodAutoscaler "web" scales by the utilization of cpu, which is relative to requests`,
		},
		"nothing is to be applied": {
			autoscalers: scaledCluster{vertical: []unstructured.Unstructured{verticalOfWeb("InPlaceOrRecreate")}}, recommendation: forDeployment(),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := confident(t, true, test.recommendation, 2)
			autoscalers := test.autoscalers
			autoscalers.Client = r.client
			r.reconciler.live = &autoscalers
			r.pass()
			if len(r.resized) != test.wantResized || autoscalers.lists != test.wantLists {
				t.Errorf("resized %v, want %d; %d lists, want %d", r.resized, test.wantResized, autoscalers.lists, test.wantLists)
			}
			condition := meta.FindStatusCondition(r.recommendation().Status.Conditions, analysisv1alpha1.RecommendationConditionAutoscaled)
			if condition == nil {
				condition = &metav1.Condition{}
			}
			if condition.Reason != test.wantReason || condition.Message != test.wantText {
				t.Errorf("condition %s: %q, want %s: %q", condition.Reason, condition.Message, test.wantReason, test.wantText)
			}
		})
	}
}

func TestTheConditionGoesWithTheAutoscaler(t *testing.T) {
	r := confident(t, true, inPlace(), 2)
	autoscalers := &scaledCluster{Client: r.client, vertical: []unstructured.Unstructured{verticalOfWeb("Recreate")}}
	r.reconciler.live = autoscalers
	r.pass()
	autoscalers.vertical = nil
	r.pass()
	if c := meta.FindStatusCondition(r.recommendation().Status.Conditions, analysisv1alpha1.RecommendationConditionAutoscaled); c != nil || len(r.resized) != 1 {
		t.Errorf("condition %v, resized %v; want none and one pod", c, r.resized)
	}
}

func TestNothingIsResizedWhileAutoscalersAreUnknown(t *testing.T) {
	r := confident(t, true, inPlace(), 2)
	r.reconciler.live = &scaledCluster{Client: r.client, err: errors.New("no answer")}
	_, err := r.reconciler.Reconcile(t.Context(), reconcile.Request{})
	if err == nil || !strings.Contains(err.Error(), `list horizontalpodautoscalers in namespace "shop": no answer`) || len(r.resized) > 0 {
		t.Errorf("error %v, resized %v", err, r.resized)
	}
	if r.writes != 1 {
		t.Errorf("%d writes of the status, want what is recommended all the same", r.writes)
	}
}
