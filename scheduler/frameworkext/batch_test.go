package frameworkext

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// turn schedules pods one after the other, as the scheduler does.
type turn struct {
	cache    internalcache.Cache
	snapshot *internalcache.Snapshot
	wrapped  *Framework
	cycle    int64
	hints    int
}

func newTurn(t *testing.T, nodes []*corev1.Node) *turn {
	t.Helper()
	metrics.Register() // before the cache, which counts by them
	s := &turn{cache: internalcache.New(t.Context(), nil, false), snapshot: internalcache.NewEmptySnapshot()}
	for _, node := range nodes {
		s.cache.AddNode(klog.Background(), node)
	}
	s.wrapped = wrapSnapshot(t, nominations{}, s.snapshot)
	if s.wrapped.batch == nil {
		t.Fatal("the default plugins do not let pods be batched")
	}
	return s
}

// place adds a pod that has a node.
func (s *turn) place(t *testing.T, pod *corev1.Pod, node string) {
	t.Helper()
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	if err := s.cache.AddPod(klog.Background(), placed); err != nil {
		t.Fatal(err)
	}
}

// search is what the framework itself finds for a pod.
func (s *turn) search(t *testing.T, state fwk.CycleState, pod *corev1.Pod, runner framework.Framework) []fwk.NodePluginScores {
	t.Helper()
	all, err := s.snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	var feasible []fwk.NodeInfo
	for _, info := range all {
		if runner.RunFilterPluginsWithNominatedPods(t.Context(), state, pod, info).IsSuccess() {
			feasible = append(feasible, info)
		}
	}
	if len(feasible) == 0 {
		return nil
	}
	if status := runner.RunPreScorePlugins(t.Context(), state, pod, feasible); !status.IsSuccess() {
		t.Fatal(status)
	}
	scores, status := runner.RunScorePlugins(t.Context(), state, pod, feasible)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	slices.SortFunc(scores, func(a, b fwk.NodePluginScores) int { return int(b.TotalScore - a.TotalScore) })
	return scores
}

// others is what the scheduler hands over besides the chosen node.
type others []fwk.NodePluginScores

func (o others) Pop() string { return o[0].Name }
func (o others) Len() int    { return len(o) }

// schedule gives the pod a node and returns that with the hint; both are empty when there is none.
func (s *turn) schedule(t *testing.T, pod *corev1.Pod) (node, hint string) {
	t.Helper()
	if err := s.cache.UpdateSnapshot(klog.Background(), s.snapshot); err != nil {
		t.Fatal(err)
	}
	s.cycle++
	state := framework.NewCycleState()
	if _, status, _ := s.wrapped.RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
		return "", ""
	}
	if hint = s.wrapped.GetNodeHint(t.Context(), pod, nil, state, s.cycle); hint != "" {
		s.hints++
		s.compare(t, pod, hint)
		s.wrapped.StoreScheduleResults(t.Context(), nil, hint, hint, nil, s.cycle)
		s.place(t, pod, hint)
		return hint, hint
	}
	scores := s.search(t, state, pod, s.wrapped)
	if len(scores) == 0 {
		return "", ""
	}
	node = scores[0].Name
	s.wrapped.StoreScheduleResults(t.Context(), nil, "", node, others(scores[1:]), s.cycle)
	s.place(t, pod, node)
	return node, ""
}

// compare checks a hint against a search that the framework makes by itself.
func (s *turn) compare(t *testing.T, pod *corev1.Pod, hint string) {
	t.Helper()
	state, inner := framework.NewCycleState(), s.wrapped.Framework
	inner.RunPreFilterPlugins(t.Context(), state, pod)
	scores := s.search(t, state, pod, inner)
	at := slices.IndexFunc(scores, func(score fwk.NodePluginScores) bool { return score.Name == hint })
	if at < 0 {
		t.Fatalf("pod %s: the hint %s is not feasible", pod.Name, hint)
	}
	if scores[at].TotalScore != scores[0].TotalScore {
		t.Fatalf("pod %s: the hint %s scores %d, node %s scores %d", pod.Name, hint, scores[at].TotalScore, scores[0].Name, scores[0].TotalScore)
	}
}

