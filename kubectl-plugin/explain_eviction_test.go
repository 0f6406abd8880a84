package kubectlplugin

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// evictionCluster is skewedCluster with a descheduler, and with a PodDisruptionBudget of the pods with label app=web.
func evictionCluster() *livetest.Server {
	server := skewedCluster()
	for i := range server.Pods {
		server.Pods[i].Labels = map[string]string{"app": "web"}
		server.Pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	server.Lists = map[string]runtime.Object{
		"deployments": &appsv1.DeploymentList{Items: []appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-descheduler"}}}},
		"poddisruptionbudgets": &policyv1.PodDisruptionBudgetList{Items: []policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 4, DesiredHealthy: 3},
		}}},
		"elasticquotas":    &schedulingsigsv1alpha1.ElasticQuotaList{},
		"podmigrationjobs": &schedulingv1alpha1.PodMigrationJobList{},
	}
	server.NodeSLOs = []slov1alpha1.NodeSLO{{ObjectMeta: metav1.ObjectMeta{Name: "hot"}, Spec: slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
		Enable: new(true), MemoryEvictThresholdPercent: new(int64(70)), EvictEnabledPriorityThreshold: new(int32(5999)),
	}}}}
	return server
}

// budget is the PodDisruptionBudget of the cluster.
func budget(s *livetest.Server) *policyv1.PodDisruptionBudget {
	return &s.Lists["poddisruptionbudgets"].(*policyv1.PodDisruptionBudgetList).Items[0]
}

// makeBatch makes the first pod one that the agent may evict.
func makeBatch(s *livetest.Server) {
	s.Pods[0].Labels["koordinator.sh/qosClass"] = "BE"
	s.Pods[0].Spec.Priority = new(int32(5500))
}

func TestExplainEviction(t *testing.T) {
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"nothing-now": {"explain eviction web-0 -n shop", func(*livetest.Server) {}},
		"in-circles": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Pods[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: new(true)}}
			s.Lists["podmigrationjobs"] = inCircles("StatefulSet/web/web", "worker-1", "worker-2")["podmigrationjobs"]
		}},
		"json":   {"explain eviction shop/web-0 -o json", func(*livetest.Server) {}},
		"budget": {"explain eviction web-0 -n shop", func(s *livetest.Server) { budget(s).Status.DisruptionsAllowed = 0 }},
		"unhealthy": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			budget(s).Status.DisruptionsAllowed = 0
			s.Pods[0].Status.Conditions[0].Status = corev1.ConditionFalse
		}},
		"pressure": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Nodes[0].Status.Conditions = append(s.Nodes[0].Status.Conditions, corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue})
		}},
		"batch-pod-short-of-memory": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			makeBatch(s)
			s.Metrics[0].Status.NodeMetric.NodeUsage.ResourceList[corev1.ResourceMemory] = resource.MustParse("120Gi")
		}},
		"batch-pod": {"explain eviction web-0 -n shop", func(s *livetest.Server) { makeBatch(s) }},
		"batch-pod-load-unknown": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			makeBatch(s)
			s.Metrics[0].Status.UpdateTime = &metav1.Time{Time: testNow.Add(-time.Hour)}
		}},
		"preemptor": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			urgent := makePod("shop", "urgent", "", list("cpu", "20"))
			urgent.Spec.Priority = new(int32(9500))
			s.Pods = append(s.Pods, urgent)
		}},
		"job": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Lists["podmigrationjobs"] = &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{{
				ObjectMeta: metav1.ObjectMeta{Name: "job-1"}, Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: "web-0"}},
				Status: schedulingv1alpha1.PodMigrationJobStatus{Phase: schedulingv1alpha1.PodMigrationJobRunning},
			}}}
		}},
		"quota": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Pods[0].Labels[extension.LabelQuotaName] = "team"
			s.Lists["elasticquotas"] = &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "team", Annotations: map[string]string{extension.AnnotationQuotaRuntime: `{"cpu":"8"}`}},
				Status:     schedulingsigsv1alpha1.ElasticQuotaStatus{Used: list("cpu", "16")},
			}}}
			s.ConfigMaps = append(s.ConfigMaps, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-scheduler-config"}, Data: map[string]string{
				"koord-scheduler-config": "kind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: koord-scheduler\n  pluginConfig:\n  - name: ElasticQuota\n    args: {monitorAllQuotas: true}\n",
			}})
		}},
		"local-storage": {"explain eviction cache -n shop", func(*livetest.Server) {}},
		"eviction-cost": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Pods[0].Annotations = map[string]string{extension.AnnotationEvictionCost: "2147483647"}
		}},
		"soft-eviction": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Pods[0].Annotations = map[string]string{extension.AnnotationSoftEviction: `{"initiator":"koord-descheduler"}`}
			set := appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koordlet"}}
			set.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--feature-gates=SoftEvict=true"}}}
			s.Lists["daemonsets"] = &appsv1.DaemonSetList{Items: []appsv1.DaemonSet{set}}
		}},
		"soft-eviction-off": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Pods[0].Annotations = map[string]string{extension.AnnotationSoftEviction: `{"initiator":"koord-descheduler"}`}
		}},
		"without-koord": {"explain eviction web-0 -n shop", func(s *livetest.Server) { s.NoCRDs, s.Lists = true, nil }},
		"pending":       {"explain eviction waiting -n shop", func(s *livetest.Server) { s.Pods = append(s.Pods, makePod("shop", "waiting", "", list("cpu", "1"))) }},
		"unknown-pod":   {"explain eviction web-9 -n shop", func(*livetest.Server) {}},
		"nothing-allowed": {"explain eviction web-0 -n shop --strict", func(s *livetest.Server) {
			s.Denied = []string{
				"get nodes", "list pods", "list poddisruptionbudgets", "list elasticquotas", "get configmaps", "get deployments", "list podmigrationjobs", "list nodemetrics", "get nodeslos", "get daemonsets",
			}
		}},
		"node-facts-denied": {"explain eviction web-0 -n shop", func(s *livetest.Server) {
			s.Denied = []string{"list nodemetrics", "get nodeslos", "get daemonsets", "list podmigrationjobs"}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := evictionCluster()
			tc.server(server)
			golden(t, "explain-eviction/"+name, tc.line, run(t, server, tc.line))
		})
	}
}
