package framework_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	coretesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/features"
	sigsprofile "sigs.k8s.io/descheduler/pkg/framework/profile"

	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/framework"
)

// randomCluster has nodes with pods of different priorities and requests, some of which may not be evicted. No two pods of a node are
// alike, as the order of those is not defined.
func randomCluster(random *rand.Rand) []runtime.Object {
	all := objects()
	for n := range 3 + random.IntN(5) {
		name := fmt.Sprintf("node-%d", n)
		all = append(all, node(name, func(n *corev1.Node) {
			n.Spec.Unschedulable = random.IntN(10) == 0
			if random.IntN(10) == 0 {
				tainted(n)
			}
		}))
		for i := range random.IntN(12) {
			all = append(all, pod(fmt.Sprintf("pod-%d-%d", n, i), name, func(p *corev1.Pod) {
				p.Namespace = fmt.Sprintf("namespace-%d", random.IntN(3))
				priority := int32(n*100 + i)
				p.Spec.Priority = &priority
				p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(50+random.IntN(800)), resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(int64(64+random.IntN(1500))<<20, resource.BinarySI),
				}
				switch random.IntN(8) {
				case 0:
					p.OwnerReferences = nil
				case 1:
					p.OwnerReferences[0].Kind = "DaemonSet"
				case 2:
					p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
				case 3:
					p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: name}
				}
			}))
		}
	}
	return all
}

// evictedBySigs are the pods that one Balance pass of sigs.k8s.io/descheduler evicts, with its own profile and PodEvictor.
func evictedBySigs(t *testing.T, all []runtime.Object, profile configuration.Profile, limits configuration.Limits) []string {
	t.Helper()
	kube := kubefake.NewClientset(all...)
	var evicted []string
	kube.PrependReactor("create", "pods", func(action coretesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		eviction := action.(coretesting.CreateAction).GetObject().(*policyv1.Eviction)
		evicted = append(evicted, eviction.Namespace+"/"+eviction.Name)
		return true, nil, nil
	})
	factory := informers.NewSharedInformerFactory(kube, 0)
	podInformer := factory.Core().V1().Pods().Informer()
	podsOnNode, err := podutil.BuildGetPodsAssignedToNodeFunc(podInformer)
	if err != nil {
		t.Fatal(err)
	}
	evictor, err := evictions.NewPodEvictor(t.Context(), kube, events.NewFakeRecorder(1000), podInformer, features.DefaultMutableFeatureGate,
		evictions.NewOptions().WithMaxPodsToEvictPerNode(unsigned(limits.PerNode)).WithMaxPodsToEvictTotal(unsigned(limits.Total)))
	if err != nil {
		t.Fatal(err)
	}
	defaultEvictor := api.PluginSet{Enabled: []string{"DefaultEvictor"}}
	runner, err := sigsprofile.NewProfile(t.Context(), api.DeschedulerProfile{
		Name:          "sigs",
		Plugins:       api.Plugins{Balance: api.PluginSet{Enabled: profile.Balance}, Filter: defaultEvictor, PreEvictionFilter: defaultEvictor},
		PluginConfigs: []api.PluginConfig{{Name: "LowNodeUtilization", Args: profile.Args["LowNodeUtilization"]}, {Name: "DefaultEvictor", Args: profile.Args["DefaultEvictor"]}},
	}, cluster{}.registry(), sigsprofile.WithClientSet(kube), sigsprofile.WithSharedInformerFactory(factory), sigsprofile.WithPodEvictor(evictor),
		sigsprofile.WithGetPodsAssignedToNodeFnc(podsOnNode), sigsprofile.WithProfileInstanceID("0"))
	if err != nil {
		t.Fatal(err)
	}
	factory.Core().V1().Nodes().Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	var nodes []*corev1.Node
	for _, object := range all {
		if node, ok := object.(*corev1.Node); ok {
			nodes = append(nodes, node)
		}
	}
	if status := runner.RunBalancePlugins(context.WithoutCancel(t.Context()), nodes); status != nil && status.Err != nil {
		t.Fatal(status.Err)
	}
	slices.Sort(evicted)
	return evicted
}

func unsigned(limit *int64) *uint {
	if limit == nil {
		return nil
	}
	value := uint(*limit)
	return &value
}

// TestLowNodeUtilizationDecidesAsUnderItsOwnRunner compares jobs with evictions of the real library on random clusters.
func TestLowNodeUtilizationDecidesAsUnderItsOwnRunner(t *testing.T) {
	clusters := uint64(500)
	if testing.Short() {
		clusters = 30
	}
	evicted := 0
	for seed := range clusters {
		random := rand.New(rand.NewPCG(seed, 2))
		all, limits := randomCluster(random), ""
		switch random.IntN(4) {
		case 0:
			limits = "maxNoOfPodsToEvictPerNode: 1\n"
		case 1:
			limits = "maxNoOfPodsToEvictTotal: 2\n"
		}
		low, high := 10+random.IntN(40), 50+random.IntN(40)
		s := cluster{objects: all, config: limits + fmt.Sprintf(`
profiles:
- plugins:
    balance: {enabled: [{name: LowNodeUtilization}]}
    evict: {disabled: [{name: "*"}], enabled: [{name: DefaultEvictor}]}
    filter: {disabled: [{name: "*"}]}
  pluginConfig:
  - {name: LowNodeUtilization, args: {thresholds: {cpu: %d, memory: %d}, targetThresholds: {cpu: %d, memory: %d}}}
  - {name: DefaultEvictor, args: {nodeFit: %t}}
`, low, low, high, high, random.IntN(2) == 0)}
		started := s.start(t)
		read := s.read(t, s.config)
		var got []string
		for _, eviction := range started.pass(t).Evictions {
			if eviction.Result == framework.JobCreated {
				got = append(got, eviction.Namespace+"/"+eviction.Pod)
			}
		}
		slices.Sort(got)
		want := evictedBySigs(t, all, read.Profiles[0], read.Limits)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cluster %d with %q (-sigs +ours):\n%s", seed, limits, diff)
		}
		evicted += len(got)
	}
	if evicted < int(clusters) {
		t.Errorf("%d evictions in %d clusters prove little", evicted, clusters)
	}
}
