package podrequest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func container(name string, requests, limits corev1.ResourceList) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
}

func TestOf(t *testing.T) {
	tests := []struct {
		name       string
		pod        corev1.Pod
		want       Requests
		wantLimits Tiers
		wantTier   Tier
	}{
		{
			name: "a service with two containers asks for their sum",
			pod: corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
				container("app", list("cpu", "1500m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi")),
				container("proxy", list("cpu", "250m", "memory", "128Mi"), list("cpu", "1", "memory", "256Mi")),
			}}},
			want: Requests{
				Requests: Tiers{Plain: Amount{MilliCPU: 1750, Memory: 1152 << 20}},
				Band:     extension.PriorityProd, QoS: extension.QoSLS,
			},
			wantLimits: Tiers{Plain: Amount{MilliCPU: 3000, Memory: 2304 << 20}},
			wantTier:   Plain,
		},
		{
			name: "one container without a memory limit makes the pod's memory unlimited",
			pod: corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
				container("app", list("cpu", "1"), list("cpu", "1", "memory", "1Gi")),
				container("proxy", list("cpu", "1"), list("cpu", "1")),
			}}},
			want: Requests{
				Requests: Tiers{Plain: Amount{MilliCPU: 2000}},
				Band:     extension.PriorityProd, QoS: extension.QoSLS,
			},
			wantLimits: Tiers{Plain: Amount{MilliCPU: 2000}},
			wantTier:   Plain,
		},
		{
			name: "a batch pod counts batch-cpu in thousandths of a core",
			pod: corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{extension.LabelPodQoS: "BE"}},
				Spec: corev1.PodSpec{Priority: new(int32(5500)), Containers: []corev1.Container{
					container("job", list("kubernetes.io/batch-cpu", "4k", "kubernetes.io/batch-memory", "8Gi"), nil),
				}},
			},
			want: Requests{
				Requests: Tiers{Batch: Amount{MilliCPU: 4000, Memory: 8 << 30}},
				Band:     extension.PriorityBatch, QoS: extension.QoSBE,
			},
			wantTier: Batch,
		},
		{
			name: "a mid pod that asks for nothing still belongs to its tier",
			pod:  corev1.Pod{Spec: corev1.PodSpec{Priority: new(int32(7500)), Containers: []corev1.Container{{Name: "idle"}}}},
			want: Requests{Band: extension.PriorityMid, QoS: extension.QoSBE}, wantTier: Mid,
		},
		{
			name: "a batch pod that was never translated consumes plain resources",
			pod: corev1.Pod{Spec: corev1.PodSpec{Priority: new(int32(5500)), Containers: []corev1.Container{
				container("job", list("cpu", "1"), nil)}}},
			want: Requests{Requests: Tiers{Plain: Amount{MilliCPU: 1000}}, Band: extension.PriorityBatch, QoS: extension.QoSLS},

			wantTier: Plain,
		},
		{
			name: "a sidecar adds up while init containers only raise the maximum",
			pod: corev1.Pod{Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{
					func() corev1.Container {
						c := container("mesh", list("cpu", "200m"), nil)
						c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
						return c
					}(),
					container("migrate", list("cpu", "3"), nil),
				},
				Containers: []corev1.Container{container("app", list("cpu", "1"), nil)},
				Overhead:   list("cpu", "50m"),
			}},
			want: Requests{
				Requests: Tiers{Plain: Amount{MilliCPU: 3250}},
				Band:     extension.PriorityProd, QoS: extension.QoSLS,
			},
			wantTier: Plain,
		},
		{
			name: "resources of the whole pod win over those of its containers",
			pod: corev1.Pod{Spec: corev1.PodSpec{
				Resources:  &corev1.ResourceRequirements{Requests: list("cpu", "4", "memory", "4Gi"), Limits: list("cpu", "8")},
				Containers: []corev1.Container{container("app", list("cpu", "1", "memory", "1Gi"), nil)},
			}},
			want: Requests{
				Requests: Tiers{Plain: Amount{MilliCPU: 4000, Memory: 4 << 30}},
				Band:     extension.PriorityProd, QoS: extension.QoSLS,
			},
			wantLimits: Tiers{Plain: Amount{MilliCPU: 8000}},
			wantTier:   Plain,
		},
		{
			name: "a resize down in flight counts at the size still held",
			pod: corev1.Pod{
				Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", list("cpu", "1"), nil)}},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
					Name: "app", Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3")},
					AllocatedResources: list("cpu", "3"),
				}}},
			},
			want: Requests{
				Requests: Tiers{Plain: Amount{MilliCPU: 3000}},
				Band:     extension.PriorityProd, QoS: extension.QoSLS,
			},
			wantTier: Plain,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Of(&test.pod)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Of (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantLimits, LimitsOf(&test.pod)); diff != "" {
				t.Errorf("LimitsOf (-want +got):\n%s", diff)
			}
			if got.Tier() != test.wantTier {
				t.Errorf("Tier() = %q, want %q", got.Tier(), test.wantTier)
			}
		})
	}
}

// TestSumAgreesWithKubernetes holds the fast sum against Kubernetes' own helper.
func TestSumAgreesWithKubernetes(t *testing.T) {
	names := []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, extension.BatchCPU, extension.BatchMemory, extension.MidCPU,
		extension.MidMemory, "nvidia.com/gpu",
	}
	rapid.Check(t, func(t *rapid.T) {
		pod := &corev1.Pod{}
		for i := range rapid.IntRange(1, 4).Draw(t, "containers") {
			requests := corev1.ResourceList{}
			for _, name := range names {
				if rapid.Bool().Draw(t, "has "+string(name)) {
					requests[name] = *resource.NewMilliQuantity(rapid.Int64Range(0, 1<<40).Draw(t, string(name)), resource.DecimalSI)
				}
			}
			pod.Spec.Containers = append(pod.Spec.Containers, container(string(rune('a'+i)), requests, requests))
		}
		if !simple(pod) {
			t.Fatal("a pod of plain containers does not take the fast path")
		}
		var want Tiers
		accumulate(&want, resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}), nil)
		got := Of(pod).Requests
		slack := int64(len(pod.Spec.Containers)) // each container rounds up on its own
		a, b := got.counters(), want.counters()
		for i, name := range resources {
			if *a[i] < *b[i] || *a[i] > *b[i]+slack {
				t.Errorf("%s: fast sum %d, Kubernetes %d", name, *a[i], *b[i])
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Priority: new(int32(9500)), Containers: []corev1.Container{
		container("app", list("cpu", "2", "memory", "4Gi"), list("cpu", "4", "memory", "4Gi"))}},
		Status: corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}}
	for b.Loop() {
		Of(pod)
	}
}
