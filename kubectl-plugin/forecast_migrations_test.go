package kubectlplugin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

const deschedulerConfig = `apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
deschedulingInterval: 1m
profiles:
- name: koord-descheduler
  plugins:
    balance:
      enabled: [{name: LowNodeLoad}]
  pluginConfig:
  - name: MigrationController
    args: {evictLocalStoragePods: false}
  - name: LowNodeLoad
    args:
      lowThresholds: {cpu: 30, memory: 60}
      highThresholds: {cpu: 70, memory: 80}
      anomalyCondition: {consecutiveAbnormalities: 1}
`

// skewedCluster has an overutilized node with four pods, one of them with local storage, an underutilized one, and one whose load is not known.
func skewedCluster() *livetest.Server {
	server := &livetest.Server{
		Nodes: []corev1.Node{makeNode("hot"), makeNode("idle"), makeNode("stale")},
	}
	var used []*slov1alpha1.PodMetricInfo
	for _, name := range []string{"web-0", "web-1", "web-2", "cache"} {
		pod := makePod("shop", name, "hot", list("cpu", "4", "memory", "8Gi"))
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)}}
		if name == "cache" {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}
		server.Pods = append(server.Pods, pod)
		used = append(used, &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "6", "memory", "4Gi")}})
	}
	server.Metrics = []slov1alpha1.NodeMetric{
		makeMetric("hot", 20*time.Second, "25", "20Gi", used...), makeMetric("idle", 30*time.Second, "1", "5Gi"), makeMetric("stale", time.Hour, "1", "5Gi"),
	}
	server.ConfigMaps = []corev1.ConfigMap{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-descheduler-config"}, Data: map[string]string{"koord-descheduler-config": deschedulerConfig},
	}}
	return server
}

// configured replaces a text in the configuration of the descheduler.
func configured(s *livetest.Server, old, with string) {
	s.ConfigMaps[0].Data["koord-descheduler-config"] = strings.Replace(deschedulerConfig, old, with, 1)
}

// capped allows no eviction.
func capped(s *livetest.Server) {
	text := s.ConfigMaps[0].Data["koord-descheduler-config"]
	s.ConfigMaps[0].Data["koord-descheduler-config"] = strings.Replace(text, "profiles:", "maxNoOfPodsToEvictTotal: 0\nprofiles:", 1)
}

// rebalancing replaces the plugin by LoadAwareRebalancing with arguments.
func rebalancing(s *livetest.Server, args string) {
	configured(s, "[{name: LowNodeLoad}]", "[{name: LoadAwareRebalancing}]")
	s.ConfigMaps[0].Data["koord-descheduler-config"] += "  - name: LoadAwareRebalancing\n    args: " + args + "\n"
}

// inCircles are jobs that moved pods of a workload from a node to another one and back.
func inCircles(workload, from, to string) map[string]runtime.Object {
	jobs := &schedulingv1alpha1.PodMigrationJobList{}
	for i, nodes := range [][2]string{{from, to}, {to, from}} {
		job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
			Name: "to-" + nodes[1], CreationTimestamp: metav1.NewTime(testNow.Add(time.Duration(i-2) * time.Hour)),
			Annotations: map[string]string{extension.AnnotationSourceNode: nodes[0], extension.AnnotationSourceWorkload: workload},
		}}
		job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-before"}
		job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, nodes[1]
		jobs.Items = append(jobs.Items, job)
	}
	return map[string]runtime.Object{"podmigrationjobs": jobs}
}

// counted makes five overutilized rounds in a row necessary, of which koord-descheduler counted four.
func counted(s *livetest.Server) {
	configured(s, "consecutiveAbnormalities: 1", "consecutiveAbnormalities: 4")
	text := func(saved time.Duration, abnormalities int) string {
		at := func(ago time.Duration) string { return testNow.Add(-ago).UTC().Format(time.RFC3339) }
		return fmt.Sprintf(`{"savedAt":%q,"history":{"nodes":{"hot":{"pool":"__default_node_pool__","node":{"abnormalities":%d},"observedAt":%q}}}}`,
			at(saved), abnormalities, at(30*time.Second))
	}
	s.ConfigMaps = append(s.ConfigMaps, corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-descheduler-history"}, Data: map[string]string{
			"0-LowNodeLoad-0a1b2c3d": text(30*time.Second, 4), "0-LowNodeLoad-ffffffff": text(time.Hour, 1), "1-LowNodeLoad-0a1b2c3d": text(0, 1), "other": "{",
		},
	})
}

