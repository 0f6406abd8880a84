package capacity

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

func TestOf(t *testing.T) {
	amount := func(milliCPU, gibibytes int64) podrequest.Amount {
		return podrequest.Amount{MilliCPU: milliCPU, Memory: gibibytes << 30}
	}
	tests := []struct {
		name         string
		annotations  map[string]string
		want         Capacity
		wantReserved podrequest.Amount
		wantProblem  string
	}{
		{
			name:         "a plain node offers what the kubelet leaves",
			want:         Capacity{Total: amount(100_000, 400), Raw: amount(90_000, 380), Shown: amount(90_000, 380), NormalizationPercent: 100},
			wantReserved: amount(10_000, 20),
		},
		{
			name: "an amplified node still reserves what it did before amplification",
			annotations: map[string]string{
				extension.AnnotationNodeRawAllocatable: `{"cpu":"60","memory":"380Gi"}`,
			},
			want:         Capacity{Total: amount(100_000, 400), Raw: amount(60_000, 380), Shown: amount(90_000, 380), NormalizationPercent: 100},
			wantReserved: amount(40_000, 20),
		},
		{
			name:         "a fast cpu counts more",
			annotations:  map[string]string{extension.AnnotationCPUNormalizationRatio: "1.20"},
			want:         Capacity{Total: amount(100_000, 400), Raw: amount(90_000, 380), Shown: amount(90_000, 380), NormalizationPercent: 120},
			wantReserved: amount(10_000, 20),
		},
		{
			name:         "a ratio beyond its bound counts nothing and is reported",
			annotations:  map[string]string{extension.AnnotationCPUNormalizationRatio: "50"},
			want:         Capacity{Total: amount(100_000, 400), Raw: amount(90_000, 380), Shown: amount(90_000, 380), NormalizationPercent: 100},
			wantReserved: amount(10_000, 20),
			wantProblem:  "above 5",
		},
		{
			name:         "an unreadable annotation is reported",
			annotations:  map[string]string{extension.AnnotationNodeRawAllocatable: `{"cpu":`},
			want:         Capacity{Total: amount(100_000, 400), Raw: amount(90_000, 380), Shown: amount(90_000, 380), NormalizationPercent: 100},
			wantReserved: amount(10_000, 20),
			wantProblem:  extension.AnnotationNodeRawAllocatable,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Annotations: test.annotations},
				Status: corev1.NodeStatus{
					Capacity: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("100"), corev1.ResourceMemory: resource.MustParse("400Gi")},
					Allocatable: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("90"), corev1.ResourceMemory: resource.MustParse("380Gi")},
				},
			}
			got := Of(node)
			if problems := strings.Join(got.Problems, ";"); !strings.Contains(problems, test.wantProblem) || (test.wantProblem == "") != (problems == "") {
				t.Errorf("problems %q, want one about %q", problems, test.wantProblem)
			}
			if diff := cmp.Diff(test.wantReserved, got.KubeletReserved()); diff != "" {
				t.Errorf("KubeletReserved (-want +got):\n%s", diff)
			}
			got.Problems = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Of (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPercentIsExactOrSaturated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, percent := rapid.Int64().Draw(t, "value"), rapid.Int64().Draw(t, "percent")
		exact := new(big.Int).Mul(big.NewInt(value), big.NewInt(percent))
		exact.Quo(exact, big.NewInt(100))
		want := int64(math.MaxInt64)
		switch {
		case exact.IsInt64():
			want = exact.Int64()
		case exact.Sign() < 0:
			want = math.MinInt64
		}
		if got := Percent(value, percent); got != want {
			t.Errorf("Percent(%d, %d) = %d, want %d", value, percent, got, want)
		}
	})
}
