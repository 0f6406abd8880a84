package kubectlplugin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// placing answers reviews of placements: the pods that it names get a node, the others none.
type placing map[string]string

func (p placing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &diagnosticsv1alpha1.PlacementReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || !strings.HasSuffix(r.URL.Path, "/placementreviews") {
		http.NotFound(w, r)
		return
	}
	review.Status.Origin.Leader = true
	for _, asked := range review.Spec.Pods {
		placement := diagnosticsv1alpha1.PodPlacement{Namespace: asked.Namespace, Name: asked.Name, Verdict: diagnosticsv1alpha1.PlacementNone, Summary: "0/2 nodes are available: 2 Insufficient cpu."}
		switch node := p[asked.Name]; node {
		case "":
		case "another scheduler":
			placement.Verdict, placement.Summary = diagnosticsv1alpha1.PlacementOtherScheduler, `scheduler "default-scheduler" is not a profile of koord-scheduler`
		case "gone":
			placement.Verdict, placement.Summary = diagnosticsv1alpha1.PlacementGone, "the pod does not exist"
		default:
			placement.Verdict, placement.Node, placement.Summary = diagnosticsv1alpha1.PlacementFound, node, "1/2 nodes are available, "+node+" is taken"
		}
		review.Status.Placements = append(review.Status.Placements, placement)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func replicated(pod corev1.Pod, apiVersion, kind, owner string) corev1.Pod {
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner, UID: "owner", Controller: new(true)}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

// drainedCluster has a node with pods of every kind that drain tells apart, and two others.
func drainedCluster() *livetest.Server {
	web := func(name string) corev1.Pod {
		pod := replicated(makePod("shop", name, "worker-1", list("cpu", "4", "memory", "8Gi")), "apps/v1", "ReplicaSet", "web")
		pod.Labels = map[string]string{"app": "web"}
		return pod
	}
	executor := replicated(makePod("spark", "executor-1", "worker-1", list("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "4Gi")), "batch/v1", "Job", "executor")
	executor.Labels = map[string]string{"koordinator.sh/qosClass": "BE", "pod-group.scheduling.sigs.k8s.io": "etl", "quota.scheduling.koordinator.sh/name": "analytics"}
	executor.Spec.Priority = new(int32(5500))
	agent := replicated(makePod("kube-system", "agent-x", "worker-1", list("cpu", "100m")), "apps/v1", "DaemonSet", "agent")
	static := makePod("kube-system", "static-x", "worker-1", list("cpu", "100m"))
	static.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	bare := makePod("shop", "shell", "worker-1", list("cpu", "500m"))
	cache := web("cache")
	cache.Labels = nil
	cache.Annotations = map[string]string{"scheduling.koordinator.sh/reservation-allocated": `{"name":"held","uid":"r1"}`}
	cache.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	done := replicated(makePod("spark", "executor-0", "worker-1", list("kubernetes.io/batch-cpu", "2000")), "batch/v1", "Job", "executor")
	done.Status.Phase = corev1.PodSucceeded
	use := func(name, cpu, memory string) *slov1alpha1.PodMetricInfo {
		return &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", cpu, "memory", memory)}}
	}
	return &livetest.Server{
		Nodes: []corev1.Node{makeNode("worker-1"), makeNode("worker-2"), makeNode("worker-3")},
		Pods: []corev1.Pod{web("web-0"), web("web-1"), web("web-2"), cache, executor, agent, static, bare, done,
			replicated(makePod("shop", "api-0", "worker-2", list("cpu", "10", "memory", "16Gi")), "apps/v1", "StatefulSet", "api")},
		Metrics: []slov1alpha1.NodeMetric{
			makeMetric("worker-1", 42*time.Second, "6", "20Gi", use("web-0", "812m", "3Gi"), use("web-1", "700m", "3Gi"), use("web-2", "600m", "2Gi"), use("cache", "300m", "4Gi")),
			makeMetric("worker-2", 30*time.Second, "4", "12Gi"), makeMetric("worker-3", 20*time.Second, "1", "3Gi"),
		},
		Reservations: []schedulingv1alpha1.Reservation{{
			ObjectMeta: metav1.ObjectMeta{Name: "held", UID: "r1"},
			Status:     schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "worker-1", Allocatable: list("cpu", "8", "memory", "16Gi")},
		}},
		Lists: map[string]runtime.Object{
			"poddisruptionbudgets": &policyv1.PodDisruptionBudgetList{Items: []policyv1.PodDisruptionBudget{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
				Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
				Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 2, CurrentHealthy: 5, DesiredHealthy: 3, ExpectedPods: 5},
			}}},
			"podgroups": &schedulingsigsv1alpha1.PodGroupList{Items: []schedulingsigsv1alpha1.PodGroup{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "etl"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 1},
			}}},
			"elasticquotas": &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "analytics", Annotations: map[string]string{
					"quota.scheduling.koordinator.sh/runtime": `{"kubernetes.io/batch-cpu":"1000"}`,
				}},
				Spec:   schedulingsigsv1alpha1.ElasticQuotaSpec{Max: list("kubernetes.io/batch-cpu", "8000"), Min: list("kubernetes.io/batch-cpu", "1000")},
				Status: schedulingsigsv1alpha1.ElasticQuotaStatus{Used: list("kubernetes.io/batch-cpu", "2000")},
			}}},
		},
		Diagnostics: placing{"web-0": "worker-2", "web-1": "worker-3", "web-2": "worker-3", "cache": "worker-3", "executor-1": "worker-2"},
	}
}

