package nodeobject

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

// shared is memory that everything wanted points to, as a merged configuration would be.
var shared = slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: new(int64(60))}

// testKind wants a NodeMetric that points to shared, and never patches.
func testKind() Kind[*slov1alpha1.NodeMetric] {
	return Kind[*slov1alpha1.NodeMetric]{
		Name: "nodemetric",
		New:  func() *slov1alpha1.NodeMetric { return &slov1alpha1.NodeMetric{} },
		Want: func(_ configmerge.Config, node *corev1.Node) (*slov1alpha1.NodeMetric, bool) {
			return &slov1alpha1.NodeMetric{
				ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: slov1alpha1.NodeMetricSpec{CollectPolicy: &shared},
			}, node.Labels["damaged"] == ""
		},
		Patch: func(existing, _ *slov1alpha1.NodeMetric) ([]byte, error) {
			if existing.Labels["broken"] != "" {
				return nil, errors.New("cannot be encoded")
			}
			return nil, nil
		},
		NodeChanged: predicate.LabelChangedPredicate{},
		Metrics:     NewMetrics("nodemetric", "NodeMetric"),
	}
}

func newClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func loaded() *sloconfig.Store {
	config, _ := configmerge.Parse(nil)
	store := sloconfig.NewStore()
	store.Set(config)
	return store
}

func nodeA(labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: labels}}
}

func metricA(labels map[string]string) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "uid", Labels: labels}}
}

var forNodeA = reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}}

func TestFailuresNameKindAndNode(t *testing.T) {
	refused := errors.New("refused")
	onKind := func(object client.Object) error {
		if _, ok := object.(*slov1alpha1.NodeMetric); ok {
			return refused
		}
		return nil
	}
	tests := []struct {
		name    string
		objects []client.Object
		funcs   interceptor.Funcs
		want    string
	}{
		{
			name: "the node cannot be read",
			funcs: interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return refused
			}},
			want: `get node "node-a": refused`,
		},
		{
			name: "the counterpart cannot be read", objects: []client.Object{nodeA(nil)},
			funcs: interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if err := onKind(object); err != nil {
					return err
				}
				return c.Get(ctx, key, object, options...)
			}},
			want: `get nodemetric "node-a": refused`,
		},
		{
			name: "the counterpart cannot be created", objects: []client.Object{nodeA(nil)},
			funcs: interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return refused }},
			want:  `create nodemetric "node-a": refused`,
		},
		{
			name: "the counterpart cannot be deleted", objects: []client.Object{metricA(nil)},
			funcs: interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return refused }},
			want:  `delete nodemetric "node-a": refused`,
		},
		{
			name: "the difference cannot be told", objects: []client.Object{nodeA(nil), metricA(map[string]string{"broken": "yes"})},
			want: `compare nodemetric "node-a": cannot be encoded`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind := testKind()
			_, err := NewReconciler(kind, newClient(t, test.funcs, test.objects...), loaded()).Reconcile(t.Context(), forNodeA)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if got := testutil.ToFloat64(kind.Metrics.reconciles.WithLabelValues("failed", "reconcileNodeMetric")); got != 1 {
				t.Errorf("%v failures counted, want 1", got)
			}
		})
	}
}

func TestWhatIsSentDoesNotShareMemoryWithTheConfiguration(t *testing.T) {
	answer := func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
		// An admission webhook may change what was sent, and the client decodes its answer in place.
		*object.(*slov1alpha1.NodeMetric).Spec.CollectPolicy.ReportIntervalSeconds = 1
		return nil
	}
	r := NewReconciler(testKind(), newClient(t, interceptor.Funcs{Create: answer}, nodeA(nil)), loaded())
	if _, err := r.Reconcile(t.Context(), forNodeA); err != nil {
		t.Fatal(err)
	}
	if got := *shared.ReportIntervalSeconds; got != 60 {
		t.Errorf("the configuration's report interval became %d", got)
	}
}

func TestOutcomesAreCounted(t *testing.T) {
	kind := testKind()
	c := newClient(t, interceptor.Funcs{}, nodeA(map[string]string{"damaged": "yes"}))
	for range 2 {
		if _, err := NewReconciler(kind, c, loaded()).Reconcile(t.Context(), forNodeA); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewRegistry()
	for range 2 {
		if err := register(registry, kind.Metrics); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			key := family.GetName()
			for _, label := range metric.Label {
				key += " " + label.GetValue()
			}
			got[key] = metric.Counter.GetValue()
		}
	}
	want := map[string]float64{
		"slo_controller_nodemetric_reconcile_count reconcileNodeMetric succeeded": 2,
		"slo_controller_nodemetric_spec_parse_count getNodeMetricSpec failed":     2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestNothingIsMadeBeforeTheConfigurationIsRead(t *testing.T) {
	c := newClient(t, interceptor.Funcs{}, nodeA(nil))
	if _, err := NewReconciler(testKind(), c, sloconfig.NewStore()).Reconcile(t.Context(), forNodeA); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), keyOf("node-a"), &slov1alpha1.NodeMetric{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a NodeMetric exists (%v)", err)
	}
}
