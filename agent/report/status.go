package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Input is what a report is made of.
type Input struct {
	// UpdateTime of the report, by the cluster's clock.
	UpdateTime time.Time
	// At is the end of all windows, by the machine's clock.
	At time.Time
	// Metrics of the node.
	Metrics *metrics.Node
	// Pods that run, in the order in which they are reported. Pods without a sample are left out.
	Pods []Pod
	// Applications outside of Kubernetes, in the order in which they are reported. Those without a sample are left out.
	Applications []Application
	// NodeDevices and PodDevices are what is used of devices at the moment, by all and by a pod; nil where nothing is known.
	NodeDevices []schedulingv1alpha1.DeviceInfo
	PodDevices  func(types.UID) []schedulingv1alpha1.DeviceInfo
	// Prediction is left out when nil.
	Prediction *prediction.Estimate
}

// Pod names a pod and its classes.
type Pod struct {
	UID             types.UID
	Namespace, Name string
	Band            extension.PriorityClass
	QoS             extension.QoSClass
}

// Application names an host application outside Kubernetes and its classes.
type Application struct {
	Name string
	Band extension.PriorityClass
	QoS  extension.QoSClass
}

// Status is what the node's NodeMetric is to say. NodeMetric is nil when nothing was sampled in the aggregate window.
func Status(in Input) *slov1alpha1.NodeMetricStatus {
	updated := metav1.NewTime(in.UpdateTime)
	status := &slov1alpha1.NodeMetricStatus{UpdateTime: &updated, NodeMetric: nodeMetric(in)}
	for _, pod := range in.Pods {
		usage, sampled := in.Metrics.PodUsage(pod.UID, in.At)
		if !sampled {
			continue
		}
		info := &slov1alpha1.PodMetricInfo{
			Name: pod.Name, Namespace: pod.Namespace, Priority: pod.Band, QoS: pod.QoS, PodUsage: resources(usage.Amount()),
		}
		if in.PodDevices != nil {
			info.PodUsage.Devices = in.PodDevices(pod.UID)
		}
		status.PodsMetric = append(status.PodsMetric, info)
	}
	for _, application := range in.Applications {
		usage, sampled := in.Metrics.ApplicationUsage(application.Name, in.At)
		if !sampled {
			continue
		}
		status.HostApplicationMetric = append(status.HostApplicationMetric, &slov1alpha1.HostApplicationMetricInfo{
			Name: application.Name, Priority: application.Band, QoS: application.QoS, Usage: resources(usage.Amount()),
		})
	}
	if in.Prediction != nil {
		status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: resources(in.Prediction.Reclaimable)}
		status.ProdPeakMetric = &slov1alpha1.ReclaimableMetric{Resource: resources(in.Prediction.Peak)}
	}
	return status
}

func nodeMetric(in Input) *slov1alpha1.NodeMetricInfo {
	node, sampled := in.Metrics.Usage(in.At)
	if !sampled {
		return nil
	}
	system, _ := in.Metrics.SystemUsage(in.At)
	out := &slov1alpha1.NodeMetricInfo{
		NodeUsage:              resources(node.Amount()),
		SystemUsage:            resources(system.Amount()),
		AggregatedNodeUsages:   aggregated(in.Metrics.Aggregates(in.At)),
		AggregatedSystemUsages: aggregated(in.Metrics.SystemAggregates(in.At)),
	}
	out.NodeUsage.Devices = in.NodeDevices
	for _, numa := range in.Metrics.NUMAUsages(in.At) {
		out.NUMAUsages = append(out.NUMAUsages, slov1alpha1.NUMAUsage{
			NUMANodeID: numa.ID, NodeUsage: resources(numa.Node.Amount()), SystemUsage: resources(numa.System.Amount()),
		})
	}
	return out
}

func aggregated(aggregates []metrics.Aggregate) []slov1alpha1.AggregatedUsage {
	var out []slov1alpha1.AggregatedUsage
	for _, a := range aggregates {
		out = append(out, slov1alpha1.AggregatedUsage{
			Duration: metav1.Duration{Duration: a.Duration},
			Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{
				extension.AVG: resources(a.Average.Amount()),
				extension.P50: resources(a.P50.Amount()),
				extension.P90: resources(a.P90.Amount()),
				extension.P95: resources(a.P95.Amount()),
				extension.P99: resources(a.P99.Amount()),
			},
		})
	}
	return out
}

func resources(amount podrequest.Amount) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(amount.MilliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(amount.Memory, resource.BinarySI),
	}}
}
