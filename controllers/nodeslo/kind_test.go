package nodeslo

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/nodeobject"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

// harness is a reconciler over a fake API server that records patches.
type harness struct {
	reconcile.Reconciler
	client  client.Client
	config  *sloconfig.Store
	patches []string
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	h := &harness{}
	patch := func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		encoded, err := patch.Data(object)
		h.patches = append(h.patches, string(encoded))
		if err != nil {
			return err
		}
		return c.Patch(ctx, object, patch, options...)
	}
	h.config = sloconfig.NewStore()
	h.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Patch: patch}).Build()
	h.Reconciler = nodeobject.NewReconciler(Kind(), h.client, h.config)
	return h
}

func (h *harness) configure(t *testing.T, threshold string) {
	t.Helper()
	config, problems := configmerge.Parse(map[string]string{"resource-threshold-config": threshold})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	h.config.Set(config)
}

func (h *harness) run(t *testing.T) {
	t.Helper()
	if _, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}}); err != nil {
		t.Fatal(err)
	}
}

func (h *harness) get(t *testing.T) (*slov1alpha1.NodeSLO, bool) {
	t.Helper()
	slo := &slov1alpha1.NodeSLO{}
	err := h.client.Get(t.Context(), types.NamespacedName{Name: "node-a"}, slo)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return slo, !apierrors.IsNotFound(err)
}

// TestAPatchMadeFromAnOlderVersionDoesNothing has the cache be one write behind: what is written over the older version must
// not become a mixture of the two configurations.
func TestAPatchMadeFromAnOlderVersionDoesNothing(t *testing.T) {
	h := newHarness(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
	h.configure(t, `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60}}`)
	h.run(t)
	behind, _ := h.get(t)
	h.configure(t, `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 50, "cpuEvictThresholdPercent": 90}}`)
	h.run(t)
	h.configure(t, `{"clusterStrategy": {"enable": false, "cpuSuppressThresholdPercent": 60}}`)
	up := h.Reconciler
	h.Reconciler = nodeobject.NewReconciler(Kind(), cacheBehind{h.client, behind}, h.config)
	result, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}})
	if err != nil || result.RequeueAfter <= 0 {
		t.Errorf("looks again after %s, %v, want soon and no error", result.RequeueAfter, err)
	}
	slo, _ := h.get(t)
	if got := *slo.Spec.ResourceUsedThresholdWithBE; !*got.Enable || *got.CPUSuppressThresholdPercent != 50 || *got.CPUEvictThresholdPercent != 90 {
		t.Errorf("NodeSLO %+v, want the second configuration untouched", got)
	}
	h.Reconciler = up
	h.run(t)
	slo, _ = h.get(t)
	if got := *slo.Spec.ResourceUsedThresholdWithBE; *got.Enable || *got.CPUSuppressThresholdPercent != 60 || got.CPUEvictThresholdPercent != nil {
		t.Errorf("NodeSLO %+v, want the third configuration", got)
	}
}

// cacheBehind reads one NodeSLO as it was.
type cacheBehind struct {
	client.Client
	was *slov1alpha1.NodeSLO
}

func (c cacheBehind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if slo, ok := object.(*slov1alpha1.NodeSLO); ok {
		c.was.DeepCopyInto(slo)
		return nil
	}
	return c.Client.Get(ctx, key, object, options...)
}

func TestANodeSLOFollowsTheConfiguration(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	h := newHarness(t, node)
	h.run(t)
	if _, exists := h.get(t); exists {
		t.Fatal("a NodeSLO was made before the configuration was read")
	}
	h.configure(t, `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60, "cpuEvictThresholdPercent": 90}}`)
	h.run(t)
	slo, exists := h.get(t)
	if !exists || *slo.Spec.ResourceUsedThresholdWithBE.CPUSuppressThresholdPercent != 60 || *slo.Spec.CPUBurstStrategy.CPUBurstPercent != 1000 {
		t.Fatalf("NodeSLO %+v, want the configuration over the defaults", slo.Spec)
	}
	h.run(t)
	if len(h.patches) > 0 {
		t.Errorf("patches although nothing changed: %q", h.patches)
	}

	slo.Spec.Extensions = &runtime.RawExtension{Raw: []byte(`{"theirs":{"a":1}}`)}
	if err := h.client.Update(t.Context(), slo); err != nil {
		t.Fatal(err)
	}
	h.configure(t, `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 55}}`)
	h.run(t)
	h.run(t)
	want := []string{`{"metadata":{"resourceVersion":"` + slo.ResourceVersion + `"},"spec":{"resourceUsedThresholdWithBE":{"cpuEvictThresholdPercent":null,"cpuSuppressThresholdPercent":55}}}`}
	if diff := cmp.Diff(want, h.patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	slo, _ = h.get(t)
	extensions, err := json.Marshal(slo.Spec.Extensions)
	if err != nil || string(extensions) != `{"theirs":{"a":1}}` {
		t.Errorf("extensions of others became %s", extensions)
	}

	if err := h.client.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	h.run(t)
	if _, exists := h.get(t); exists {
		t.Error("the NodeSLO outlived its node")
	}
}

// BenchmarkPatch is what one node costs when one value changes of all that a configuration says.
func BenchmarkPatch(b *testing.B) {
	spec := func(threshold string) slov1alpha1.NodeSLOSpec {
		config, problems := configmerge.Parse(map[string]string{
			"resource-threshold-config": threshold,
			"resource-qos-config":       `{"clusterStrategy": {"lsClass": {"cpuQOS": {"enable": true}, "memoryQOS": {"enable": true}}, "beClass": {"cpuQOS": {"enable": true}}}}`,
		})
		if len(problems) > 0 {
			b.Fatal(problems)
		}
		return config.NodeSLOSpec(&corev1.Node{})
	}
	meta := metav1.ObjectMeta{Name: "node-a", ResourceVersion: "7"}
	existing := &slov1alpha1.NodeSLO{ObjectMeta: meta, Spec: *new(spec(`{"clusterStrategy": {"enable": true}}`)).DeepCopy()}
	want := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: spec(`{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 55}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if body, err := patch(existing, want); err != nil || body == nil {
			b.Fatalf("patch %s, %v", body, err)
		}
	}
}