func clusterOf(random *rand.Rand) []*corev1.Node {
	var nodes []*corev1.Node
	for i := range 6 {
		node := randomNode(random, fmt.Sprint("node-", i))
		node.Status.Allocatable = corev1.ResourceList{
			"cpu": *resource.NewQuantity(1+random.Int64N(8), resource.DecimalSI), "memory": *resource.NewQuantity((2+random.Int64N(20))<<30, resource.BinarySI),
			"pods": resource.MustParse("12"),
		}
		if random.IntN(3) == 0 {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "better-not", Effect: corev1.TaintEffectPreferNoSchedule})
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// TestAHintIsTheNodeThatASearchFinds is what batching must not change: each hint has the highest score that any node has at that
// moment, whatever plugins are normalized by.
func TestAHintIsTheNodeThatASearchFinds(t *testing.T) {
	hints, searched := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newTurn(t, clusterOf(random))
		pod := randomPod(random, "p")
		pod.Labels = map[string]string{"app": "web"}
		pod.Spec.Containers[0].Ports = nil
		if random.IntN(2) == 0 {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 5, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}},
			}}}}
		}
		if random.IntN(2) == 0 {
			s.place(t, attracts(podOf("attracts")), "node-0")
		}
		for i := range 12 {
			pod.Name, pod.UID = fmt.Sprint("pod-", i), ""
			pod.UID = podOf(pod.Name).UID
			if _, hint := s.schedule(t, pod); hint == "" {
				searched++
			}
		}
		hints += s.hints
	}
	if hints < 100 || searched < 60 {
		t.Errorf("%d pods were placed by hints and %d by searches", hints, searched)
	}
}

// attracts makes a pod prefer the company of those of app=web.
func attracts(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
		Weight: 10, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}}}}
	return pod
}

func TestAPodIsSearchedForWhenTheLastSearchDoesNotCount(t *testing.T) {
	tests := map[string]func(s *turn, pod *corev1.Pod){
		"it asks for more": func(_ *turn, pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2")
		},
		"it is of another namespace":       func(_ *turn, pod *corev1.Pod) { pod.Namespace = "other" },
		"it is of another image":           func(_ *turn, pod *corev1.Pod) { pod.Spec.Containers[0].Image = "other" },
		"it takes a port of its node":      func(_ *turn, pod *corev1.Pod) { pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} },
		"it is to be spread":               func(_ *turn, pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = spread },
		"another pod was tried in between": func(s *turn, _ *corev1.Pod) { s.cycle++ },
		"the search was made a while ago": func(s *turn, _ *corev1.Pod) {
			s.wrapped.batch.kept.at = s.wrapped.batch.kept.at.Add(-maxBatchAge - time.Millisecond)
		},
		"the node of the last pod is gone":    func(s *turn, _ *corev1.Pod) { s.wrapped.batch.kept.chosen = "gone" },
		"the taints of the node have changed": func(s *turn, _ *corev1.Pod) { s.wrapped.batch.kept.before["TaintToleration"]++ },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 1))
			nodes := clusterOf(random)
			for _, node := range nodes {
				node.Spec, node.Status.Allocatable["cpu"] = corev1.NodeSpec{}, resource.MustParse("8")
			}
			s := newTurn(t, nodes)
			pod := func(name string) *corev1.Pod {
				pod := podOf(name)
				pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
				return pod
			}
			s.schedule(t, pod("first"))
			if _, hint := s.schedule(t, pod("second")); hint == "" {
				t.Fatal("the second of two equal pods got no hint")
			}
			third := pod("third")
			change(s, third)
			if node, hint := s.schedule(t, third); hint != "" || node == "" {
				t.Errorf("the third got node %q by hint %q, want it searched for", node, hint)
			}
		})
	}
}

var spread = []corev1.TopologySpreadConstraint{{
	MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{},
}}

// TestAHintMayNotBeTaken keeps nothing of a batch whose hint the scheduler did not follow.
func TestAHintMayNotBeTaken(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	s := newTurn(t, clusterOf(random))
	s.schedule(t, podOf("first"))
	state := framework.NewCycleState()
	s.cycle++
	s.wrapped.RunPreFilterPlugins(t.Context(), state, podOf("second"))
	if hint := s.wrapped.GetNodeHint(t.Context(), podOf("second"), nil, state, s.cycle); hint == "" {
		t.Fatal("the second of two equal pods got no hint")
	}
	s.wrapped.StoreScheduleResults(t.Context(), nil, "hint", "another", nil, s.cycle)
	if s.wrapped.batch.kept != nil {
		t.Error("the batch goes on")
	}
}
