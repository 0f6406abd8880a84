package lownodeload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/descheduler/plugins/plugintest"
)

// clusters that the differential test compares.
const clusters = 10_000

// TestDecidesAsLowNodeUtilization gives random clusters to the plugin of sigs.k8s.io/descheduler and to this decision, with the same
// evictor, and compares which pods leave in which order.
func TestDecidesAsLowNodeUtilization(t *testing.T) {
	evicted, moving := 0, 0
	started := time.Now()
	for seed := range uint64(clusters) {
		random := rand.New(rand.NewPCG(seed, 36))
		cluster := randomCluster(random)
		config := randomUtilization(random)
		total := -1
		if random.IntN(5) == 0 {
			total = random.IntN(6)
		}
		want, got := &plugintest.Evictor{Total: total}, &plugintest.Evictor{Total: total}
		runLibrary(t, cluster, config, want)
		runDecision(cluster, config, got)
		if diff := cmp.Diff(want.Evicted, got.Evicted); diff != "" {
			t.Fatalf("seed %d: evictions (-library +decision):\n%s\n%s\n%+v", seed, diff, describe(cluster), config)
		}
		evicted += len(want.Evicted)
		if len(want.Evicted) > 0 {
			moving++
		}
	}
	t.Logf("%d evictions in %d of %d clusters, in %s", evicted, moving, clusters, time.Since(started).Round(time.Millisecond))
	if moving < clusters/10 {
		t.Errorf("pods leave in %d of %d clusters only; the test compares nothing", moving, clusters)
	}
}

// runLibrary runs the plugin of the library.
func runLibrary(t *testing.T, cluster *cluster, config lownodeload.Utilization, evictor *plugintest.Evictor) {
	t.Helper()
	args := &nodeutilization.LowNodeUtilizationArgs{
		UseDeviationThresholds: config.UseDeviationThresholds, NumberOfNodes: config.NumberOfNodes,
		Thresholds: percentages(config.Thresholds), TargetThresholds: percentages(config.TargetThresholds),
		EvictableNamespaces: &api.Namespaces{Exclude: config.ExcludedNamespaces},
	}
	if config.PerNode > 0 {
		args.EvictionLimits = &api.EvictionLimits{Node: &config.PerNode}
	}
	if err := nodeutilization.ValidateLowNodeUtilizationArgs(args); err != nil {
		t.Fatal(err)
	}
	ctx := quiet()
	plugin, err := nodeutilization.NewLowNodeUtilization(ctx, args, &plugintest.Handle{Evicts: evictor, Pods: cluster.pods})
	if err != nil {
		t.Fatal(err)
	}
	if status := plugin.(*nodeutilization.LowNodeUtilization).Balance(ctx, cluster.nodes); status != nil && status.Err != nil {
		t.Fatal(status.Err)
	}
}

func percentages(thresholds lownodeload.Thresholds) api.ResourceThresholds {
	out := api.ResourceThresholds{}
	for name, value := range thresholds {
		out[name] = api.Percentage(value)
	}
	return out
}

// runDecision applies the decision as the plugin of this package does.
func runDecision(cluster *cluster, config lownodeload.Utilization, evictor *plugintest.Evictor) {
	in := lownodeload.Input{Policy: lownodeload.CompileUtilization(config), Now: time.Now()}
	for _, node := range cluster.nodes {
		in.Nodes = append(in.Nodes, lownodeload.Node{Node: node, Pods: cluster.pods[node.Name]})
	}
	round := lownodeload.Begin(in, nil)
	evict(quiet(), round, evictor, false)
}

// quiet is a context in which nothing is logged.
func quiet() context.Context { return klog.NewContext(context.Background(), logr.Discard()) }

type cluster struct {
	nodes []*corev1.Node
	pods  map[string][]*corev1.Pod
}

const gpu = corev1.ResourceName("example.com/gpu")

var taints = []corev1.Taint{
	{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "dedicated", Value: "b", Effect: corev1.TaintEffectNoExecute},
	{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule},
}

