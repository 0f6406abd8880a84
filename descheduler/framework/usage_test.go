package framework_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coretesting "k8s.io/client-go/testing"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsfake "k8s.io/metrics/pkg/client/clientset/versioned/fake"

	"koordinator.sh/koord/descheduler/framework"
)

// measured is a client of metrics.k8s.io that serves the CPU of nodes, in millicores, and of all pods 500.
func measured(nodes map[string]int64, served bool) *metricsfake.Clientset {
	metrics := metricsfake.NewSimpleClientset()
	if served {
		metrics.Resources = []*metav1.APIResourceList{{GroupVersion: "metrics.k8s.io/v1beta1", APIResources: []metav1.APIResource{{Name: "nodes"}, {Name: "pods"}}}}
	}
	usage := func(milli int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Mi")}
	}
	metrics.PrependReactor("get", "nodes", func(action coretesting.Action) (bool, runtime.Object, error) {
		name := action.(coretesting.GetAction).GetName()
		return true, &metricsv1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: name}, Usage: usage(nodes[name])}, nil
	})
	metrics.PrependReactor("get", "pods", func(action coretesting.Action) (bool, runtime.Object, error) {
		return true, &metricsv1beta1.PodMetrics{Containers: []metricsv1beta1.ContainerMetrics{{Name: "main", Usage: usage(500)}}}, nil
	})
	return metrics
}

func TestLowNodeUtilizationReadsTheUsageOfMetricsServer(t *testing.T) {
	config := profileOf("balance", "LowNodeUtilization", "{thresholds: {cpu: 20}, targetThresholds: {cpu: 70}, evictionLimits: {node: 1}, metricsUtilization: {source: KubernetesMetrics}}")
	tests := map[string]struct {
		served bool
		want   []string
	}{
		"it is served":     {served: true, want: []string{"koord-descheduler/LowNodeUtilization Balance"}},
		"it is not served": {want: []string{"koord-descheduler/LowNodeUtilization Balance: error initializing usage client: metrics client not initialized"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			// By its requests no node is full.
			s := cluster{objects: objects(node("hot"), node("cold"), pod("web", "hot")), config: config, edit: func(c *framework.Config) {
				c.Metrics = measured(map[string]int64{"hot": 3500, "cold": 100}, test.served)
			}}.start(t)
			if diff := cmp.Diff(test.want, ran(s.pass(t))); diff != "" {
				t.Errorf("plugins (-want +got):\n%s", diff)
			}
			if got := len(s.migrating(t)) == 1; got != test.served {
				t.Errorf("migrating %v, served %t", s.migrating(t), test.served)
			}
		})
	}
}

func TestNoUsageIsReadWhenNoPluginNeedsIt(t *testing.T) {
	metrics := measured(nil, true)
	s := cluster{objects: objects(node("a"), node("b")), config: profileOf("balance", "LowNodeUtilization", "{thresholds: {cpu: 20}, targetThresholds: {cpu: 70}}"), edit: func(c *framework.Config) {
		c.Metrics = metrics
	}}.start(t)
	s.pass(t)
	if actions := metrics.Actions(); len(actions) != 0 {
		t.Errorf("requests %v, want none", actions)
	}
}
