package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// A node has two NUMA zones with two cores of two threads each. CPUs 0 and 1 are kept from pods.
const (
	nodeCPUs  = 8
	keptCPUs  = 2
	nodeGPUs  = 2
	namespace = "default"
)

var (
	podKind         = served["/pods"]
	nodeKind        = served["/nodes"]
	topologyKind    = served["topology.node.k8s.io/noderesourcetopologies"]
	deviceKind      = served["scheduling.koordinator.sh/devices"]
	reservationKind = served["scheduling.koordinator.sh/reservations"]
	metricKind      = served["slo.koordinator.sh/nodemetrics"]
	quotaKind       = served["scheduling.sigs.k8s.io/elasticquotas"]
	podGroupKind    = served["scheduling.sigs.k8s.io/podgroups"]
)

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func newNode(name string, gpus bool) *corev1.Node {
	has := amounts("cpu", fmt.Sprint(nodeCPUs), "memory", "32Gi", "pods", "12", "kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "16Gi",
		"kubernetes.io/mid-cpu", "2000", "kubernetes.io/mid-memory", "8Gi")
	if gpus {
		maps.Copy(has, amounts("koordinator.sh/gpu", "200", "koordinator.sh/gpu-core", "200", "koordinator.sh/gpu-memory-ratio", "200",
			"koordinator.sh/gpu-memory", "160Gi", "nvidia.com/gpu", fmt.Sprint(nodeGPUs)))
	}
	offers := has.DeepCopy()
	offers[corev1.ResourceCPU] = *resource.NewQuantity(nodeCPUs-keptCPUs, resource.DecimalSI)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{corev1.LabelHostname: name},
			Annotations: map[string]string{extension.AnnotationCustomUsageThresholds: `{"usageThresholds":{"cpu":100,"memory":100}}`},
		},
		Status: corev1.NodeStatus{
			Capacity: has, Allocatable: offers,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func newTopology(node string) *topologyv1alpha1.NodeResourceTopology {
	cpus := extension.CPUTopology{}
	for id := range int32(nodeCPUs) {
		cpus.Detail = append(cpus.Detail, extension.CPUInfo{ID: id, Core: id / 2, Node: id / (nodeCPUs / 2)})
	}
	detail, _ := json.Marshal(cpus) // plain numbers
	zone := func(number, cpu int) topologyv1alpha1.Zone {
		memory := resource.MustParse("16Gi")
		has, gives := *resource.NewQuantity(nodeCPUs/2, resource.DecimalSI), *resource.NewQuantity(int64(cpu), resource.DecimalSI)
		return topologyv1alpha1.Zone{Name: fmt.Sprintf("node-%d", number), Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: has, Allocatable: gives, Available: gives},
			{Name: "memory", Capacity: memory, Allocatable: memory, Available: memory},
		}}
	}
	return &topologyv1alpha1.NodeResourceTopology{
		ObjectMeta: metav1.ObjectMeta{
			Name: node, Labels: map[string]string{extension.LabelManagedBy: extension.ManagedByKoordinator},
			Annotations: map[string]string{
				extension.AnnotationNodeCPUTopology:         string(detail),
				extension.AnnotationKubeletCPUManagerPolicy: `{"policy":"none","reservedCPUs":"0-1"}`,
			},
		},
		TopologyPolicies: []string{"None"},
		Zones:            topologyv1alpha1.ZoneList{zone(0, nodeCPUs/2-keptCPUs), zone(1, nodeCPUs/2)},
	}
}

func newDevice(node string) *schedulingv1alpha1.Device {
	device := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for minor := range int32(nodeGPUs) {
		device.Spec.Devices = append(device.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, Health: true, Minor: &minor, UUID: fmt.Sprintf("%s-gpu-%d", node, minor),
			Topology:  &schedulingv1alpha1.DeviceTopology{NodeID: minor, PCIEID: fmt.Sprint(minor)},
			Resources: amounts("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "100", "koordinator.sh/gpu-memory", "80Gi"),
		})
	}
	return device
}

// newMetric is a report of what a node uses at a time.
func newMetric(node, cpu string, at time.Time) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: at},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: amounts("cpu", cpu, "memory", "4Gi")}},
		},
	}
}

func newPod(name string, priority int32, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			SchedulerName: "koord-scheduler", Priority: &priority, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "main", Image: "app", Resources: corev1.ResourceRequirements{Requests: requests, Limits: maps.Clone(requests)}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func newQuota(name, parent, minimum, maximum string) *schedulingsigsv1alpha1.ElasticQuota {
	return &schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			extension.LabelQuotaParent: parent, extension.LabelQuotaIsParent: fmt.Sprint(parent == ""),
		}},
		Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Min: amounts("cpu", minimum), Max: amounts("cpu", maximum)},
	}
}

func newReservation(name string, requests corev1.ResourceList, owner string) *schedulingv1alpha1.Reservation {
	template := newPod("", 9500, requests)
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: template.Spec},
			Owners:   []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"owner": owner}}}},
		},
	}
}
