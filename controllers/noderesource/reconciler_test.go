package noderesource

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

var noon = time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func testNode(annotations map[string]string, published ...string) *corev1.Node {
	resources := append([]string{"cpu", "100", "memory", "120G"}, published...)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: annotations},
		Status:     corev1.NodeStatus{Capacity: list(resources...), Allocatable: list(resources...)},
	}
}

// testMetric leaves 100-35-7-11 = 47 cpus and 120-42-12-11 = 55 GB with testPod on the node.
func testMetric(age time.Duration) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: noon.Add(-age)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{
				NodeUsage:   slov1alpha1.ResourceMap{ResourceList: list("cpu", "18", "memory", "23G")},
				SystemUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "7", "memory", "12G")},
			},
			PodsMetric: []*slov1alpha1.PodMetricInfo{{Namespace: "default", Name: "web",
				PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "11", "memory", "11G")}}},
		},
	}
}

func testPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.PodSpec{NodeName: "node-a", Priority: new(int32(9500)), Containers: []corev1.Container{
			{Name: "main", Resources: corev1.ResourceRequirements{Requests: list("cpu", "20", "memory", "20G")}}}},
	}
}

const enabled = `{"enable": true, "cpuReclaimThresholdPercent": 65, "memoryReclaimThresholdPercent": 65}`

func store(t testing.TB, config string) *sloconfig.Store {
	t.Helper()
	parsed, problems := configmerge.Parse(map[string]string{"colocation-config": config})
	if len(problems) > 0 {
		t.Fatalf("configuration: %v", problems)
	}
	s := sloconfig.NewStore()
	s.Set(parsed)
	return s
}

// harness is a reconciler over a fake API server that records the patches of node.status.
type harness struct {
	*reconciler
	patches []map[string]any
	// versions are those of the node that the patches apply to.
	versions []string
	events   *events.FakeRecorder
}

func newHarness(t *testing.T, config *sloconfig.Store, objects ...client.Object) *harness {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	h := &harness{}
	record := func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		data, err := patch.Data(object)
		if err != nil {
			return err
		}
		body := map[string]any{}
		if err := json.Unmarshal(data, &body); err != nil {
			return err
		}
		metadata, _ := body["metadata"].(map[string]any)
		h.versions = append(h.versions, fmt.Sprint(metadata["resourceVersion"]))
		if delete(metadata, "resourceVersion"); len(metadata) == 0 {
			delete(body, "metadata")
		}
		h.patches = append(h.patches, body)
		rest, err := json.Marshal(body)
		if err != nil {
			return err
		}
		// The API server takes a node's labels and annotations through the status endpoint too; the fake client does not.
		if err := c.Patch(ctx, object, patch); err != nil {
			return err
		}
		return c.SubResource(sub).Patch(ctx, object, client.RawPatch(types.MergePatchType, rest), options...)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&corev1.Node{}).
		WithIndex(&corev1.Pod{}, PodNodeIndex, indexByNode).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: record}).Build()
	h.events = events.NewFakeRecorder(100)
	h.reconciler = &reconciler{client: c, config: config, clock: clocktesting.NewFakePassiveClock(noon), recorder: h.events}
	return h
}

