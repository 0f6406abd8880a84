package nodemetric

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/nodeobject"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

type write struct {
	Verb string
	Body map[string]any
}

func policy(interval int) map[string]any {
	return map[string]any{"metricCollectPolicy": map[string]any{
		"aggregateDurationSeconds": 300.0, "reportIntervalSeconds": float64(interval), "nodeMemoryCollectPolicy": "usageWithoutPageCache",
		"nodeAggregatePolicy": map[string]any{"durations": []any{"5m0s", "10m0s", "30m0s"}},
	}}
}

func TestReconcile(t *testing.T) {
	node := func(labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: labels}}
	}
	metric := func(spec map[string]any) *slov1alpha1.NodeMetric {
		out := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "uid"}}
		encoded, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &out.Spec); err != nil {
			t.Fatal(err)
		}
		return out
	}
	tests := []struct {
		name    string
		objects []client.Object
		want    []write
	}{
		{
			name: "a new node gets a NodeMetric with the policy of the cluster", objects: []client.Object{node(nil)},
			want: []write{{Verb: "create", Body: policy(60)}},
		},
		{
			name: "one that is right is left alone", objects: []client.Object{node(nil), metric(policy(60))},
		},
		{
			name:    "a node that came under a strategy gets its policy, and nothing else is written",
			objects: []client.Object{node(map[string]string{"pool": "fast"}), metric(policy(60))},
			want:    []write{{Verb: "patch", Body: policy(10)}},
		},
		{
			name: "a NodeMetric without a policy gets one", objects: []client.Object{node(nil), metric(nil)},
			want: []write{{Verb: "patch", Body: policy(60)}},
		},
		{
			name: "a NodeMetric without a node is deleted", objects: []client.Object{metric(policy(60))},
			want: []write{{Verb: "delete"}},
		},
		{
			name: "neither node nor NodeMetric",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []write
			r := newReconciler(t, &got, test.objects...)
			for range 2 {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("writes of two passes (-want +got):\n%s", diff)
			}
		})
	}
}

func newReconciler(t *testing.T, writes *[]write, objects ...client.Object) reconcile.Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	spec := func(encoded []byte) map[string]any {
		var body struct{ Spec map[string]any }
		if err := json.Unmarshal(encoded, &body); err != nil {
			t.Error(err)
		}
		return body.Spec
	}
	funcs := interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			encoded, err := json.Marshal(object)
			*writes = append(*writes, write{"create", spec(encoded)})
			if err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			encoded, err := patch.Data(object)
			*writes = append(*writes, write{"patch", spec(encoded)})
			if err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			*writes = append(*writes, write{Verb: "delete"})
			return c.Delete(ctx, object, options...)
		},
	}
	config, problems := configmerge.Parse(map[string]string{"colocation-config": `{"enable": false,
		"nodeConfigs": [{"name": "fast", "nodeSelector": {"matchLabels": {"pool": "fast"}}, "metricReportIntervalSeconds": 10}]}`})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	store := sloconfig.NewStore()
	store.Set(config)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	return nodeobject.NewReconciler(Kind(), c, store)
}

func TestHeartbeatsDoNotWake(t *testing.T) {
	before := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", ResourceVersion: "1", Labels: map[string]string{"a": "b"}}}
	after := before.DeepCopy()
	after.ResourceVersion = "2"
	if strategyChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a heartbeat wakes the controller")
	}
	after.Labels["a"] = "c"
	if !strategyChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a new label does not wake the controller")
	}
}
