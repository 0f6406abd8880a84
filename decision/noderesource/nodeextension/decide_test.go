package nodeextension

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func topology(annotations map[string]string) *topologyv1alpha1.NodeResourceTopology {
	return &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: annotations}}
}

// input is a node whose cpus count 1.65, that is shown twice as large, and that has a GPU.
func input(t *testing.T) Input {
	t.Helper()
	config, problems := configmerge.Parse(map[string]string{
		"cpu-normalization-config":      `{"enable":true,"ratioModel":{"Xeon":{"turboEnabledRatio":1.65}}}`,
		"resource-amplification-config": `{"enable":true,"resourceAmplificationRatio":{"cpu":2}}`,
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return Input{
		Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Status: corev1.NodeStatus{
			Capacity: amounts("cpu", "10", "memory", "10Gi"), Allocatable: amounts("cpu", "10", "memory", "10Gi")}},
		Config: config,
		CPU:    CPUOf(topology(map[string]string{extension.AnnotationCPUBasicInfo: `{"cpuModel":"Xeon","turboEnabled":true}`})),
		Devices: &Devices{Object: &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: schedulingv1alpha1.DeviceSpec{
			Devices: []schedulingv1alpha1.DeviceInfo{{Type: schedulingv1alpha1.GPU, Health: true, Resources: amounts("koordinator.sh/gpu-core", "100")}}}}},
	}
}

func TestWhatIsDecidedIsExplained(t *testing.T) {
	tests := map[string]struct {
		edit func(*Input)
		want map[string]int64
	}{
		"all":                           {func(*Input) {}, map[string]int64{"node.koordinator.sh/cpu-normalization-ratio": 165, "cpu": 33_000, "koordinator.sh/gpu": 100, "koordinator.sh/gpu-core": 100}},
		"the cpu was not looked at":     {func(in *Input) { in.CPU = nil }, map[string]int64{"koordinator.sh/gpu": 100, "koordinator.sh/gpu-core": 100}},
		"the cpu is not known":          {func(in *Input) { in.CPU, in.Devices = CPUOf(nil), nil }, map[string]int64{"node.koordinator.sh/cpu-normalization-ratio": 100, "cpu": 20_000}},
		"the devices were not asked of": {func(in *Input) { in.Devices = nil }, map[string]int64{"node.koordinator.sh/cpu-normalization-ratio": 165, "cpu": 33_000}},
		"GPUs are shared":               {func(in *Input) { in.CPU, in.Devices.SharedGPU = nil, true }, map[string]int64{"koordinator.sh/gpu": 100, "koordinator.sh/gpu-core": 100, "koordinator.sh/gpu.shared": 100}},
		"there is no Device":            {func(in *Input) { in.CPU, in.Devices.Object = nil, nil }, map[string]int64{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t)
			test.edit(&in)
			trace := &Trace{}
			falls, published := trace.Waterfalls(Decide(in, trace), types.NamespacedName{Name: "slo-controller-config"}, 10)
			got := map[string]int64{}
			for i, fall := range falls {
				got[fall.Resource] = fall.Result
				if published[i].Resource != fall.Resource || published[i].State == diagnosticsv1alpha1.InSync {
					t.Errorf("%s is explained beside %s, which is %s", fall.Resource, published[i].Resource, published[i].State)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	const normalization, amplification = extension.AnnotationCPUNormalizationRatio, extension.AnnotationNodeResourceAmplificationRatio
	tests := map[string]struct {
		edit func(*Input)
		want map[string]*string
	}{
		"both": {func(*Input) {}, map[string]*string{normalization: new("1.65"), amplification: new(`{"cpu":3.30}`)}},
		"they are there": {func(in *Input) {
			in.Node.Annotations = map[string]string{normalization: "1.65", amplification: `{"cpu":3.30}`}
		}, map[string]*string{}},
		"what koord-manager wrote goes with the configuration": {func(in *Input) {
			in.Config = configmerge.Default()
			in.Node.Annotations = map[string]string{amplification: `{"cpu":3.30}`}
			in.Node.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "koord-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + amplification + `":{}}}}`)}}
		}, map[string]*string{amplification: nil}},
		"the cpu was not looked at": {func(in *Input) { in.CPU = nil }, map[string]*string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t)
			test.edit(&in)
			if diff := cmp.Diff(test.want, Decide(in, nil).Annotations()); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCPUOf(t *testing.T) {
	tests := map[string]struct {
		topology    *topologyv1alpha1.NodeResourceTopology
		wantModel   string
		wantUnknown string
	}{
		"reported":         {topology(map[string]string{extension.AnnotationCPUBasicInfo: `{"cpuModel":"Xeon"}`}), "Xeon", ""},
		"no topology":      {nil, "", "has no NodeResourceTopology"},
		"nothing reported": {topology(nil), "", "does not name it"},
		"not readable":     {topology(map[string]string{extension.AnnotationCPUBasicInfo: `{`}), "", extension.AnnotationCPUBasicInfo},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := CPUOf(test.topology)
			if (got.Info != nil) != (test.wantModel != "") || got.Info != nil && got.Info.CPUModel != test.wantModel {
				t.Errorf("cpu %+v, want model %q", got.Info, test.wantModel)
			}
			if (got.Unknown == "") != (test.wantUnknown == "") || !strings.Contains(got.Unknown, test.wantUnknown) {
				t.Errorf("unknown because %q, want %q", got.Unknown, test.wantUnknown)
			}
		})
	}
}
