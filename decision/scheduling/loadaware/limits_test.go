package loadaware

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func TestLimits(t *testing.T) {
	type limits = map[corev1.ResourceName]int64
	for name, test := range map[string]struct {
		args       Args
		annotation string
		want       limits
	}{
		"the defaults":                 {want: limits{"cpu": 65, "memory": 95}},
		"those of the configuration":   {args: Args{UsageThresholds: limits{"cpu": 50, "memory": 0}}, want: limits{"cpu": 50}},
		"percentiles come first":       {args: Args{Aggregated: &AggregatedArgs{UsageThresholds: limits{"cpu": 40}, UsageAggregationType: "p95"}}, want: limits{"cpu": 40}},
		"the node's own":               {annotation: `{"usageThresholds":{"cpu":30}}`, want: limits{"cpu": 30}},
		"an annotation that is broken": {annotation: `{"usageThresholds":{"cpu":300}}`, want: limits{"cpu": 65, "memory": 95}},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationCustomUsageThresholds: test.annotation}}}
			if test.annotation == "" {
				node.Annotations = nil
			}
			if diff := cmp.Diff(test.want, NewPolicy(&test.args).Limits(node)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