func TestForecastMigrations(t *testing.T) {
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"moves":      {"forecast migrations --rounds 2", func(*livetest.Server) {}},
		"moves-wide": {"forecast migrations --rounds 2 -o wide", func(*livetest.Server) {}},
		"moves-json": {"forecast migrations --rounds 1 -o json", func(*livetest.Server) {}},
		"moves-name": {"forecast migrations -o name", func(*livetest.Server) {}},
		"dry-run": {"forecast migrations", func(s *livetest.Server) {
			configured(s, "deschedulingInterval: 1m", "deschedulingInterval: 1m\ndryRun: true")
		}},
		"limit-per-node": {"forecast migrations --rounds 2 -o wide", func(s *livetest.Server) {
			configured(s, "deschedulingInterval: 1m", "deschedulingInterval: 1m\nmaxNoOfPodsToEvictPerNode: 0")
		}},
		"not-overutilized":   {"forecast migrations", func(s *livetest.Server) { configured(s, "cpu: 70", "cpu: 90") }},
		"none-underutilized": {"forecast migrations", func(s *livetest.Server) { s.Nodes[1].Spec.Unschedulable = true }},
		"not-anomalous-yet":  {"forecast migrations --rounds 2", func(s *livetest.Server) { configured(s, "consecutiveAbnormalities: 1", "consecutiveAbnormalities: 4") }},
		"counted-before":     {"forecast migrations --rounds 1", counted},
		"paused":             {"forecast migrations", func(s *livetest.Server) { configured(s, "lowThresholds", "paused: true\n      lowThresholds") }},
		"other-plugin":       {"forecast migrations", func(s *livetest.Server) { configured(s, "[{name: LowNodeLoad}]", "[{name: RemoveDuplicates}]") }},
		"no-configuration":   {"forecast migrations", func(s *livetest.Server) { s.ConfigMaps = nil }},
		"bad-configuration":  {"forecast migrations --strict", func(s *livetest.Server) { configured(s, "cpu: 70", "cpu: 170") }},
		"no-metrics":         {"forecast migrations", func(s *livetest.Server) { s.NoCRDs = true }},
		"metrics-denied": {"forecast migrations", func(s *livetest.Server) {
			s.Denied = []string{"list nodemetrics", "list podmigrationjobs", "get configmaps"}
		}},
		"pods-denied":         {"forecast migrations", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"a-node-is-not-ready": {"forecast migrations", func(s *livetest.Server) { s.Nodes[2].Status.Conditions[0].Status = corev1.ConditionFalse }},
		"rounds-out-of-range": {"forecast migrations --rounds 0", func(*livetest.Server) {}},
		"rebalance":           {"forecast migrations --rounds 2", func(s *livetest.Server) { configured(s, "[{name: LowNodeLoad}]", "[{name: LoadAwareRebalancing}]") }},
		"rebalance-wide":      {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) { configured(s, "[{name: LowNodeLoad}]", "[{name: LoadAwareRebalancing}]") }},
		"rebalance-limits": {"forecast migrations --rounds 1", func(s *livetest.Server) {
			configured(s, "[{name: LowNodeLoad}]", "[{name: LoadAwareRebalancing}]")
			capped(s)
		}},
		"rebalance-refused": {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) {
			rebalancing(s, "{}")
			s.Diagnostics = placing{"web-0": "another scheduler"}
		}},
		"rebalance-in-circles": {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) {
			rebalancing(s, "{}")
			s.Lists = inCircles("ReplicaSet/web/web", "hot", "idle")
		}},
		"in-circles":            {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) { s.Lists = inCircles("ReplicaSet/web/web", "hot", "idle") }},
		"rebalance-paused":      {"forecast migrations", func(s *livetest.Server) { rebalancing(s, "{paused: true}") }},
		"rebalance-as-upstream": {"forecast migrations", func(s *livetest.Server) { rebalancing(s, "{mode: Upstream}") }},
		"rebalance-bad":         {"forecast migrations", func(s *livetest.Server) { rebalancing(s, "{targetMarginPercent: 90}") }},
		"rebalance-cool":        {"forecast migrations", func(s *livetest.Server) { rebalancing(s, "{highThresholds: {cpu: 95}, costWeight: 1}") }},
		"rebalance-full-for-the-scheduler": {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) {
			rebalancing(s, "{varianceWeight: 0}")
			s.ConfigMaps = append(s.ConfigMaps, corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-scheduler-config"}, Data: map[string]string{"koord-scheduler-config": `
kind: KubeSchedulerConfiguration
profiles: [{pluginConfig: [{name: LoadAwareScheduling, args: {usageThresholds: {cpu: 15}}}]}]`},
			})
		}},
		"without-node-fit": {"forecast migrations --rounds 1", func(s *livetest.Server) { configured(s, "lowThresholds", "nodeFit: false\n      lowThresholds") }},
		"a-second-node-fits": {"forecast migrations --rounds 1 -o wide", func(s *livetest.Server) {
			s.Nodes = append(s.Nodes, makeNode("spare"))
			s.Metrics = append(s.Metrics, makeMetric("spare", 30*time.Second, "2", "5Gi"))
		}},
		"a-pod-is-leaving": {"forecast migrations --rounds 1", func(s *livetest.Server) {
			s.Lists = map[string]runtime.Object{"podmigrationjobs": &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{{
				ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: "web-0"}},
			}}}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := skewedCluster()
			tc.server(server)
			golden(t, "forecast-migrations/"+name, tc.line, run(t, server, tc.line))
		})
	}
	t.Run("terminal", func(t *testing.T) {
		line := "forecast migrations --ascii"
		golden(t, "forecast-migrations/terminal", line, run(t, skewedCluster(), line, func(o *Options) { o.Terminal = Terminal{Output: true, Width: 120} }))
	})
}
