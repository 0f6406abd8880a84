package frameworkext

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// nominations are pods that wait for room on a node.
type nominations struct {
	nobody
	pods map[string][]fwk.PodInfo
}

func (n nominations) NominatedPodsForNode(node string) []fwk.PodInfo { return n.pods[node] }

func wrapDefaults(t testing.TB, nominated nominations, pods []*corev1.Pod, nodes []*corev1.Node) *Framework {
	t.Helper()
	return wrapSnapshot(t, nominated, internalcache.NewSnapshot(pods, nodes))
}

// wrapSnapshot wraps a profile of the default plugins.
func wrapSnapshot(t testing.TB, nominated nominations, snapshot *internalcache.Snapshot) *Framework {
	t.Helper()
	metrics.Register()
	client, plugins := fake.NewClientset(), defaults.PluginsV1.DeepCopy()
	// Claims need a manager that only a whole scheduler has.
	plugins.MultiPoint.Enabled = slices.DeleteFunc(plugins.MultiPoint.Enabled, func(p config.Plugin) bool { return p.Name == names.DynamicResources })
	inner, err := frameworkruntime.NewFramework(t.Context(), frameworkplugins.NewInTreeRegistry(),
		&config.KubeSchedulerProfile{SchedulerName: "s", Plugins: plugins, PluginConfig: defaults.PluginConfigsV1},
		frameworkruntime.WithSnapshotSharedLister(snapshot), frameworkruntime.WithPodNominator(nominated),
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return Wrap(inner, nil, nil)
}

func randomNode(random *rand.Rand, name string) *corev1.Node {
	node := nodeOf(name).Node()
	node.Labels = map[string]string{"zone": fmt.Sprint(random.IntN(2))}
	node.Spec.Unschedulable = random.IntN(5) == 0
	if random.IntN(3) == 0 {
		node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}}
	}
	node.Status.Allocatable = corev1.ResourceList{"cpu": *resource.NewQuantity(random.Int64N(4), resource.DecimalSI), "pods": resource.MustParse("3")}
	return node
}

func randomPod(random *rand.Rand, name string) *corev1.Pod {
	pod := podOf(name)
	pod.Spec.Priority = new(random.Int32N(2))
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": *resource.NewQuantity(random.Int64N(3), resource.DecimalSI)},
	}}}
	if random.IntN(3) == 0 {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	}
	if random.IntN(3) == 0 {
		pod.Spec.NodeSelector = map[string]string{"zone": "1"}
	}
	if random.IntN(2) == 0 {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	return pod
}

// TestNodesAreFilteredAsTheFrameworkDoes compares every verdict with that of the framework itself.
func TestNodesAreFilteredAsTheFrameworkDoes(t *testing.T) {
	refusals := map[string]int{}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		var nodes []*corev1.Node
		var bound []*corev1.Pod
		nominated := nominations{pods: map[string][]fwk.PodInfo{}}
		for i := range 8 {
			nodes = append(nodes, randomNode(random, fmt.Sprint("node-", i)))
			pod := randomPod(random, fmt.Sprint("bound-", i))
			pod.Spec.NodeName = nodes[i].Name
			bound = append(bound, pod)
			if waiting, err := framework.NewPodInfo(randomPod(random, fmt.Sprint("nominated-", i))); err == nil && random.IntN(3) == 0 {
				nominated.pods[nodes[i].Name] = []fwk.PodInfo{waiting}
			}
		}
		wrapped := wrapDefaults(t, nominated, bound, nodes)
		if len(wrapped.filters) == 0 {
			t.Fatal("the framework hands out no filters")
		}
		for i := range 10 {
			for name, count := range compareVerdicts(t, wrapped, randomPod(random, fmt.Sprint("pod-", i))) {
				refusals[name] += count
			}
		}
	}
	for _, name := range []string{"NodeResourcesFit", "NodePorts", "NodeAffinity", "TaintToleration", "NodeUnschedulable", ""} {
		if refusals[name] == 0 {
			t.Errorf("no verdict of plugin %q was compared: %v", name, refusals)
		}
	}
}

// verdict is what a status says.
type verdict struct {
	Code    fwk.Code
	Plugin  string
	Reasons []string
}

func verdictOf(status *fwk.Status) verdict {
	if status == nil {
		return verdict{}
	}
	return verdict{Code: status.Code(), Plugin: status.Plugin(), Reasons: status.Reasons()}
}

// compareVerdicts returns how often each plugin refused a node; nodes that pass count for "".
func compareVerdicts(t *testing.T, wrapped *Framework, pod *corev1.Pod) map[string]int {
	t.Helper()
	counts := map[string]int{}
	state := framework.NewCycleState()
	if _, status, _ := wrapped.RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
		return nil
	}
	nodes, err := wrapped.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		want := wrapped.Framework.RunFilterPluginsWithNominatedPods(t.Context(), state, pod, node)
		got := wrapped.RunFilterPluginsWithNominatedPods(t.Context(), state, pod, node)
		if !cmp.Equal(verdictOf(want), verdictOf(got)) {
			t.Errorf("node %s, pod %s: %v, want %v", node.Node().Name, pod.Name, verdictOf(got), verdictOf(want))
		}
		counts[verdictOf(got).Plugin]++
	}
	return counts
}

func BenchmarkFilter(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 0))
	node := randomNode(random, "node")
	node.Status.Allocatable["cpu"] = resource.MustParse("8")
	node.Spec.Unschedulable, node.Spec.Taints = false, nil
	pod := podOf("p")
	wrapped, state := wrapDefaults(b, nominations{}, nil, []*corev1.Node{node}), framework.NewCycleState()
	wrapped.RunPreFilterPlugins(b.Context(), state, pod)
	info, err := wrapped.SnapshotSharedLister().NodeInfos().Get("node")
	if err != nil {
		b.Fatal(err)
	}
	for name, run := range map[string]func(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) *fwk.Status{
		"the framework": wrapped.Framework.RunFilterPluginsWithNominatedPods, "wrapped": wrapped.RunFilterPluginsWithNominatedPods,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if status := run(b.Context(), state, pod, info); !status.IsSuccess() {
					b.Fatal(status)
				}
			}
		})
	}
}
