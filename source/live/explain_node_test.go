package live

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// equipped is a cluster that normalizes and amplifies; its first node has a GPU, and a pod that holds one which is gone.
func equipped() *livetest.Server {
	server := small()
	named := metav1.ObjectMeta{Name: "node-0000", Annotations: map[string]string{extension.AnnotationCPUBasicInfo: `{"cpuModel":"Xeon","turboEnabled":true}`}}
	server.Topologies = []topologyv1alpha1.NodeResourceTopology{{ObjectMeta: named}}
	server.Devices = []schedulingv1alpha1.Device{{ObjectMeta: metav1.ObjectMeta{Name: "node-0000"}, Spec: schedulingv1alpha1.DeviceSpec{Devices: []schedulingv1alpha1.DeviceInfo{
		{Type: schedulingv1alpha1.GPU, Minor: new(int32(0)), Health: true, Resources: corev1.ResourceList{extension.ResourceGPUCore: resource.MustParse("100")}},
	}}}}
	server.Pods[0].Annotations = map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":[{"minor":3,"resources":{"koordinator.sh/gpu-core":"100"}}]}`}
	server.Pods[0].Spec.Containers[0].Resources.Requests[extension.ResourceGPU] = resource.MustParse("100")
	server.ConfigMaps = []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "slo-controller-config"}, Data: map[string]string{
		"colocation-config":             `{"enable":true,"extensions":{"predictor":{"batch":"balanced"}}}`,
		"cpu-normalization-config":      `{"enable":true,"ratioModel":{"Xeon":{"turboEnabledRatio":1.65}}}`,
		"resource-amplification-config": `{"enable":true,"resourceAmplificationRatio":{"cpu":2}}`,
	}}}
	return server
}

func TestObjectsTellWhatElseANodeGets(t *testing.T) {
	// The predictor that is chosen for batch is known to koord-manager alone, so that batch is not computed.
	const mid = "kubernetes.io/mid-cpu kubernetes.io/mid-memory"
	tests := map[string]struct {
		edit           func(*livetest.Server)
		spec           diagnosticsv1alpha1.NodeExplanationSpec
		want           string
		wantStray      bool
		wantIncomplete []string
	}{
		"all of it": {want: mid + " node.koordinator.sh/cpu-normalization-ratio=165 cpu=102300 koordinator.sh/gpu=100 koordinator.sh/gpu-core=100", wantStray: true},
		"one resource": {spec: diagnosticsv1alpha1.NodeExplanationSpec{Resources: []string{"mid-cpu"}},
			want: "kubernetes.io/mid-cpu", wantStray: true},
		"one that is not computed": {spec: diagnosticsv1alpha1.NodeExplanationSpec{Resources: []string{"batch-cpu"}}, wantStray: true},
		"GPUs are shared": {edit: func(s *livetest.Server) {
			s.Nodes[0].Status.Allocatable["koordinator.sh/gpu.shared"] = resource.MustParse("100")
		}, want: mid + " node.koordinator.sh/cpu-normalization-ratio=165 cpu=102300 koordinator.sh/gpu=100 koordinator.sh/gpu-core=100 koordinator.sh/gpu.shared=100", wantStray: true},
		"the companions do not exist": {edit: func(s *livetest.Server) { s.Topologies, s.Devices = nil, nil },
			want: mid + " node.koordinator.sh/cpu-normalization-ratio=100 cpu=62000"},
		"they may not be read": {edit: func(s *livetest.Server) { s.Denied = []string{"get noderesourcetopologies", "get devices"} },
			want: mid, wantIncomplete: []string{"cpu normalization and amplification are unknown", "the node's devices are unknown"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := equipped()
			if test.edit != nil {
				test.edit(server)
			}
			server.Start(t)
			answer, err := New(server.Config(""), Options{}).ExplainNode(t.Context(), "node-0000", test.spec)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range answer.Status.Waterfalls {
				fall := &answer.Status.Waterfalls[i]
				said := fall.Resource
				if !strings.HasPrefix(said, "kubernetes.io/") {
					said += "=" + strconv.FormatInt(fall.Result, 10)
				}
				got = append(got, said)
			}
			if diff := cmp.Diff(strings.Fields(test.want), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("waterfalls (-want +got):\n%s", diff)
			}
			stray := false
			for _, found := range answer.Status.Findings {
				stray = stray || found.Code == string(finding.DeviceStray)
			}
			if stray != test.wantStray {
				t.Errorf("the pod that holds a device which is gone is told: %v, want %v", stray, test.wantStray)
			}
			incomplete := strings.Join(answer.Status.Incomplete, "\n")
			for _, want := range append(test.wantIncomplete, "predictions are not included") {
				if !strings.Contains(incomplete, want) {
					t.Errorf("incomplete %q, want %q", incomplete, want)
				}
			}
			if lines := strings.Count(incomplete, "\n"); lines != len(test.wantIncomplete) {
				t.Errorf("incomplete %q, want %d lines", incomplete, 1+len(test.wantIncomplete))
			}
		})
	}
}
