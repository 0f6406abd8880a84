package nodeload

import (
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Report is what a NodeMetric reports. It is not modified once it is made.
type Report struct {
	// UpdateTime is zero for a NodeMetric that was never reported.
	UpdateTime time.Time
	// HasUsage is false for one without the usage of its node.
	HasUsage bool
	// Node is the usage of the node, and System that of everything but pods.
	Node, System Amounts
	// Pods in the order of the NodeMetric, which may name one twice.
	Pods []Pod
}

// Pod is the usage of a pod. It is empty where none is reported.
type Pod struct {
	Namespace, Name string
	Usage           Amounts
}

// Amount is how much of a resource is used.
type Amount struct {
	Resource corev1.ResourceName
	// Value is in milliCPU for cpu, else in the unit of the resource. Fractions are rounded up, and what int64 cannot hold is its end.
	Value int64
}

// Amounts of different resources, in no order.
type Amounts []Amount

// Get is the amount of a resource, and whether there is one.
func (a Amounts) Get(name corev1.ResourceName) (int64, bool) {
	for i := range a {
		if a[i].Resource == name {
			return a[i].Value, true
		}
	}
	return 0, false
}

// Of is what a NodeMetric reports; nil where there is none.
func Of(metric *slov1alpha1.NodeMetric) *Report {
	if metric == nil {
		return nil
	}
	out := &Report{}
	if at := metric.Status.UpdateTime; at != nil {
		out.UpdateTime = at.Time
	}
	if of := metric.Status.NodeMetric; of != nil {
		out.HasUsage = true
		out.Node, out.System = AmountsOf(of.NodeUsage.ResourceList), AmountsOf(of.SystemUsage.ResourceList)
	}
	out.Pods = make([]Pod, 0, len(metric.Status.PodsMetric))
	for _, pod := range metric.Status.PodsMetric {
		if pod != nil {
			out.Pods = append(out.Pods, Pod{Namespace: shared(pod.Namespace), Name: pod.Name, Usage: AmountsOf(pod.PodUsage.ResourceList)})
		}
	}
	return out
}

// AmountsOf are the amounts of a list.
func AmountsOf(list corev1.ResourceList) Amounts {
	if len(list) == 0 {
		return nil
	}
	out := make(Amounts, 0, len(list))
	for name, quantity := range list {
		out = append(out, Amount{corev1.ResourceName(shared(string(name))), AmountOf(name, quantity)})
	}
	return out
}

// AmountOf is a quantity of a resource as the value of an Amount.
func AmountOf(name corev1.ResourceName, quantity resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return podrequest.Milli(quantity)
	}
	return podrequest.Whole(quantity)
}

// shared is a text of which many reports have the same.
func shared(text string) string { return unique.Make(text).Value() }