// budgetOf is the only budget of a server.
func budgetOf(s *livetest.Server) *policyv1.PodDisruptionBudget {
	return &s.Lists["poddisruptionbudgets"].(*policyv1.PodDisruptionBudgetList).Items[0]
}

func TestWhatifDrain(t *testing.T) {
	same := func(*livetest.Server) {}
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"completes":       {"whatif drain worker-1", same},
		"completes-wide":  {"whatif drain worker-1 -o wide", same},
		"completes-json":  {"whatif drain worker-1 -o json", same},
		"completes-yaml":  {"whatif drain worker-3 -o yaml", same},
		"completes-name":  {"whatif drain worker-1 -o name", same},
		"fail-on-warning": {"whatif drain worker-1 --fail-on=warning --no-headers", same},
		"fail-on-error":   {"whatif drain worker-2 --fail-on=error", func(s *livetest.Server) { s.Diagnostics = placing{"api-0": "worker-3"} }},
		"sorted":          {"whatif drain node/worker-1 --sort-by memory-request", same},
		"empty-node":      {"whatif drain worker-3", same},
		"unplaced": {"whatif drain worker-1 --fail-on=error", func(s *livetest.Server) {
			delete(s.Diagnostics.(placing), "cache")
			delete(s.Diagnostics.(placing), "executor-1")
		}},
		"unplaced-holds-up-others": {"whatif drain worker-1", func(s *livetest.Server) {
			budgetOf(s).Status.DisruptionsAllowed = 1
			delete(s.Diagnostics.(placing), "web-0")
		}},
		"blocked": {"whatif drain worker-1 --fail-on=error", func(s *livetest.Server) {
			budgetOf(s).Status = policyv1.PodDisruptionBudgetStatus{CurrentHealthy: 5, DesiredHealthy: 5, ExpectedPods: 5}
		}},
		"blocked-for-now": {"whatif drain worker-1", func(s *livetest.Server) {
			budgetOf(s).Status = policyv1.PodDisruptionBudgetStatus{CurrentHealthy: 3, DesiredHealthy: 3, ExpectedPods: 5}
		}},
		"another-scheduler": {"whatif drain worker-1", func(s *livetest.Server) {
			s.Diagnostics.(placing)["web-0"], s.Diagnostics.(placing)["web-1"] = "another scheduler", "gone"
		}},
		"tolerates-cordons": {"whatif drain worker-1", func(s *livetest.Server) {
			s.Pods[0].Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}},
		"pool":          {"whatif drain -l pool=old", func(s *livetest.Server) { s.Nodes[0].Labels["pool"], s.Nodes[1].Labels["pool"] = "old", "old" }},
		"pool-of-none":  {"whatif drain -l pool=none", same},
		"no-scheduler":  {"whatif drain worker-1", func(s *livetest.Server) { s.Diagnostics = nil }},
		"strict":        {"whatif drain worker-1 --strict -o name", func(s *livetest.Server) { s.Diagnostics = nil }},
		"review-denied": {"whatif drain worker-1", func(s *livetest.Server) { s.Denied = []string{"create placementreviews"} }},
		"reading-denied": {"whatif drain worker-1", func(s *livetest.Server) {
			s.Denied = []string{"list poddisruptionbudgets", "list nodemetrics", "list elasticquotas", "list podgroups", "list reservations"}
		}},
		"pods-denied":  {"whatif drain worker-1", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"nodes-denied": {"whatif drain worker-1", func(s *livetest.Server) { s.Denied = []string{"list nodes"} }},
		"no-crds":      {"whatif drain worker-1", func(s *livetest.Server) { s.NoCRDs, s.Lists = true, nil }},
		"unknown-node": {"whatif drain worker-9", same},
		"no-node":      {"whatif drain", same},
		"both":         {"whatif drain worker-1 -l pool=old", same},
		"bad-selector": {"whatif drain -l pool=(", same},
		"bad-order":    {"whatif drain worker-1 --sort-by size", same},
		"hostile": {"whatif drain worker-1", func(s *livetest.Server) {
			s.Pods[0].Name = "web\x1b[31m\u202e0"
			s.Diagnostics = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(&diagnosticsv1alpha1.PlacementReview{Status: diagnosticsv1alpha1.PlacementReviewStatus{Placements: []diagnosticsv1alpha1.PodPlacement{
					{Namespace: "shop", Name: "cache", Verdict: diagnosticsv1alpha1.PlacementFound, Node: "no\x1b]0;such\x07 node"},
					{Namespace: "no", Name: "such-pod", Verdict: diagnosticsv1alpha1.PlacementFound, Node: "worker-2"},
					{Namespace: "shop", Name: "web-1", Verdict: "Strange", Summary: "a\nline\x1b[2J"},
				}}})
			})
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := drainedCluster()
			tc.server(server)
			golden(t, "whatif-drain/"+name, tc.line, run(t, server, tc.line))
		})
	}
	t.Run("terminal", func(t *testing.T) {
		line := "whatif drain worker-1 --ascii"
		golden(t, "whatif-drain/terminal", line, run(t, drainedCluster(), line, func(o *Options) { o.Terminal = Terminal{Output: true, Width: 100} }))
	})
}