func (h *harness) run(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func amounts(batchCPU, batchMemory any) map[string]any {
	return map[string]any{"kubernetes.io/batch-cpu": batchCPU, "kubernetes.io/batch-memory": batchMemory}
}

func status(resources map[string]any) map[string]any {
	return map[string]any{"status": map[string]any{"capacity": resources, "allocatable": resources}}
}

func TestReconcile(t *testing.T) {
	offered := []string{"kubernetes.io/batch-cpu", "47000", "kubernetes.io/batch-memory", "55G", "kubernetes.io/mid-cpu", "0", "kubernetes.io/mid-memory", "0"}
	almost := []string{"kubernetes.io/batch-cpu", "46000", "kubernetes.io/batch-memory", "55G", "kubernetes.io/mid-cpu", "0", "kubernetes.io/mid-memory", "0"}
	half := []string{"kubernetes.io/batch-cpu", "23000", "kubernetes.io/batch-memory", "55G", "kubernetes.io/mid-cpu", "0", "kubernetes.io/mid-memory", "0"}
	yarn := map[string]string{extension.AnnotationNodeThirdPartyAllocations: `{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"7000"}}]}`}
	tests := []struct {
		name    string
		config  string
		objects []client.Object
		// writtenAgo is when the controller last wrote the node; zero when it is not known.
		writtenAgo time.Duration
		want       []map[string]any
		// wantAfter is when the node is looked at again.
		wantAfter time.Duration
	}{
		{
			name:    "a node's first report puts its resources out",
			config:  enabled,
			objects: []client.Object{testNode(nil), testMetric(time.Minute), testPod()},
			want: []map[string]any{status(map[string]any{"kubernetes.io/batch-cpu": "47000", "kubernetes.io/batch-memory": "55000000000",
				"kubernetes.io/mid-cpu": "0", "kubernetes.io/mid-memory": "0"})},
			wantAfter: 14*time.Minute + time.Nanosecond,
		},
		{
			name:      "what is already out is not written again",
			config:    enabled,
			objects:   []client.Object{testNode(nil, offered...), testMetric(time.Minute), testPod()},
			wantAfter: 14*time.Minute + time.Nanosecond,
		},
		{
			name:       "a small difference waits for its time",
			config:     enabled,
			objects:    []client.Object{testNode(nil, almost...), testMetric(time.Minute), testPod()},
			writtenAgo: time.Minute,
			wantAfter:  4 * time.Minute,
		},
		{
			name:       "and is written when the time has come, alone",
			config:     enabled,
			objects:    []client.Object{testNode(nil, almost...), testMetric(time.Minute), testPod()},
			writtenAgo: 6 * time.Minute,
			want:       []map[string]any{status(map[string]any{"kubernetes.io/batch-cpu": "47000"})},
			wantAfter:  14*time.Minute + time.Nanosecond,
		},
		{
			name:       "a large difference does not wait",
			config:     enabled,
			objects:    []client.Object{testNode(nil, half...), testMetric(time.Minute), testPod()},
			writtenAgo: time.Second,
			want:       []map[string]any{status(map[string]any{"kubernetes.io/batch-cpu": "47000"})},
			wantAfter:  14*time.Minute + time.Nanosecond,
		},
		{
			name:    "measurements that are too old take everything back",
			config:  enabled,
			objects: []client.Object{testNode(nil, offered...), testMetric(16 * time.Minute), testPod()},
			want: []map[string]any{status(map[string]any{"kubernetes.io/batch-cpu": nil, "kubernetes.io/batch-memory": nil,
				"kubernetes.io/mid-cpu": nil, "kubernetes.io/mid-memory": nil})},
		},
		{
			name:    "so does switching off, and only what is there",
			config:  `{"enable": false}`,
			objects: []client.Object{testNode(nil, "kubernetes.io/batch-cpu", "47000", "kubernetes.io/batch-memory", "55G"), testMetric(time.Minute), testPod()},
			want:    []map[string]any{status(amounts(nil, nil))},
		},
		{
			name:    "a node that offers nothing and is to offer nothing is left alone",
			config:  `{"enable": false}`,
			objects: []client.Object{testNode(nil), testMetric(time.Minute), testPod()},
		},
		{
			name:    "no NodeMetric, nothing offered, nothing written",
			config:  enabled,
			objects: []client.Object{testNode(nil), testPod()},
		},
		{
			name:    "what another scheduler took is left out, and what was there is told",
			config:  enabled,
			objects: []client.Object{testNode(yarn, offered...), testMetric(time.Minute), testPod()},
			want: []map[string]any{{
				"status":   map[string]any{"capacity": map[string]any{"kubernetes.io/batch-cpu": "40000"}, "allocatable": map[string]any{"kubernetes.io/batch-cpu": "40000"}},
				"metadata": map[string]any{"annotations": map[string]any{extension.AnnotationNodeOriginExtendedAllocatable: `{"resources":{"kubernetes.io/batch-cpu":"47k","kubernetes.io/batch-memory":"55000000000"}}`}},
			}},
			wantAfter: 14*time.Minute + time.Nanosecond,
		},
		{
			name: "a node that is gone is no error", config: enabled, objects: []client.Object{testMetric(time.Minute)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, store(t, test.config), test.objects...)
			if test.writtenAgo != 0 {
				h.written.Store("node-a", noon.Add(-test.writtenAgo))
			}
			result := h.run(t)
			if diff := cmp.Diff(test.want, h.patches); diff != "" {
				t.Errorf("patches (-want +got):\n%s", diff)
			}
			if result.RequeueAfter != test.wantAfter {
				t.Errorf("looks again after %v, want %v", result.RequeueAfter, test.wantAfter)
			}
			if len(test.want) > 0 && test.want[0]["metadata"] != nil {
				return // the fake API server drops metadata sent to the status endpoint, a real one keeps it
			}
			writes := len(h.patches)
			h.run(t)
			if len(h.patches) != writes {
				t.Errorf("a second look without changes wrote again: %v", h.patches[writes:])
			}
		})
	}
}

