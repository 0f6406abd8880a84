package noderesourcesfitplus

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const packGPUs = `{"resources":{"nvidia.com/gpu":{"type":"MostAllocated","weight":2},"cpu":{"type":"LeastAllocated","weight":1}}}`

func newPlugin(t testing.TB, args string) *Plugin {
	t.Helper()
	plugin, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plugin.(*Plugin)
}

func podAsking(requests map[corev1.ResourceName]string) *corev1.Pod {
	list := corev1.ResourceList{}
	for name, value := range requests {
		list[name] = resource.MustParse(value)
	}
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}}}}
}

func nodeOf(allocatable map[corev1.ResourceName]string, pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	node := &corev1.Node{}
	node.Name = "n"
	node.Status.Allocatable = podAsking(allocatable).Spec.Containers[0].Resources.Requests
	info.SetNode(node)
	return info
}

func TestScore(t *testing.T) {
	plugin := newPlugin(t, packGPUs)
	gpuNode := map[corev1.ResourceName]string{"cpu": "32", "nvidia.com/gpu": "8"}
	busy := podAsking(map[corev1.ResourceName]string{"cpu": "8", "nvidia.com/gpu": "6"})
	tests := map[string]struct {
		pod      *corev1.Pod
		node     fwk.NodeInfo
		wantSkip bool
		want     int64
	}{
		"a pod without requests is none of its business":      {pod: podAsking(nil), wantSkip: true},
		"a pod that asks for neither is none of its business": {pod: podAsking(map[corev1.ResourceName]string{"memory": "1Gi"}), wantSkip: true},
		"only what the pod asks for counts":                   {pod: podAsking(map[corev1.ResourceName]string{"cpu": "8"}), node: nodeOf(gpuNode, busy), want: 50},
		"GPUs are packed":                                     {pod: podAsking(map[corev1.ResourceName]string{"nvidia.com/gpu": "1"}), node: nodeOf(gpuNode, busy), want: 87},
		"both count by weight":                                {pod: podAsking(map[corev1.ResourceName]string{"cpu": "8", "nvidia.com/gpu": "1"}), node: nodeOf(gpuNode, busy), want: (2*87 + 50) / 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := framework.NewCycleState()
			status := plugin.PreScore(t.Context(), state, test.pod, nil)
			if status.IsSkip() != test.wantSkip {
				t.Fatalf("PreScore %v, want skip %v", status, test.wantSkip)
			}
			if test.wantSkip {
				return
			}
			if got, status := plugin.Score(t.Context(), state, test.pod, test.node); got != test.want || !status.IsSuccess() {
				t.Errorf("score %d, status %v, want %d", got, status, test.want)
			}
		})
	}
}

func TestEqualPodsHaveEqualSignatures(t *testing.T) {
	plugin := newPlugin(t, packGPUs)
	plain, _ := plugin.SignPod(t.Context(), podAsking(map[corev1.ResourceName]string{"memory": "1Gi"}))
	signed, status := plugin.SignPod(t.Context(), podAsking(map[corev1.ResourceName]string{"cpu": "1"}))
	if len(plain) != 0 || len(signed) != 1 || !status.IsSuccess() {
		t.Errorf("fragments %v and %v, status %v", plain, signed, status)
	}
}

func TestScoreWithoutPreScoreIsAnError(t *testing.T) {
	if _, status := newPlugin(t, packGPUs).Score(t.Context(), framework.NewCycleState(), &corev1.Pod{}, nodeOf(nil)); status.IsSuccess() {
		t.Error("want an error")
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for args, want := range map[string]string{
		`{"resources":{"cpu":{"type":"Best","weight":1}}}`:          "resources[cpu].type",
		`{"resources":{"cpu":{"type":"MostAllocated","wieght":1}}}`: "wieght",
	} {
		if _, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", args, err, want)
		}
	}
}
