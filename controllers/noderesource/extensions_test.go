package noderesource

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

// companions is a reader of the objects that are named like nodes.
func companions(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{schedulingv1alpha1.AddToScheme, topologyv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func xeon() *topologyv1alpha1.NodeResourceTopology {
	return &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{
		extension.AnnotationCPUBasicInfo: `{"cpuModel":"Xeon","turboEnabled":true}`, extension.AnnotationNodeCPUTopology: `{}`}}}
}

func oneGPU() *schedulingv1alpha1.Device {
	return &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: map[string]string{extension.LabelGPUModel: "A100"}},
		Spec: schedulingv1alpha1.DeviceSpec{Devices: []schedulingv1alpha1.DeviceInfo{{Type: schedulingv1alpha1.GPU, Minor: new(int32(0)), Health: true,
			Resources: list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "80Gi", "koordinator.sh/gpu-memory-ratio", "100")}}}}
}

// ratios is a configuration that normalizes and amplifies, and offers no batch resources.
func ratios(t *testing.T) *sloconfig.Store {
	t.Helper()
	parsed, problems := configmerge.Parse(map[string]string{
		"cpu-normalization-config":      `{"enable":true,"ratioModel":{"Xeon":{"turboEnabledRatio":1.65}}}`,
		"resource-amplification-config": `{"enable":true,"resourceAmplificationRatio":{"cpu":2}}`,
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := sloconfig.NewStore()
	s.Set(parsed)
	return s
}

func TestEverythingIsWrittenAtOnceAndOnce(t *testing.T) {
	h := newHarness(t, ratios(t), testNode(nil), testMetric(time.Minute))
	reader := companions(t, xeon(), oneGPU())
	h.extensions = extensions{topologies: reader, devices: reader, sharedGPU: true}
	h.run(t)
	gpu := map[string]any{"koordinator.sh/gpu": "100", "koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory": "80Gi", "koordinator.sh/gpu-memory-ratio": "100", "koordinator.sh/gpu.shared": "100"}
	want := []map[string]any{{
		"metadata": map[string]any{
			"annotations": map[string]any{extension.AnnotationCPUNormalizationRatio: "1.65", extension.AnnotationNodeResourceAmplificationRatio: `{"cpu":3.30}`},
			"labels":      map[string]any{"node.koordinator.sh/gpu-model": "A100", "kubernetes.io/gpu-model": "A100"},
		},
		"status": map[string]any{"capacity": gpu, "allocatable": gpu},
	}}
	if diff := cmp.Diff(want, h.patches); diff != "" {
		t.Fatalf("patches (-want +got):\n%s", diff)
	}
	h.run(t)
	if len(h.patches) != 1 {
		t.Errorf("nothing changed, and it wrote %v", h.patches[1:])
	}
}

func TestDevicesThatGoAreTakenBack(t *testing.T) {
	node := testNode(nil, "koordinator.sh/gpu-core", "100", "koordinator.sh/rdma", "100")
	node.Labels = map[string]string{"kubernetes.io/gpu-model": "A100"}
	node.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
		Subresource: "status", FieldsV1: metav1.NewFieldsV1(
			`{"f:metadata":{"f:labels":{"f:kubernetes.io/gpu-model":{}}},"f:status":{"f:allocatable":{"f:koordinator.sh/gpu-core":{}}}}`)}}
	decided, err := (extensions{devices: companions(t)}).decide(t.Context(), node, configmerge.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	changes := newUpdate()
	changes.extend(node, decided)
	if got, want := string(changes.body("7")),
		`{"metadata":{"labels":{"kubernetes.io/gpu-model":null},"resourceVersion":"7"},"status":{"allocatable":{"koordinator.sh/gpu-core":null},"capacity":{"koordinator.sh/gpu-core":null}}}`; got != want {
		t.Errorf("patch %s, want %s", got, want)
	}
}

// broken is a reader that always fails.
type broken struct{ client.Reader }

func (broken) Get(context.Context, types.NamespacedName, client.Object, ...client.GetOption) error {
	return errors.New("out of order")
}

func TestWhatCannotBeReadKeepsNoOfferFromBeingTakenBack(t *testing.T) {
	h := newHarness(t, ratios(t), testNode(nil, "kubernetes.io/batch-cpu", "1000"))
	h.extensions = extensions{topologies: companions(t, xeon()), devices: broken{}}
	if _, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}}); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]map[string]any{status(map[string]any{"kubernetes.io/batch-cpu": nil})}, h.patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
}

