package batchcgroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

func container(name string, requestMilli, limitMilli, limitMemory int64) Container {
	return Container{Name: name, Requests: podrequest.Amount{MilliCPU: requestMilli}, Limits: podrequest.Amount{MilliCPU: limitMilli, Memory: limitMemory}}
}

func TestBoundsOf(t *testing.T) {
	half := container("main", 500, 500, 1<<30)
	tests := map[string]struct {
		in            Input
		pod, first    [3]int64
		wantQuotaNote string
	}{
		"half a CPU":                     {Input{Containers: []Container{half}}, [3]int64{512, 50_000, 1 << 30}, [3]int64{512, 50_000, 1 << 30}, ""},
		"on CPUs that are worth 1.2":     {Input{Containers: []Container{half}, NormalizationPercent: 120}, [3]int64{512, 41_667, 1 << 30}, [3]int64{512, 41_667, 1 << 30}, ""},
		"on slow CPUs nothing is added":  {Input{Containers: []Container{half}, NormalizationPercent: 80}, [3]int64{512, 50_000, 1 << 30}, [3]int64{512, 50_000, 1 << 30}, ""},
		"without limits":                 {Input{Containers: []Container{container("main", 500, 0, 0)}}, [3]int64{512, -1, -1}, [3]int64{512, -1, -1}, noteContainers},
		"without anything":               {Input{Containers: []Container{container("main", 0, 0, 0)}}, [3]int64{2, -1, -1}, [3]int64{2, -1, -1}, noteContainers},
		"less than the kernel accepts":   {Input{Containers: []Container{container("main", 1, 1, 1)}}, [3]int64{2, 1000, 1}, [3]int64{2, 1000, 1}, ""},
		"a second without a limit":       {Input{Containers: []Container{half, container("side", 500, 0, 0)}}, [3]int64{1024, -1, -1}, [3]int64{512, 50_000, 1 << 30}, noteContainers},
		"two with limits":                {Input{Containers: []Container{half, container("side", 100, 200, 5)}}, [3]int64{614, 70_000, 1<<30 + 5}, [3]int64{512, 50_000, 1 << 30}, ""},
		"suppression has the quota":      {Input{Tier: podrequest.Batch, Containers: []Container{half}, QuotaBySuppression: true}, [3]int64{512, -1, 1 << 30}, [3]int64{512, -1, 1 << 30}, noteSuppression},
		"it does not concern mid pods":   {Input{Tier: podrequest.Mid, Containers: []Container{half}, QuotaBySuppression: true}, [3]int64{512, 50_000, 1 << 30}, [3]int64{512, 50_000, 1 << 30}, ""},
		"overhead is given to the pod":   {Input{Containers: []Container{half}, Overhead: podrequest.Amount{MilliCPU: 100, Memory: 7}}, [3]int64{614, 60_000, 1<<30 + 7}, [3]int64{512, 50_000, 1 << 30}, ""},
		"overhead bounds nothing itself": {Input{Containers: []Container{container("main", 0, 0, 0)}, Overhead: podrequest.Amount{MilliCPU: 100, Memory: 7}}, [3]int64{102, -1, -1}, [3]int64{2, -1, -1}, noteContainers},
	}
	values := func(b Bounds) [3]int64 { return [3]int64{b.Shares, b.Quota, b.Memory} }
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := BoundsOf(tc.in)
			if values(got.Pod) != tc.pod || values(got.Containers[0].Bounds) != tc.first || got.Pod.Operands.QuotaNote != tc.wantQuotaNote {
				t.Errorf("pod %+v container %+v, want %v %v %q", got.Pod, got.Containers[0], tc.pod, tc.first, tc.wantQuotaNote)
			}
		})
	}
}

