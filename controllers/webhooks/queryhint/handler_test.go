package queryhint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/queryhint"
	"koordinator.sh/koord/test/eventually"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// rig is a handler over a cluster of objects.
type rig struct {
	*Handler
	t        testing.TB
	client   client.Client
	clock    *clocktesting.FakeClock
	requests int
}

func newRig(t testing.TB, outlooks Outlooks, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, slov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	reader, passive := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), clocktesting.NewFakeClock(now)
	return &rig{t: t, client: reader, clock: passive, Handler: &Handler{
		Reader: reader, Nodes: NewNodeMemory(reader, outlooks, passive), Settings: queryhint.DefaultSettings(), Decoder: admission.NewDecoder(scheme), Clock: passive,
	}}
}

// nodes have 100 GiB of memory each, of which they use so many percent.
func nodes(used map[string]int) []client.Object {
	var out []client.Object
	for name, percent := range used {
		out = append(out,
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Gi")}}},
			&slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: slov1alpha1.NodeMetricStatus{
				UpdateTime: &metav1.Time{Time: now},
				NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{
					corev1.ResourceMemory: resource.MustParse(fmt.Sprint(percent, "Gi")),
				}}},
			}})
	}
	return out
}

func podOf(label, engine string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", GenerateName: "trino-", Labels: map[string]string{label: engine}}}
}

// create asks about a pod, and returns it as it is created.
func (r *rig) create(pod *corev1.Pod, change ...func(*admission.Request)) *corev1.Pod {
	r.t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		r.t.Fatal(err)
	}
	r.requests++
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: types.UID(fmt.Sprint("request-", r.requests)), Operation: admissionv1.Create, Namespace: pod.Namespace, Object: runtime.RawExtension{Raw: raw},
	}}
	for _, each := range change {
		each(&request)
	}
	response := r.Handle(r.t.Context(), request)
	if !response.Allowed {
		r.t.Fatalf("refused: %+v", response.Result)
	}
	if len(response.Patches) > 0 {
		text, err := json.Marshal(response.Patches)
		if err != nil {
			r.t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			r.t.Fatal(err)
		}
		if raw, err = patch.Apply(raw); err != nil {
			r.t.Fatal(err)
		}
	}
	out := &corev1.Pod{}
	if err := json.Unmarshal(raw, out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// bind stores a pod with a node.
func (r *rig) bind(pod *corev1.Pod, node string) {
	r.t.Helper()
	pod.Name, pod.Spec.NodeName, pod.CreationTimestamp = fmt.Sprint("pod-", r.requests), node, metav1.NewTime(r.clock.Now())
	if err := r.client.Create(r.t.Context(), pod); err != nil {
		r.t.Fatal(err)
	}
}

// preferred are the nodes of the hint of a pod, and the reason why there are none.
func preferred(t testing.TB, pod *corev1.Pod) (nodes []string, reason string) {
	t.Helper()
	hint, err := extension.GetSchedulingHint(pod.Annotations)
	if err != nil || hint == nil {
		t.Fatalf("hint %v, error %v", hint, err)
	}
	query, err := extension.GetQueryHint(hint)
	if err != nil || query == nil {
		t.Fatalf("what koord-manager noted is %v, error %v", query, err)
	}
	return hint.PreferredNodeNames, query.Reason
}

func TestWorkersOfADeploymentAreSpread(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10, "b": 30, "c": 50, "hot": 90})...)
	firsts := map[string]int{}
	for range 6 {
		names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino")))
		firsts[names[0]]++
		if len(names) != 3 {
			t.Errorf("the hint prefers %v, want all but the hot node", names)
		}
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 2, "c": 2}, firsts); diff != "" {
		t.Errorf("hints by the node that they prefer (-want +got):\n%s", diff)
	}
}

func TestBoundPodsAreCountedWhereTheyAre(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10, "b": 30})...)
	first := r.create(podOf(extension.LabelQueryWorker, "trino"))
	if names, _ := preferred(t, first); names[0] != "a" {
		t.Fatalf("the first hint prefers %v", names)
	}
	r.bind(first, "b") // against the hint
	if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino"))); names[0] != "a" {
		t.Errorf("with a worker on b the hint prefers %v, want a", names)
	}
	if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "presto"))); names[0] != "a" {
		t.Errorf("the first hint of another engine prefers %v, want a", names)
	}
}

func TestCachesArePlacedBesideWorkers(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10, "b": 30, "c": 20})...)
	if names, reason := preferred(t, r.create(podOf(extension.LabelQueryCache, "trino"))); len(names) != 0 || reason == "" {
		t.Errorf("before any worker a cache prefers %v, reason %q", names, reason)
	}
	r.create(podOf(extension.LabelQueryWorker, "trino")) // to a
	r.bind(r.create(podOf(extension.LabelQueryWorker, "trino")), "b")
	for _, want := range []string{"a", "b"} {
		if names, _ := preferred(t, r.create(podOf(extension.LabelQueryCache, "trino"))); len(names) != 2 || names[0] != want {
			t.Errorf("a cache prefers %v, want %s first and not c", names, want)
		}
	}
}

