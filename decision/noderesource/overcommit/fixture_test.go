package overcommit

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

var noon = time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func usage(cpu, memory string) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: amounts(cpu, memory)}
}

func testNode(cpu, memory string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "test-node"},
		Status:     corev1.NodeStatus{Capacity: amounts(cpu, memory), Allocatable: amounts(cpu, memory)},
	}
}

// testPod is a running pod of one container that requests what it is limited to.
func testPod(name string, qos extension.QoSClass, cpu, memory string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: name, Labels: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: "test-node"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if qos != extension.QoSNone {
		pod.Labels[extension.LabelPodQoS] = string(qos)
	}
	requirements := corev1.ResourceRequirements{Requests: amounts(cpu, memory), Limits: amounts(cpu, memory)}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: requirements}}
	return pod
}

func phase(pod *corev1.Pod, phase corev1.PodPhase) *corev1.Pod {
	pod.Status.Phase = phase
	return pod
}

func priority(pod *corev1.Pod, value int32) *corev1.Pod {
	pod.Spec.Priority = &value
	return pod
}

func podMetric(name, cpu, memory string) *slov1alpha1.PodMetricInfo {
	return &slov1alpha1.PodMetricInfo{Namespace: "test", Name: name, PodUsage: usage(cpu, memory)}
}

func testMetric(nodeUsage, systemUsage slov1alpha1.ResourceMap, pods ...*slov1alpha1.PodMetricInfo) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: "test-node"},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: noon.Add(-30 * time.Second)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: nodeUsage, SystemUsage: systemUsage},
			PodsMetric: pods,
		},
	}
}

// strategy is the built-in one, enabled, with changes.
func strategy(changes ...func(*configuration.ColocationStrategy)) configmerge.Merged {
	out := configuration.DefaultColocationStrategy()
	out.Enable = new(true)
	for _, change := range changes {
		change(&out)
	}
	return configmerge.Merged{Strategy: out}
}

func reclaim(cpu, memory int64) func(*configuration.ColocationStrategy) {
	return func(s *configuration.ColocationStrategy) {
		s.CPUReclaimThresholdPercent, s.MemoryReclaimThresholdPercent = &cpu, &memory
	}
}

func cpuPolicy(policy configuration.CalculatePolicy) func(*configuration.ColocationStrategy) {
	return func(s *configuration.ColocationStrategy) { s.CPUCalculatePolicy = &policy }
}

func memoryPolicy(policy configuration.CalculatePolicy) func(*configuration.ColocationStrategy) {
	return func(s *configuration.ColocationStrategy) { s.MemoryCalculatePolicy = &policy }
}

// n1 is the node most cases are about: 100 cpus and 120 GB; service podA requests 20/20G and uses 11/11G; best-effort podB
// uses 10/10G; podC requests 20/40G, is pending and uses 22/22G; a pod that succeeded; the system uses 7/12G.
func n1(changes ...func(*NodeInput)) NodeInput {
	podC := phase(testPod("podC", extension.QoSNone, "10", "20G"), corev1.PodPending)
	podC.Spec.Containers = append(podC.Spec.Containers, podC.Spec.Containers[0])
	podC.Spec.Containers[1].Name = "second"
	in := NodeInput{
		Node: testNode("100", "120G"),
		Pods: []*corev1.Pod{
			testPod("podA", extension.QoSLS, "20", "20G"), testPod("podB", extension.QoSBE, "10", "10G"), podC,
			phase(testPod("podD", extension.QoSBE, "10", "10G"), corev1.PodSucceeded),
		},
		Metric: testMetric(usage("50", "55G"), usage("7", "12G"),
			podMetric("podA", "11", "11G"), podMetric("podB", "10", "10G"), podMetric("podC", "22", "22G")),
		Strategy: strategy(reclaim(65, 65)),
		Now:      noon,
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func with(strategyChanges ...func(*configuration.ColocationStrategy)) func(*NodeInput) {
	return func(in *NodeInput) {
		for _, change := range strategyChanges {
			change(&in.Strategy.Strategy)
		}
	}
}

func annotated(key, value string) func(*NodeInput) {
	return func(in *NodeInput) {
		if in.Node.Annotations == nil {
			in.Node.Annotations = map[string]string{}
		}
		in.Node.Annotations[key] = value
	}
}

func kubeletKeeps(cpu, memory string) func(*NodeInput) {
	return func(in *NodeInput) {
		left := in.Node.Status.Allocatable.DeepCopy()
		for name, kept := range amounts(cpu, memory) {
			quantity := left[name]
			quantity.Sub(kept)
			left[name] = quantity
		}
		in.Node.Status.Allocatable = left
	}
}

// classes is n1 with pods of every class: two prod pods, one of QoS first, a batch pod, a mid pod and one that succeeded.
func classes(first extension.QoSClass) func(*NodeInput) {
	return func(in *NodeInput) {
		mid := priority(phase(testPod("podMid", extension.QoSBE, "20", "40G"), corev1.PodPending), 7000)
		in.Pods = []*corev1.Pod{
			testPod("podProd", first, "10", "10G"), priority(testPod("podProd1", extension.QoSNone, "10", "10G"), 9999),
			testPod("podBatch", extension.QoSBE, "10", "10G"), mid,
			phase(testPod("podProd2", extension.QoSNone, "10", "10G"), corev1.PodSucceeded),
		}
		in.Metric = testMetric(usage("50", "55G"), usage("7", "12G"), podMetric("podProd", "5", "5G"),
			podMetric("podProd1", "6", "6G"), podMetric("podBatch", "10", "10G"), podMetric("podMid", "22", "22G"))
	}
}

// busyNode has a number of pods, nearly all measured.
func busyNode(pods int) NodeInput {
	in := n1()
	in.Pods, in.Metric.Status.PodsMetric = nil, nil
	for i := range pods {
		name := fmt.Sprintf("pod-%d", i)
		pod := testPod(name, extension.QoSLS, "500m", "512Mi")
		pod.Status.QOSClass = corev1.PodQOSGuaranteed
		if i%3 == 0 {
			pod = priority(testPod(name, extension.QoSBE, "0", "0"), 5500)
		}
		in.Pods = append(in.Pods, pod)
		if i%10 != 9 {
			in.Metric.Status.PodsMetric = append(in.Metric.Status.PodsMetric, podMetric(name, "200m", "256Mi"))
		}
	}
	return in
}

func quantity(value int64) *resource.Quantity { return resource.NewQuantity(value, resource.DecimalSI) }

// explain returns the waterfalls of one calculation.
func explain(in NodeInput, maxParts int) []diagnosticsv1alpha1.Waterfall {
	trace := &Trace{MaxParts: maxParts}
	Calculate(in, trace)
	return trace.Waterfalls
}

// summarized is the summary of a node with the pods of the input.
func summarized(in NodeInput) Summary {
	pods := make([]*PodRequests, len(in.Pods))
	for i, pod := range in.Pods {
		requests := RequestsOf(pod)
		pods[i] = &requests
	}
	return Summarize(in, pods)
}
