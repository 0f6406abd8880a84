package schedulerperf

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/scheduler/state"
)

// reportPeriod is how often a koordlet reports.
const reportPeriod = time.Minute

// hotUse is the use of a hot node: more than the profile's threshold of 65 % of CPU.
const hotUse = 80

// reporter reports what nodes use, as their koordlets would.
type reporter struct {
	objects dynamic.Interface
	// hot is how many of 100 nodes are hot.
	hot int
}

// isHot spreads the hot nodes evenly.
func (r *reporter) isHot(i int) bool { return i*r.hot%100 < r.hot }

// use is 10 to 35 % of a node, different from node to node, and more of a hot one.
func (r *reporter) use(node *corev1.Node, i int) corev1.ResourceList {
	percent := int64(10 + i*7919%26)
	if r.isHot(i) {
		percent = hotUse
	}
	capacity := node.Status.Capacity
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(capacity.Cpu().MilliValue()*percent/100, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(capacity.Memory().Value()*percent/100, resource.BinarySI),
	}
}

// create makes the NodeMetric of the i-th node, and report fills it in.
func (r *reporter) create(ctx context.Context, node *corev1.Node, i int) error {
	metric := &unstructured.Unstructured{}
	metric.SetGroupVersionKind(slov1alpha1.GroupVersion.WithKind("NodeMetric"))
	metric.SetName(node.Name)
	if _, err := r.objects.Resource(state.NodeMetricResource).Create(ctx, metric, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create NodeMetric %q: %w", node.Name, err)
	}
	return r.report(ctx, node, i)
}

func (r *reporter) report(ctx context.Context, node *corev1.Node, i int) error {
	metrics := r.objects.Resource(state.NodeMetricResource)
	current, err := metrics.Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get NodeMetric %q: %w", node.Name, err)
	}
	status := &slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: time.Now()},
		NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: r.use(node, i)}},
	}
	if current.Object["status"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(status); err != nil {
		return fmt.Errorf("encode NodeMetric %q: %w", node.Name, err)
	}
	if _, err := metrics.UpdateStatus(ctx, current, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update NodeMetric %q: %w", node.Name, err)
	}
	return nil
}

// run reports one node after the other, each once in a period, until the context ends or a report fails.
func (r *reporter) run(ctx context.Context, nodes []corev1.Node) error {
	ticker := time.NewTicker(reportPeriod / time.Duration(len(nodes)))
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		i := turn % len(nodes)
		if err := r.report(ctx, &nodes[i], i); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