func TestHintsThatPodsNeverFollowAreForgotten(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10, "b": 30})...)
	dry := func(request *admission.Request) { request.DryRun = new(true) }
	for _, step := range []struct {
		change func(*admission.Request)
		want   string
	}{{dry, "a"}, {func(*admission.Request) {}, "a"}, {dry, "b"}} {
		if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino"), step.change)); names[0] != step.want {
			t.Fatalf("the hint prefers %v, want %s", names, step.want)
		}
	}
	r.clock.Step(boundWithin + time.Second)
	r.Settings.Fresh = time.Hour
	if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino"))); names[0] != "a" {
		t.Errorf("long after a hint whose pod never ran, the hint prefers %v, want a", names)
	}
}

func TestPodsThatAreLeftAlone(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10})...)
	tests := map[string]struct {
		change  func(*corev1.Pod)
		request func(*admission.Request)
	}{
		"of no engine": {change: func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }},
		"with a hint": {change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{extension.AnnotationSchedulingHint: `{"nodeNames":["b"]}`}
		}},
		"with an earlier hint": {change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{extension.DeprecatedAnnotationSchedulingHint: `{}`}
		}},
		"with a garbage hint":   {change: func(p *corev1.Pod) { p.Annotations = map[string]string{extension.AnnotationSchedulingHint: `]`} }},
		"that have a node":      {change: func(p *corev1.Pod) { p.Spec.NodeName = "b" }},
		"that are not created":  {request: func(r *admission.Request) { r.Operation = admissionv1.Update }},
		"of which a part is it": {request: func(r *admission.Request) { r.SubResource = "status" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &rig{t: t, Handler: r.Handler}
			pod := podOf(extension.LabelQueryWorker, "trino")
			var requests []func(*admission.Request)
			if test.change != nil {
				test.change(pod)
			} else {
				requests = append(requests, test.request)
			}
			if diff := cmp.Diff(pod, r.create(pod, requests...)); diff != "" {
				t.Errorf("pod (-asked +created):\n%s", diff)
			}
		})
	}
}

func TestWithoutMeasurementsNoNodeIsPreferred(t *testing.T) {
	r := newRig(t, nil, nodes(map[string]int{"a": 10, "b": 20})...)
	r.clock.Step(10 * time.Minute)
	names, reason := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino")))
	want := "the memory of all 2 nodes that the pod may run on is not known: there is no measurement of the last 3m0s"
	if len(names) != 0 || reason != want {
		t.Errorf("preferred %v because %q", names, reason)
	}
}

func TestAPodIsCreatedWithoutAHintWhereNothingCanBeRead(t *testing.T) {
	r := newRig(t, nil)
	broken := interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("gone")
		},
	})
	r.Reader, r.Nodes = broken, NewNodeMemory(broken, nil, r.clock)
	pod := podOf(extension.LabelQueryWorker, "trino")
	if diff := cmp.Diff(pod, r.create(pod)); diff != "" {
		t.Errorf("pod (-asked +created):\n%s", diff)
	}
}

// predicted are the offers of nodes in an hour, where 50 GiB are offered now.
type predicted map[string]int64

func (p predicted) ExplainNode(_ context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	offer := diagnosticsv1alpha1.OfferOutlook{Resource: string(extension.BatchMemory), Offered: 50 << 30}
	if later, known := p[spec.NodeName]; known {
		offer.Steps = []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 3600, Offered: later << 30}}
	}
	return diagnosticsv1alpha1.NodeExplanationStatus{Outlook: []diagnosticsv1alpha1.OfferOutlook{offer}}, nil
}

func TestNodesWhoseMemoryIsPredictedToBecomeHotAreLeftOut(t *testing.T) {
	r := newRig(t, predicted{"grows": 15, "stays": 45}, nodes(map[string]int{"grows": 50, "stays": 50, "unpredicted": 60})...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Nodes.Start(ctx) }()
	// The first pod does not wait for predictions.
	if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "trino"))); len(names) != 3 {
		t.Errorf("before predictions the hint prefers %v", names)
	}
	eventually.True(t, "the loop waits", r.clock.HasWaiters)
	r.clock.Step(interval)
	want := map[string]int64{"grows": 35 << 30, "stays": 5 << 30}
	eventually.True(t, "predictions", func() bool {
		known, err := r.Nodes.all(ctx)
		got := map[string]int64{}
		for _, each := range known {
			if each.memory.Growth != nil {
				got[each.node.Name] = *each.memory.Growth
			}
		}
		return err == nil && maps.Equal(want, got)
	})
	if names, _ := preferred(t, r.create(podOf(extension.LabelQueryWorker, "presto"))); len(names) != 2 || names[0] != "stays" {
		t.Errorf("the hint prefers %v, want those that do not become hot", names)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// BenchmarkHandle hints a worker in a cluster of 5,000 nodes with 200 workers.
func BenchmarkHandle(b *testing.B) {
	used := map[string]int{}
	for i := range 5000 {
		used[fmt.Sprint("node-", i)] = i % 100
	}
	r := newRig(b, nil, nodes(used)...)
	for i := range 200 {
		pod := podOf(extension.LabelQueryWorker, "trino")
		r.requests++
		r.bind(pod, fmt.Sprint("node-", i))
	}
	if _, err := r.Nodes.all(b.Context()); err != nil {
		b.Fatal(err)
	}
	pod := podOf(extension.LabelQueryWorker, "trino")
	b.ReportAllocs()
	for b.Loop() {
		r.create(pod)
	}
}
