package kubectlplugin

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// workloadCluster has a Deployment in the middle of a rollout, a Spark application and a pod without a controller.
func workloadCluster() *livetest.Server {
	web := func(name, hash, node string) corev1.Pod {
		pod := replicated(makePod("shop", name, node, list("cpu", "4", "memory", "8Gi")), "apps/v1", "ReplicaSet", "web-"+hash)
		pod.Labels = map[string]string{"app": "web", "team": "front", "pod-template-hash": hash}
		return pod
	}
	batch := list("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "4Gi")
	driver := replicated(makePod("spark", "pi-driver", "worker-1", batch), "sparkoperator.k8s.io/v1beta2", "SparkApplication", "pi")
	executor := replicated(makePod("spark", "pi-exec-1", "worker-2", batch), "v1", "Pod", "pi-driver")
	use := func(namespace, name, cpu, memory string) *slov1alpha1.PodMetricInfo {
		return &slov1alpha1.PodMetricInfo{Namespace: namespace, Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", cpu, "memory", memory)}}
	}
	recommendation := analysisv1alpha1.Recommendation{}
	recommendation.Namespace, recommendation.Name = "shop", "web"
	recommendation.Spec.Target.Workload = &analysisv1alpha1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	recommendation.Status.PodStatus = &analysisv1alpha1.RecommendedPodStatus{ContainerStatuses: []analysisv1alpha1.RecommendedContainerStatus{
		{ContainerName: "main", Resources: list("cpu", "1500m", "memory", "4Gi")},
	}}
	return &livetest.Server{
		Nodes: []corev1.Node{makeNode("worker-1"), makeNode("worker-2")},
		Pods: []corev1.Pod{
			web("web-1", "5d8f", "worker-1"), web("web-2", "77c9", "worker-2"), web("web-3", "77c9", ""), driver, executor, makePod("shop", "shell", "worker-1", nil),
		},
		Metrics: []slov1alpha1.NodeMetric{
			makeMetric("worker-1", 42*time.Second, "3", "20Gi", use("shop", "web-1", "1", "3Gi"), use("spark", "pi-driver", "500m", "1Gi")),
			makeMetric("worker-2", 30*time.Second, "5", "12Gi", use("shop", "web-2", "5", "3Gi")),
		},
		Recommendations: []analysisv1alpha1.Recommendation{recommendation},
	}
}

func TestWorkloadsPrint(t *testing.T) {
	same := func(*livetest.Server) {}
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"all":            {"top workloads -A", same},
		"wide":           {"top workloads -A -o wide", same},
		"namespace":      {"top wl -n shop", same},
		"named":          {"top workload web -n shop", same},
		"unknown":        {"top workloads wbe -n shop", same},
		"sorted":         {"top workloads -A --sort-by=cpu-idle -o name", same},
		"json":           {"top workloads web -n shop -o json", same},
		"by-namespace":   {"top workloads -A --group-by namespace", same},
		"by-team-band":   {"top workloads -A --group-by label:team --group-by band", same},
		"by-node":        {"top workloads -A --group-by node,tier", same},
		"bad-group":      {"top workloads -A --group-by team", same},
		"names-in-group": {"top workloads web -n shop --group-by node", same},
		"bad-order":      {"top workloads -A --sort-by=cost", same},
		"none":           {"top workloads -n empty", same},
		"denied":         {"top workloads -A", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"unmeasured":     {"top workloads -A", func(s *livetest.Server) { s.Denied = []string{"list nodemetrics", "list recommendations"} }},
		"no-crds":        {"top workloads -A", func(s *livetest.Server) { s.NoCRDs = true }},
		"hostile": {"top workloads -A", func(s *livetest.Server) {
			s.Pods[3].OwnerReferences[0].Name = "pi\x1b[31m\u202e" + strings.Repeat("x", 300)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := workloadCluster()
			tc.edit(server)
			golden(t, "workloads/"+name, tc.line, run(t, server, tc.line))
		})
	}
}
