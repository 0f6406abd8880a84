package configplan

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

var fixtureNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// parsed reads a configuration that must be sound.
func parsed(t testing.TB, data map[string]string) configmerge.Config {
	t.Helper()
	config, problems := configmerge.Parse(data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return config
}

// makeNode is a node of 32 CPUs and 128 Gi, all of it allocatable.
func makeNode(name string, labels map[string]string) corev1.Node {
	size := amounts("cpu", "32", "memory", "128Gi", "pods", "110")
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Status: corev1.NodeStatus{Capacity: size, Allocatable: size.DeepCopy()}}
}

func service(node, name, cpu, memory string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.PodSpec{NodeName: node, Priority: new(int32(9500)), Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts("cpu", cpu, "memory", memory)},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
	}
}

func batch(node, name string, priority int32, milli, memory string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: name, Labels: map[string]string{extension.LabelPodQoS: "BE"}},
		Spec: corev1.PodSpec{NodeName: node, Priority: &priority, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts("kubernetes.io/batch-cpu", milli, "kubernetes.io/batch-memory", memory)},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBestEffort},
	}
}

// use is what one pod uses.
func use(namespace, name, cpu, memory string) *slov1alpha1.PodMetricInfo {
	return &slov1alpha1.PodMetricInfo{Namespace: namespace, Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: amounts("cpu", cpu, "memory", memory)}}
}

// makeMetric is a fresh report; the system uses 1 CPU and 4 Gi.
func makeMetric(node, cpu, memory string, pods ...*slov1alpha1.PodMetricInfo) slov1alpha1.NodeMetric {
	return slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: fixtureNow.Add(-30 * time.Second)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{
				NodeUsage:   slov1alpha1.ResourceMap{ResourceList: amounts("cpu", cpu, "memory", memory)},
				SystemUsage: slov1alpha1.ResourceMap{ResourceList: amounts("cpu", "1", "memory", "4Gi")},
			},
			PodsMetric: pods,
		},
	}
}

// large is a cluster of n nodes with pods on each, rendered NodeSLOs and some quotas.
func large(t testing.TB, n, pods int, config configmerge.Config) Input {
	t.Helper()
	in := Input{Old: config, Now: fixtureNow}
	for i := range n {
		name := fmt.Sprintf("node-%05d", i)
		node := makeNode(name, map[string]string{"pool": []string{"gold", "silver", "bronze"}[i%3], "kubernetes.io/hostname": name})
		in.Nodes = append(in.Nodes, node)
		var used []*slov1alpha1.PodMetricInfo
		for p := range pods {
			pod := service(name, fmt.Sprintf("web-%d-%d", i, p), "500m", "1Gi")
			if p%3 == 0 {
				pod = batch(name, fmt.Sprintf("exec-%d-%d", i, p), 5500, "1000", "2Gi")
			}
			in.Pods = append(in.Pods, pod)
			used = append(used, use(pod.Namespace, pod.Name, fmt.Sprintf("%dm", 200+i%50*10), "1Gi"))
		}
		in.Metrics = append(in.Metrics, makeMetric(name, "16", "60Gi", used...))
		in.SLOs = append(in.SLOs, slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *specCopy(config, &node)})
	}
	in.Quotas = []schedulingsigsv1alpha1.ElasticQuota{makeQuota("spark", "spark", "1000k", "100000k"), makeQuota("etl", "etl", "500k", "100000k")}
	return in
}

func specCopy(config configmerge.Config, node *corev1.Node) *slov1alpha1.NodeSLOSpec {
	spec := config.NodeSLOSpec(node)
	return spec.DeepCopy()
}

func makeQuota(namespace, name, least, most string) schedulingsigsv1alpha1.ElasticQuota {
	return schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{
			Min: amounts("kubernetes.io/batch-cpu", least), Max: amounts("kubernetes.io/batch-cpu", most),
		},
	}
}
