package deviceshare

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
)

// TestCycleOfAFramework runs a pod through the extension points as the scheduler does, up to its binding.
func TestCycleOfAFramework(t *testing.T) {
	metrics.Register()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	state := newMemory()
	full, empty := newNode("full"), newNode("empty")
	for _, node := range []*corev1.Node{full, empty} {
		state.devices[node.Name] = device.DecodeNode(newDevice(node.Name))
	}
	holder := newPod("holder", "nvidia.com/gpu", "8")
	holder.Spec.NodeName = "full"
	holder.Annotations[extension.AnnotationDeviceAllocated] = allGPUs
	pod := newPod("pod", "nvidia.com/gpu", "2")
	client := fake.NewClientset(pod)
	snapshot := cache.NewSnapshot([]*corev1.Pod{holder}, []*corev1.Node{full, empty})
	built := newFramework(ctx, t, state, client, snapshot)

	nodes, err := snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	cycleState := framework.NewCycleState()
	if _, status, _ := built.RunPreFilterPlugins(ctx, cycleState, pod); !status.IsSuccess() {
		t.Fatal(status)
	}
	var feasible []fwk.NodeInfo
	for _, info := range nodes {
		if built.RunFilterPlugins(ctx, cycleState, pod, info).IsSuccess() {
			feasible = append(feasible, info)
		}
	}
	if len(feasible) != 1 || feasible[0].Node().Name != "empty" {
		t.Fatalf("feasible %v", feasible)
	}
	if status := built.RunPreScorePlugins(ctx, cycleState, pod, feasible); !status.IsSuccess() {
		t.Fatal(status)
	}
	scores, status := built.RunScorePlugins(ctx, cycleState, pod, feasible)
	if !status.IsSuccess() || scores[0].TotalScore <= 0 {
		t.Fatalf("scores %v, %v", scores, status)
	}
	if status := built.RunReservePluginsReserve(ctx, cycleState, pod, "empty"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := built.RunPreBindPreFlights(ctx, cycleState, pod, "empty"); !status.IsSkip() {
		t.Fatal(status)
	}
	if status := built.RunPreBindPlugins(ctx, cycleState, pod, "empty"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := built.RunBindPlugins(ctx, cycleState, pod, "empty"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if minors := boundAnnotations(t, client)[extension.AnnotationGPUMinors]; minors != "0,1" {
		t.Errorf("bound with minors %q", minors)
	}
}

// boundAnnotations are those that the Binding carried.
func boundAnnotations(t *testing.T, client *fake.Clientset) map[string]string {
	t.Helper()
	for _, action := range client.Actions() {
		if creation, ok := action.(clienttesting.CreateAction); ok {
			if binding, ok := creation.GetObject().(*corev1.Binding); ok {
				return binding.Annotations
			}
		}
	}
	t.Fatal("there is no Binding")
	return nil
}

func newFramework(ctx context.Context, t *testing.T, state State, client *fake.Clientset, snapshot *cache.Snapshot) framework.Framework {
	t.Helper()
	registry := frameworkruntime.Registry{
		Name: Factory(state, NewHooks(), nil), defaultprebind.Name: defaultprebind.New,
		queuesort.Name: func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return queuesort.New(ctx, nil, handle)
		},
	}
	only := func(names ...string) config.PluginSet {
		set := config.PluginSet{}
		for _, name := range names {
			set.Enabled = append(set.Enabled, config.Plugin{Name: name, Weight: 1})
		}
		return set
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "koord-scheduler", Plugins: &config.Plugins{
		QueueSort: only(queuesort.Name), PreFilter: only(Name), Filter: only(Name), PreScore: only(Name), Score: only(Name), Reserve: only(Name),
		PreBind: only(Name, defaultprebind.Name), Bind: only(defaultprebind.Name),
	}}
	built, err := frameworkruntime.NewFramework(ctx, registry, profile,
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)), frameworkruntime.WithSnapshotSharedLister(snapshot), frameworkruntime.WithClientSet(client))
	if err != nil {
		t.Fatal(err)
	}
	return built
}