// TestNoContainerHasMoreThanItsPod, and all of them together have no more either.
func TestNoContainerHasMoreThanItsPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Input{NormalizationPercent: rapid.Int64Range(50, 500).Draw(t, "ratio"), Tier: rapid.SampledFrom([]podrequest.Tier{podrequest.Batch, podrequest.Mid}).Draw(t, "tier")}
		for range rapid.IntRange(1, 5).Draw(t, "containers") {
			in.Containers = append(in.Containers, container("c", rapid.Int64Range(0, 1<<40).Draw(t, "request"), rapid.Int64Range(0, 300_000).Draw(t, "limit"), rapid.Int64Range(0, 1<<40).Draw(t, "memory")))
		}
		got := BoundsOf(in)
		var quotas, memory int64
		for _, c := range got.Containers {
			if c.Quota == 0 || c.Quota < -1 || c.Shares < 2 || c.Shares > got.Pod.Shares {
				t.Fatalf("%+v in %+v", c, got.Pod)
			}
			quotas, memory = quotas+max(c.Quota, 0), memory+max(c.Memory, 0)
			if c.Quota < 0 && got.Pod.Quota > 0 || c.Memory < 0 && got.Pod.Memory > 0 {
				t.Fatalf("a container without a bound in a pod with one: %+v", got)
			}
		}
		if got.Pod.Quota > 0 && quotas > got.Pod.Quota || got.Pod.Memory > 0 && memory > got.Pod.Memory {
			t.Fatalf("containers have %d and %d, the pod %+v", quotas, memory, got.Pod)
		}
	})
}

func TestFromPod(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return out
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			Priority: new(int32(5500)), Overhead: list("kubernetes.io/batch-cpu", "50"),
			InitContainers: []corev1.Container{
				{Name: "setup", Resources: corev1.ResourceRequirements{Limits: list("kubernetes.io/batch-cpu", "9000")}},
				{Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Resources: corev1.ResourceRequirements{Requests: list("kubernetes.io/batch-cpu", "100")}},
			},
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: list("kubernetes.io/batch-cpu", "500", "kubernetes.io/batch-memory", "1Gi"), Limits: list("kubernetes.io/batch-cpu", "1000", "cpu", "7"),
			}}},
		},
	}
	want := Input{Tier: podrequest.Batch, Overhead: podrequest.Amount{MilliCPU: 50}, Containers: []Container{
		{Name: "sidecar", Requests: podrequest.Amount{MilliCPU: 100}},
		{Name: "main", Requests: podrequest.Amount{MilliCPU: 500, Memory: 1 << 30}, Limits: podrequest.Amount{MilliCPU: 1000}},
	}}
	got, applies := FromPod(pod)
	if diff := cmp.Diff(want, got); diff != "" || !applies {
		t.Errorf("from the spec (-want +got):\n%s", diff)
	}
	pod.Annotations[extension.AnnotationExtendedResourceSpec] = `{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"2000"}}}}`
	if got, _ := FromPod(pod); got.Containers[1].Limits.MilliCPU != 1000 {
		t.Errorf("the annotation counts before the spec: %+v", got.Containers[1])
	}
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	pod.Annotations[extension.AnnotationExtendedResourceSpec] = `{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"90000"},"limits":{"kubernetes.io/batch-cpu":"2000"}}}}`
	if got, _ := FromPod(pod); got.Containers[1].Limits.MilliCPU != 2000 || got.Containers[1].Requests.MilliCPU != 0 {
		t.Errorf("of a container whose spec says nothing, the annotation gives %+v, want its limit alone", got.Containers[1])
	}
	pod.Annotations[extension.AnnotationExtendedResourceSpec] = `{`
	if got, _ := FromPod(pod); got.Containers[1].Limits.MilliCPU != 0 {
		t.Errorf("an annotation that cannot be read: %+v", got.Containers[1])
	}
	if _, applies := FromPod(&corev1.Pod{Spec: corev1.PodSpec{Priority: new(int32(9500)), Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}}}}}); applies {
		t.Error("a service is bounded as batch")
	}
}
