package cpupool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// claiming is a prod pod of a class that requests so much CPU and says in its annotation that CPUs are its own.
func claiming(class extension.QoSClass, cpu, cpus string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "pod", UID: types.UID(string(class) + cpus), Labels: map[string]string{extension.LabelPodQoS: string(class)}, Annotations: status(`{"cpuset":"` + cpus + `"}`),
		},
		Spec: corev1.PodSpec{Priority: new(int32(9500)), NodeName: "node", Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func TestOwners(t *testing.T) {
	batch := claiming(extension.QoSLSR, "2", "0-1")
	batch.Spec.Priority = new(int32(5500))
	ended := claiming(extension.QoSLSE, "2", "0-1")
	ended.Status.Phase = corev1.PodSucceeded
	tests := map[string]struct {
		pods []*corev1.Pod
		want []string
		// wantProblem is part of what is said of each pod, empty for nothing.
		wantProblem []string
	}{
		"CPUs that the scheduler gave":    {[]*corev1.Pod{claiming(extension.QoSLSE, "2", "0-1"), claiming(extension.QoSLSR, "1", "2")}, []string{"0-1", "2"}, []string{"", ""}},
		"a best-effort pod owns nothing":  {[]*corev1.Pod{claiming(extension.QoSBE, "2", "0-1")}, []string{""}, []string{"only prod pods of QoS class LSE or LSR"}},
		"a service owns nothing":          {[]*corev1.Pod{claiming(extension.QoSLS, "2", "0-1")}, []string{""}, []string{"only prod pods of QoS class LSE or LSR"}},
		"a batch pod of class LSR, too":   {[]*corev1.Pod{batch}, []string{""}, []string{"only prod pods"}},
		"no more than it requests":        {[]*corev1.Pod{claiming(extension.QoSLSR, "1", "0-12")}, []string{"0"}, []string{"CPUs 1-12 are claimed"}},
		"a fraction is a whole one":       {[]*corev1.Pod{claiming(extension.QoSLSR, "1500m", "3-4")}, []string{"3-4"}, []string{""}},
		"what two claim is nobody's":      {[]*corev1.Pod{claiming(extension.QoSLSR, "4", "0-3"), claiming(extension.QoSLSE, "1", "3")}, []string{"0-2", ""}, []string{"CPUs 3 are also claimed", "CPUs 3 are also claimed"}},
		"what three claim":                {[]*corev1.Pod{claiming(extension.QoSLSR, "2", "0-1"), claiming(extension.QoSLSE, "2", "1-2"), claiming(extension.QoSLSR, "2", "2-3")}, []string{"0", "", "3"}, []string{"CPUs 1 ", "CPUs 1-2 ", "CPUs 2 "}},
		"a claim without right is no one": {[]*corev1.Pod{claiming(extension.QoSLSR, "2", "0-1"), claiming(extension.QoSBE, "2", "0-1")}, []string{"0-1", ""}, []string{"", "only prod pods"}},
		"a pod that ended owns nothing":   {[]*corev1.Pod{ended, claiming(extension.QoSLSR, "2", "0-1")}, []string{"", "0-1"}, []string{"", ""}},
		"a list that is none":             {[]*corev1.Pod{claiming(extension.QoSLSR, "2", "3-1")}, []string{""}, []string{"resource-status"}},
		"no pods":                         {nil, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i, owner := range Owners(tc.pods) {
				got = append(got, owner.CPUs.String())
				if !strings.Contains(owner.Problem, tc.wantProblem[i]) || (owner.Problem == "") != (tc.wantProblem[i] == "") {
					t.Errorf("pod %d: problem %q, want %q", i, owner.Problem, tc.wantProblem[i])
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("owned (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoCPUHasTwoOwners whatever pods say, and no pod owns more than it requests.
func TestNoCPUHasTwoOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []*corev1.Pod
		for range rapid.IntRange(0, 6).Draw(t, "pods") {
			class := rapid.SampledFrom(extension.QoSClasses()).Draw(t, "class")
			list := rapid.SampledFrom([]string{"0", "0-3", "2,5", "1-2,7", "9-1", "", "0-100000", "4-5"}).Draw(t, "cpus")
			pods = append(pods, claiming(class, rapid.SampledFrom([]string{"0", "100m", "1", "2", "4"}).Draw(t, "cpu"), list))
		}
		var all cpuset.CPUSet
		for i, owner := range Owners(pods) {
			if both := all.Intersection(owner.CPUs); !both.IsEmpty() {
				t.Fatalf("CPUs %s have two owners", both)
			}
			all = all.Union(owner.CPUs)
			if cpu := pods[i].Spec.Containers[0].Resources.Requests.Cpu().MilliValue(); int64(owner.CPUs.Len())*1000 >= cpu+1000 {
				t.Fatalf("pod %d requests %dm and owns %s", i, cpu, owner.CPUs)
			}
		}
	})
}