// TestAnOfferIsWrittenOverTheVersionItWasComputedFrom has the cache be behind: the node offers something else already.
func TestAnOfferIsWrittenOverTheVersionItWasComputedFrom(t *testing.T) {
	offered := []string{"kubernetes.io/batch-cpu", "23000", "kubernetes.io/batch-memory", "55G", "kubernetes.io/mid-cpu", "0", "kubernetes.io/mid-memory", "0"}
	h := newHarness(t, store(t, enabled), testNode(nil, offered...), testMetric(time.Minute), testPod())
	behind := &corev1.Node{}
	if err := h.client.Get(t.Context(), types.NamespacedName{Name: "node-a"}, behind); err != nil {
		t.Fatal(err)
	}
	ahead := behind.DeepCopy()
	ahead.Status.Allocatable["kubernetes.io/batch-memory"] = resource.MustParse("1G")
	if err := h.client.Status().Update(t.Context(), ahead); err != nil {
		t.Fatal(err)
	}
	up := h.reconciler.client
	h.reconciler.client = cacheBehind{up, behind}
	if result := h.run(t); result.RequeueAfter != conflictRetry {
		t.Errorf("looks again after %s, want %s", result.RequeueAfter, conflictRetry)
	}
	now := &corev1.Node{}
	if err := up.Get(t.Context(), types.NamespacedName{Name: "node-a"}, now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ahead.Status.Allocatable, now.Status.Allocatable); diff != "" {
		t.Errorf("a mixture of two offers was written (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]string{behind.ResourceVersion}, h.versions); diff != "" {
		t.Errorf("versions that patches apply to (-want +got):\n%s", diff)
	}
}

// cacheBehind reads a node as it was.
type cacheBehind struct {
	client.Client
	was *corev1.Node
}

func (c cacheBehind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if node, ok := object.(*corev1.Node); ok {
		c.was.DeepCopyInto(node)
		return nil
	}
	return c.Client.Get(ctx, key, object, options...)
}

func TestNothingIsTakenBackBeforeTheConfigurationIsRead(t *testing.T) {
	h := newHarness(t, sloconfig.NewStore(), testNode(nil, "kubernetes.io/batch-cpu", "47000"), testMetric(time.Minute), testPod())
	if result := h.run(t); len(h.patches) > 0 || result.RequeueAfter != 0 {
		t.Errorf("wrote %v, looks again after %v; want nothing", h.patches, result.RequeueAfter)
	}
}
