package prodovercommit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func list(pairs ...string) corev1.ResourceList {
	if len(pairs) == 0 {
		return nil
	}
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func pod(limits, requests corev1.ResourceList, changes ...func(*corev1.Pod)) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{}, Annotations: map[string]string{}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Limits: limits, Requests: requests}}}}}
	for _, change := range changes {
		change(out)
	}
	return out
}

func class(value int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &value }
}

func qos(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[extension.LabelPodQoS] = name }
}

func TestApply(t *testing.T) {
	four := list("cpu", "4", "memory", "8Gi")
	tests := []struct {
		name, factor string
		pod          *corev1.Pod
		want         corev1.ResourceList
		wantReason   string
	}{
		{name: "half of the limits", factor: "2", pod: pod(four, four.DeepCopy(), class(9500)), want: list("cpu", "2", "memory", "4Gi")},
		{name: "one factor each", factor: `{"cpu":4,"memory":1.25}`, pod: pod(four, nil), want: list("cpu", "1", "memory", "6871947674")},
		{name: "cpu only", factor: `{"cpu":2}`, pod: pod(four, list("memory", "1Gi")), want: list("cpu", "2", "memory", "1Gi")},
		{name: "a factor of 1 requests the limits", factor: "1", pod: pod(four, list("cpu", "1")), want: list("cpu", "4", "memory", "8Gi")},
		{name: "a smaller request follows from the limit too", factor: "2", pod: pod(list("cpu", "4"), list("cpu", "500m")), want: list("cpu", "2")},
		{name: "rounded up", factor: "3", pod: pod(list("cpu", "100m", "memory", "100"), nil), want: list("cpu", "34m", "memory", "34")},
		{name: "without limits nothing follows", factor: "2", pod: pod(nil, list("cpu", "4")), want: list("cpu", "4"), wantReason: "no limit"},
		{name: "a batch pod", factor: "2", pod: pod(four, nil, class(5500)), wantReason: "the pod is koord-batch"},
		{name: "a BE pod of no band", factor: "2", pod: pod(four, nil, qos("BE")), wantReason: "the pod is koord-batch"},
		{name: "a pod with cpus of its own", factor: "2", pod: pod(four, nil, class(9500), qos("LSR")), wantReason: "class LSR"},
		{name: "a pod that wants whole cores", factor: "2", pod: pod(four, nil, func(p *corev1.Pod) { p.Annotations[extension.AnnotationResourceSpec] = `{}` }), wantReason: "exclusive CPUs"},
		{name: "a pod with resources as a whole", factor: "2", pod: pod(four, nil, func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} }), wantReason: "pod-level resources"},
		{name: "a factor below 1", factor: "0.5", pod: pod(four, nil), wantReason: "not between 1 and 100"},
		{name: "a factor of another resource", factor: `{"nvidia.com/gpu":2}`, pod: pod(four, nil), wantReason: "neither cpu nor memory"},
		{name: "no factor at all", factor: "many", pod: pod(four, nil), wantReason: "neither a factor nor"},
		{name: "not a number", factor: "NaN", pod: pod(four, nil), wantReason: "not between"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var trace Trace
			err := Apply(test.pod, test.factor, "profile/p", &trace)
			if err != nil {
				t.Fatal(err)
			}
			if (trace.Reason == "") != (test.wantReason == "") || !strings.Contains(trace.Reason, test.wantReason) {
				t.Errorf("reason %q, want %q", trace.Reason, test.wantReason)
			}
			if diff := cmp.Diff(test.want, test.pod.Spec.Containers[0].Resources.Requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			noted, err := extension.GetProdOvercommit(test.pod.Annotations)
			if err != nil || (noted != nil) != (test.wantReason == "") {
				t.Errorf("the pod notes %+v, %v", noted, err)
			}
			once := test.pod.DeepCopy()
			if err := Apply(test.pod, test.factor, "profile/p", nil); err != nil || !cmp.Equal(once, test.pod) {
				t.Errorf("applied again: %v\n%s", err, cmp.Diff(once, test.pod))
			}
		})
	}
}

func TestInitContainersAndSidecarsFollowToo(t *testing.T) {
	p := pod(list("cpu", "1"), nil)
	p.Spec.InitContainers = []corev1.Container{{Name: "mesh", Resources: corev1.ResourceRequirements{Limits: list("cpu", "200m")}}}
	var trace Trace
	err := Apply(p, "2", "namespace/shop", &trace)
	if err != nil {
		t.Fatal(err)
	}
	want := []Amount{
		{Field: "spec.initContainers[mesh].resources.requests[cpu]", Limit: "200m", After: "100m"},
		{Field: "spec.containers[main].resources.requests[cpu]", Limit: "1", After: "500m"},
	}
	if diff := cmp.Diff(want, trace.Amounts); diff != "" {
		t.Errorf("amounts (-want +got):\n%s", diff)
	}
}

// TestRequestsCoverTheirShareAndNoMore: request*factor is at least the limit, and one unit less is not.
func TestRequestsCoverTheirShareAndNoMore(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		value, percent := random.Int64N(1<<random.IntN(63)+1), uint64(101+random.IntN(9900))
		got := quotient(value, percent)
		if got < 0 || got > value {
			t.Fatalf("%d / %d%% = %d", value, percent, got)
		}
		if covered := float64(got) * float64(percent) / 100; covered < float64(value)*(1-1e-12) || got > 0 && float64(got-1)*float64(percent)/100 > float64(value)*(1+1e-12) {
			t.Fatalf("%d / %d%% = %d", value, percent, got)
		}
	}
}
