package framework_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func restarts(count int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: count}}
	}
}

func failed(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }

func zone(name string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = name }
}

func tainted(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoSchedule}}
}

func required(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}},
		}}}
	}
}

// apart has anti-affinity to pods with the label app=cache on its node.
func apart(p *corev1.Pod) {
	labelled("app", "cache")(p)
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}}, TopologyKey: corev1.LabelHostname,
	}}}}
}

// spread asks for a skew of at most one over zones.
func spread(p *corev1.Pod) {
	labelled("app", "web")(p)
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
}

// TestPluginsOfTheSigsDeschedulerRunUnchanged has a situation for each of the eleven plugins: what it evicts becomes migration jobs.
func TestPluginsOfTheSigsDeschedulerRunUnchanged(t *testing.T) {
	tests := map[string]struct {
		objects []runtime.Object
		config  string
		want    map[string]string
		// wantOneOf is for plugins that choose among equal pods.
		wantOneOf []string
	}{
		"RemoveFailedPods removes what has failed": {
			objects: objects(node("a"), node("b"), pod("crashed", "a", failed), pod("fine", "a")),
			config:  profileOf("deschedule", "RemoveFailedPods", "{}"),
			want:    triggers("RemoveFailedPods", "crashed"),
		},
		"RemovePodsHavingTooManyRestarts removes what keeps restarting": {
			objects: objects(node("a"), node("b"), pod("restless", "a", restarts(12)), pod("calm", "a", restarts(2))),
			config:  profileOf("deschedule", "RemovePodsHavingTooManyRestarts", "{podRestartThreshold: 10}"),
			want:    triggers("RemovePodsHavingTooManyRestarts", "restless"),
		},
		"PodLifeTime removes what has run for long": {
			objects: objects(node("a"), node("b"), pod("old", "a"), pod("new", "a", func(p *corev1.Pod) { p.CreationTimestamp = metav1.Now() })),
			config:  profileOf("deschedule", "PodLifeTime", "{maxPodLifeTimeSeconds: 600}"),
			want:    triggers("PodLifeTime", "old"),
		},
		"RemovePodsViolatingNodeTaints removes what does not tolerate a new taint": {
			objects: objects(node("a", tainted), node("b"), pod("intolerant", "a"), pod("tolerant", "a", func(p *corev1.Pod) {
				p.Spec.Tolerations = []corev1.Toleration{{Key: "maintenance", Operator: corev1.TolerationOpExists}}
			})),
			config: profileOf("deschedule", "RemovePodsViolatingNodeTaints", "{}"),
			want:   triggers("RemovePodsViolatingNodeTaints", "intolerant"),
		},
		"RemovePodsViolatingNodeAffinity removes what another node fits": {
			objects: objects(node("a", zone("east")), node("b", zone("west")), pod("western", "a", required(corev1.LabelTopologyZone, "west")), pod("eastern", "a", required(corev1.LabelTopologyZone, "east"))),
			config:  profileOf("deschedule", "RemovePodsViolatingNodeAffinity", "{nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}"),
			want:    triggers("RemovePodsViolatingNodeAffinity", "western"),
		},
		"RemovePodsViolatingInterPodAntiAffinity separates pods that shall be apart": {
			objects:   objects(node("a"), node("b"), pod("cache-1", "a", apart), pod("cache-2", "a", apart), pod("web", "a")),
			config:    profileOf("deschedule", "RemovePodsViolatingInterPodAntiAffinity", "{}"),
			wantOneOf: []string{"default/cache-1", "default/cache-2"},
		},
		"RemoveDuplicates spreads replicas that share a node": {
			objects:   objects(node("a"), node("b"), pod("web-1", "a", ownedBy("web")), pod("web-2", "a", ownedBy("web")), pod("other", "a")),
			config:    profileOf("balance", "RemoveDuplicates", "{}"),
			wantOneOf: []string{"default/web-1", "default/web-2"},
		},
		"RemovePodsViolatingTopologySpreadConstraint levels zones": {
			objects: objects(
				node("a", zone("east")), node("b", zone("west")),
				pod("web-1", "a", spread), pod("web-2", "a", spread), pod("web-3", "a", spread),
			),
			config:    profileOf("balance", "RemovePodsViolatingTopologySpreadConstraint", "{constraints: [DoNotSchedule]}"),
			wantOneOf: []string{"default/web-1", "default/web-2", "default/web-3"},
		},
		"LowNodeUtilization moves pods from full nodes to empty ones": {
			objects: objects(
				node("full"), node("empty"),
				pod("p-1", "full"), pod("p-2", "full"), pod("p-3", "full"), pod("p-4", "full"), pod("p-5", "full"), pod("p-6", "full"),
			),
			config:    profileOf("balance", "LowNodeUtilization", "{thresholds: {cpu: 20}, targetThresholds: {cpu: 70}, evictionLimits: {node: 1}}"),
			wantOneOf: []string{"default/p-1", "default/p-2", "default/p-3", "default/p-4", "default/p-5", "default/p-6"},
		},
		"HighNodeUtilization empties nodes that do little": {
			objects: objects(
				node("busy"), node("idle"),
				pod("p-1", "busy"), pod("p-2", "busy"), pod("p-3", "busy"), pod("p-4", "busy"), pod("lonely", "idle"),
			),
			config: profileOf("balance", "HighNodeUtilization", "{thresholds: {cpu: 20}}"),
			want:   triggers("HighNodeUtilization", "lonely"),
		},
		"DefaultEvictor keeps what it protects": {
			objects: objects(node("a"), node("b"), pod("plain", "a"), pod("scratch", "a", func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			}), pod("critical", "a", func(p *corev1.Pod) { highest := int32(2_000_000_000); p.Spec.Priority = &highest })),
			config: "profiles: [{plugins: {deschedule: {enabled: [{name: PodLifeTime}]}, filter: {enabled: [{name: DefaultEvictor}]}}, pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 600}}]}]",
			want:   triggers("PodLifeTime", "plain"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := cluster{objects: test.objects, config: test.config}.start(t)
			pass := s.pass(t)
			got := s.migrating(t)
			if test.wantOneOf != nil {
				chosen := sortedKeys(got)
				if len(chosen) != 1 || !slices.Contains(test.wantOneOf, chosen[0]) {
					t.Fatalf("migrating are %v, want one of %v; the pass is %+v", chosen, test.wantOneOf, pass)
				}
			} else if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatalf("migrating (-want +got):\n%s\nthe pass is %+v", diff, pass)
			}
			for _, action := range s.kube.Actions() {
				if action.GetSubresource() == "eviction" || action.GetVerb() == "delete" {
					t.Errorf("pods were evicted past the jobs: %v", action)
				}
			}
			// What leaves already is as good as gone: the next pass finds nothing to do.
			if again := s.pass(t); len(again.Evictions) != 0 {
				t.Errorf("the next pass evicts %+v", again.Evictions)
			}
		})
	}
}