func randomCluster(random *rand.Rand) *cluster {
	out := &cluster{pods: map[string][]*corev1.Pod{}}
	for i := range 2 + random.IntN(6) {
		allocatable := corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(1000+random.Int64N(15000), resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(1<<30+random.Int64N(1<<35), resource.BinarySI),
			corev1.ResourcePods: *resource.NewQuantity(3+random.Int64N(20), resource.DecimalSI),
		}
		if random.IntN(2) == 0 {
			allocatable[gpu] = *resource.NewQuantity(random.Int64N(9), resource.DecimalSI)
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}, Status: corev1.NodeStatus{Capacity: allocatable, Allocatable: allocatable}}
		if random.IntN(10) == 0 {
			node.Status.Allocatable = nil
		}
		node.Spec.Unschedulable = random.IntN(8) == 0
		for _, taint := range taints {
			if random.IntN(5) == 0 {
				node.Spec.Taints = append(node.Spec.Taints, taint)
			}
		}
		out.nodes = append(out.nodes, node)
		out.pods[node.Name] = randomPods(random, node)
	}
	return out
}

// randomPods draws pods that no two of have the same priority and QoS class: the order of such pods is undefined in the library.
func randomPods(random *rand.Rand, node *corev1.Node) []*corev1.Pod {
	var pods []*corev1.Pod
	places := random.Perm(21)
	load := random.Float64()
	cpu, memory := node.Status.Capacity.Cpu().MilliValue(), node.Status.Capacity.Memory().Value()
	for i := range random.IntN(len(places)) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: []string{"default", "kube-system", "shop"}[random.IntN(3)], Name: fmt.Sprintf("%s-pod-%d", node.Name, i), UID: types.UID(fmt.Sprintf("%s-%d", node.Name, i)),
			Annotations: map[string]string{plugintest.VerdictKey: []string{"", "", "", "", "", "filtered", "late", "failing", "last"}[random.IntN(9)]},
		}}
		if priority := places[i] / 3; priority > 0 {
			pod.Spec.Priority = new(int32(priority * 1000))
		}
		pod.Spec.NodeName = node.Name
		requests := corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(1+int64(random.Float64()*load*float64(cpu)/4), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(1+int64(random.Float64()*load*float64(memory)/4), resource.BinarySI),
		}
		if random.IntN(4) == 0 {
			requests[gpu] = *resource.NewQuantity(random.Int64N(3), resource.DecimalSI)
		}
		container := corev1.Container{Name: "main"}
		switch places[i] % 3 { // the QoS class
		case 1:
			container.Resources.Requests = requests
		case 2:
			container.Resources.Requests, container.Resources.Limits = requests, requests
		}
		pod.Spec.Containers = []corev1.Container{container}
		if places[i]%3 == 1 && random.IntN(5) == 0 {
			pod.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(1+random.Int64N(cpu/2), resource.DecimalSI)}}}}
		}
		for _, taint := range taints {
			if random.IntN(2) == 0 {
				pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
			}
		}
		if random.IntN(10) == 0 {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
		}
		pods = append(pods, pod)
	}
	return pods
}

func randomUtilization(random *rand.Rand) lownodeload.Utilization {
	out := lownodeload.Utilization{
		UseDeviationThresholds: random.IntN(3) == 0, Thresholds: lownodeload.Thresholds{}, TargetThresholds: lownodeload.Thresholds{}, NumberOfNodes: random.IntN(4) / 3,
	}
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, gpu}
	for _, at := range random.Perm(len(names))[:1+random.IntN(3)] {
		low, high := random.Float64()*60, random.Float64()*60
		if !out.UseDeviationThresholds {
			high = low + random.Float64()*(100-low)
		}
		if random.IntN(2) == 0 {
			low, high = float64(int(low)), float64(int(high)+1)
		}
		out.Thresholds[names[at]], out.TargetThresholds[names[at]] = low, min(high, 100)
	}
	if random.IntN(3) == 0 {
		out.ExcludedNamespaces = []string{"kube-system"}
	}
	if random.IntN(4) == 0 {
		out.PerNode = uint(1 + random.IntN(3))
	}
	return out
}

func describe(cluster *cluster) string {
	text := ""
	for _, node := range cluster.nodes {
		text += fmt.Sprintf("%s unschedulable=%v taints=%v %v\n", node.Name, node.Spec.Unschedulable, node.Spec.Taints, node.Status.Allocatable)
		for _, pod := range cluster.pods[node.Name] {
			text += fmt.Sprintf("  %s %s priority=%v %v %v\n", pod.Name, pod.Annotations[plugintest.VerdictKey], pod.Spec.Priority, pod.Spec.Containers[0].Resources.Requests, pod.Spec.Tolerations)
		}
	}
	return text
}