// TestEveryPartOfADecisionIsCounted under the names and labels of upstream's plugins.
func TestEveryPartOfADecisionIsCounted(t *testing.T) {
	unlabelled := testNode(nil)
	unlabelled.Labels = map[string]string{extension.LabelCPUNormalizationEnabled: "perhaps"}
	unlabelled.Annotations = map[string]string{extension.AnnotationNodeResourceAmplificationRatio: "{"}
	tests := map[string]struct {
		node       *corev1.Node
		extensions extensions
		want       []string
	}{
		"all is known": {testNode(nil), extensions{topologies: companions(t, xeon()), devices: companions(t, oneGPU())}, []string{
			"CPUNormalization succeeded ", "GPUDeviceResource succeeded ", "RDMADeviceResource succeeded ", "ResourceAmplification succeeded "}},
		"a cpu that is not reported, and devices that are not looked at": {testNode(nil), extensions{topologies: companions(t)}, []string{
			"CPUNormalization degraded CPUUnknown", "ResourceAmplification succeeded "}},
		"a label and an annotation that cannot be read": {unlabelled, extensions{topologies: companions(t, xeon())}, []string{
			"CPUNormalization degraded Unreadable", "ResourceAmplification degraded Unreadable"}},
		"devices that cannot be read": {testNode(nil), extensions{topologies: companions(t, xeon()), devices: broken{}}, []string{
			"CPUNormalization failed read", "GPUDeviceResource failed read", "RDMADeviceResource failed read", "ResourceAmplification failed read"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plugins.Reset()
			h := newHarness(t, ratios(t), tc.node, testMetric(time.Minute))
			h.extensions = tc.extensions
			// An error is what one of the cases is about.
			_, _ = h.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "node-a"}})
			if diff := cmp.Diff(tc.want, counted(t, "BatchResource", "MidResource")); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// counted lists the series of plugins that were counted once, but of those that are left out.
func counted(t *testing.T, without ...string) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(plugins); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, metric := range families[0].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if metric.GetCounter().GetValue() == 1 && !slices.Contains(without, labels["plugin"]) {
			out = append(out, labels["plugin"]+" "+labels["status"]+" "+labels["reason"])
		}
	}
	slices.Sort(out)
	return out
}

func TestExplanationsTellWhatTheControllerWrites(t *testing.T) {
	config := ratios(t)
	h := newHarness(t, config, testNode(nil), testMetric(time.Minute))
	reader := companions(t, xeon(), oneGPU())
	h.extensions = extensions{topologies: reader, devices: reader}
	explainer := NewExplainer(h.client, config, clocktesting.NewFakePassiveClock(noon), types.NamespacedName{Namespace: "koordinator-system", Name: "slo-controller-config"}).WithExtensions(reader, false)
	states := func(want map[string]diagnosticsv1alpha1.SyncState) {
		t.Helper()
		status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]diagnosticsv1alpha1.SyncState{}
		for _, published := range status.Published[4:] {
			got[published.Resource] = published.State
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	}
	const missing, there = diagnosticsv1alpha1.NotPublished, diagnosticsv1alpha1.InSync
	states(map[string]diagnosticsv1alpha1.SyncState{"node.koordinator.sh/cpu-normalization-ratio": missing, "cpu": diagnosticsv1alpha1.Pending,
		"koordinator.sh/gpu": missing, "koordinator.sh/gpu-core": missing, "koordinator.sh/gpu-memory": missing, "koordinator.sh/gpu-memory-ratio": missing})
	h.run(t)
	states(map[string]diagnosticsv1alpha1.SyncState{"node.koordinator.sh/cpu-normalization-ratio": there, "cpu": diagnosticsv1alpha1.Pending,
		"koordinator.sh/gpu": there, "koordinator.sh/gpu-core": there, "koordinator.sh/gpu-memory": there, "koordinator.sh/gpu-memory-ratio": there})
	status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a", Resources: []string{"batch-cpu"}})
	if err != nil || len(status.Waterfalls) != 1 {
		t.Errorf("asked for one resource, it tells %d; %v", len(status.Waterfalls), err)
	}
	explainer.WithExtensions(broken{}, false)
	if status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"}); err != nil || !strings.Contains(strings.Join(status.Incomplete, ""), "out of order") {
		t.Errorf("incomplete %v, %v", status.Incomplete, err)
	}
}

func TestOfTopologiesNothingIsKeptButTheCPUAndWhereTheAgentAnswers(t *testing.T) {
	topology := xeon()
	topology.Zones = topologyv1alpha1.ZoneList{{Name: "node-0"}}
	topology.Annotations[extension.AnnotationAgentServing] = `{"port":9316}`
	topology.Annotations[extension.AnnotationNodeCPUTopology] = `{"detail":[]}`
	kept, err := trimTopology(topology)
	if err != nil {
		t.Fatal(err)
	}
	want := &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{
		extension.AnnotationCPUBasicInfo: `{"cpuModel":"Xeon","turboEnabled":true}`, extension.AnnotationAgentServing: `{"port":9316}`}}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestCompanionsMatter(t *testing.T) {
	before, after := xeon(), xeon()
	after.ResourceVersion = "2"
	if topologyMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a topology of the same cpu passes")
	}
	after.Annotations[extension.AnnotationCPUBasicInfo] = `{}`
	if !topologyMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a topology of another cpu does not pass")
	}
	old, device := oneGPU(), oneGPU()
	device.Status.Allocations = []schedulingv1alpha1.DeviceAllocation{{}}
	if deviceMatters().Update(event.UpdateEvent{ObjectOld: old, ObjectNew: device}) {
		t.Error("a Device of the same devices passes")
	}
	device.Spec.Devices[0].Health = false
	if !deviceMatters().Update(event.UpdateEvent{ObjectOld: old, ObjectNew: device}) {
		t.Error("a Device that fell ill does not pass")
	}
	var node corev1.Node
	if nodeMatters().Update(event.UpdateEvent{ObjectOld: &node, ObjectNew: &node}) {
		t.Error("a node that is the same passes")
	}
}
