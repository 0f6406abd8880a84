package device

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// claimant requests an amount of a resource and says in its annotation what it was given.
func claimant(name corev1.ResourceName, amount, allocated string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "pod", Annotations: map[string]string{extension.AnnotationDeviceAllocated: allocated}}}
	requests := corev1.ResourceList{}
	if name != "" {
		requests[name] = resource.MustParse(amount)
	}
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
	return pod
}

func TestOwners(t *testing.T) {
	const (
		whole    = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`
		another  = `{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`
		both     = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":1,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`
		half     = `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory-ratio":"50"}}]}`
		function = `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},"extension":{"vfs":[{"busID":"0000:09:00.1"}]}}]}`
	)
	gpus := func(n, allocated string) *corev1.Pod { return claimant(extension.ResourceNvidiaGPU, n, allocated) }
	share := func(percent, allocated string) *corev1.Pod {
		return claimant(extension.ResourceGPU, percent, allocated)
	}
	card := func() *corev1.Pod { return claimant(extension.ResourceRDMA, "1", function) }
	tests := map[string]struct {
		pods []*corev1.Pod
		// want are the minors of each pod, and wantProblem part of what is said of it.
		want, wantProblem []string
	}{
		"GPUs that the scheduler gave":     {[]*corev1.Pod{gpus("1", whole), gpus("1", another)}, []string{"0", "1"}, []string{"", ""}},
		"two halves of one":                {[]*corev1.Pod{share("50", half), share("50", half)}, []string{"0", "0"}, []string{"", ""}},
		"a pod that requests none":         {[]*corev1.Pod{claimant("", "", both)}, []string{""}, []string{"2 of 2 devices are claimed beyond what the pod requests"}},
		"more than it requests":            {[]*corev1.Pod{gpus("1", both)}, []string{"0"}, []string{"1 of 2 devices"}},
		"a claim of none takes from none":  {[]*corev1.Pod{gpus("1", whole), claimant("", "", whole)}, []string{"0", ""}, []string{"", "1 of 1 devices"}},
		"one that two claim is nobody's":   {[]*corev1.Pod{gpus("1", whole), gpus("1", whole)}, []string{"", ""}, []string{"gpu 0: more of it", "gpu 0: more of it"}},
		"the other one stays":              {[]*corev1.Pod{gpus("2", both), gpus("1", another)}, []string{"0", ""}, []string{"gpu 1: more of it", "gpu 1: more of it"}},
		"shares beyond the whole":          {[]*corev1.Pod{share("50", half), share("50", half), share("50", half)}, []string{"", "", ""}, []string{"gpu 0", "gpu 0", "gpu 0"}},
		"a virtual function that two have": {[]*corev1.Pod{card(), card()}, []string{"", ""}, []string{"rdma 0", "rdma 0"}},
		"a virtual function of one":        {[]*corev1.Pod{card()}, []string{"0"}, []string{""}},
		"an annotation that is none":       {[]*corev1.Pod{gpus("1", "{")}, []string{""}, []string{""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i, owner := range Owners(tc.pods) {
				var minors []string
				for _, item := range owner.Allocation.Items {
					minors = append(minors, string('0'+item.Minor))
				}
				got = append(got, strings.Join(minors, ","))
				if !strings.Contains(owner.Problem, tc.wantProblem[i]) || (owner.Problem == "") != (tc.wantProblem[i] == "") {
					t.Errorf("pod %d: problem %q, want %q", i, owner.Problem, tc.wantProblem[i])
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
		})
	}
}
