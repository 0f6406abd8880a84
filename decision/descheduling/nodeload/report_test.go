package nodeload

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func list(amounts ...string) slov1alpha1.ResourceMap {
	out := corev1.ResourceList{}
	for i := 0; i < len(amounts); i += 2 {
		out[corev1.ResourceName(amounts[i])] = resource.MustParse(amounts[i+1])
	}
	return slov1alpha1.ResourceMap{ResourceList: out}
}

func TestWhatANodeMetricReports(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for name, tc := range map[string]struct {
		metric *slov1alpha1.NodeMetric
		want   *Report
	}{
		"there is none":     {nil, nil},
		"it never reported": {&slov1alpha1.NodeMetric{}, &Report{Pods: []Pod{}}},
		"usage of the node, the system and pods": {
			&slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{
				UpdateTime: &metav1.Time{Time: at},
				NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: list("cpu", "2500m", "memory", "1Gi"), SystemUsage: list("cpu", "1")},
				PodsMetric: []*slov1alpha1.PodMetricInfo{
					{Namespace: "shop", Name: "web", PodUsage: list("memory", "1.5", "cpu", "0.1m")}, nil, {Namespace: "shop", Name: "idle"},
				},
			}},
			&Report{
				UpdateTime: at, HasUsage: true, Node: Amounts{{"cpu", 2500}, {"memory", 1 << 30}}, System: Amounts{{"cpu", 1000}},
				Pods: []Pod{{"shop", "web", Amounts{{"cpu", 1}, {"memory", 2}}}, {Namespace: "shop", Name: "idle"}},
			},
		},
		"numbers that cannot be true": {
			&slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{NodeMetric: &slov1alpha1.NodeMetricInfo{SystemUsage: list("cpu", "-1", "memory", "1e30")}}},
			&Report{HasUsage: true, System: Amounts{{"cpu", -1000}, {"memory", math.MaxInt64}}, Pods: []Pod{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Of(tc.metric)
			if got != nil {
				for _, amounts := range append([]Amounts{got.Node, got.System}, podAmounts(got)...) {
					slices.SortFunc(amounts, func(a, b Amount) int { return strings.Compare(string(a.Resource), string(b.Resource)) })
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func podAmounts(r *Report) []Amounts {
	var out []Amounts
	for i := range r.Pods {
		out = append(out, r.Pods[i].Usage)
	}
	return out
}

func TestAnAmountIsFoundByItsResource(t *testing.T) {
	amounts := Amounts{{"cpu", 0}, {"memory", 7}}
	for name, want := range map[corev1.ResourceName]struct {
		value int64
		known bool
	}{"cpu": {0, true}, "memory": {7, true}, "pods": {0, false}} {
		if value, known := amounts.Get(name); value != want.value || known != want.known {
			t.Errorf("%s is %d, %t, want %+v", name, value, known, want)
		}
	}
}
