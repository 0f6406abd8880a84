package explain

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state"
	"koordinator.sh/koord/test/informertest"
)

const schedulerName = "koord-scheduler"

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// cluster is a real scheduler that never runs a cycle, with an Engine beside it. Objects are put straight into the
// scheduler's cache and the pod informer's store.
type cluster struct {
	t         testing.TB
	engine    *Engine
	scheduler *kubescheduler.Scheduler
	informers informers.SharedInformerFactory
	client    *fake.Clientset
	state     *fixedState
	shared    *sharedState
	parts     part.Set
	nodes     map[string]*corev1.Node
	pods      map[types.UID]*corev1.Pod
}

// fixedState is a state that only the test changes.
type fixedState struct {
	metrics  map[string]*slov1alpha1.NodeMetric
	assigned map[string]state.Assigned
	version  uint64
	// panicsOn is a node whose NodeMetric nothing can be read of.
	panicsOn string
}

func (s *fixedState) NodeMetric(node string) *slov1alpha1.NodeMetric {
	if node != "" && node == s.panicsOn {
		panic("NodeMetric of " + node)
	}
	return s.metrics[node]
}

func (s *fixedState) Assigned(node string) state.Assigned    { return s.assigned[node] }
func (s *fixedState) Reserve(*corev1.Pod, string, time.Time) {}
func (s *fixedState) Unreserve(*corev1.Pod, string)          {}
func (s *fixedState) Stamp(string) *atomic.Uint64            { return nil }
func (s *fixedState) MetricsChanged() uint64                 { return 0 }

const profileYAML = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins: {multiPoint: {enabled: [{name: LoadAwareScheduling}]}}
`

func profiles(t testing.TB, text string) []config.KubeSchedulerProfile {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*config.KubeSchedulerConfiguration).Profiles
}

// newCluster has the plugins of Kubernetes and load-aware scheduling.
func newCluster(t testing.TB, objects ...runtime.Object) *cluster {
	return newClusterWith(t, profileYAML, objects...)
}

func newClusterWith(t testing.TB, profile string, objects ...runtime.Object) *cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	client := informertest.NewClientset(objects...)
	c := &cluster{
		t: t, client: client, informers: informers.NewSharedInformerFactory(client, 0), nodes: map[string]*corev1.Node{}, pods: map[types.UID]*corev1.Pod{},
		state: &fixedState{metrics: map[string]*slov1alpha1.NodeMetric{}, assigned: map[string]state.Assigned{}},
	}
	c.shared = newSharedState(t, c)
	clock := func() time.Time { return now }
	c.parts = c.shared.parts(c, clock)
	built, err := kubescheduler.New(ctx, client, c.informers, nil,
		func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1) }, kubescheduler.WithProfiles(profiles(t, profile)...),
		kubescheduler.WithFrameworkOutOfTreeRegistry(c.parts.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	c.scheduler = built
	c.engine, err = New(ctx, Config{
		Client: client, Informers: c.informers, Cache: built.Cache, Profiles: built.Profiles, ProfileConfigs: profiles(t, profile),
		Nominator: built.SchedulingQueue, Parts: c.parts,
		Identity: "test", Leader: func() bool { return true }, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clear empties the cluster for the next one.
func (c *cluster) clear() {
	c.t.Helper()
	for _, pod := range c.pods {
		if pod.Spec.NodeName != "" {
			c.must(c.scheduler.Cache.RemovePod(klog.Background(), pod))
		}
		c.must(c.informers.Core().V1().Pods().Informer().GetIndexer().Delete(pod))
		c.shared.podGone(pod)
	}
	for _, object := range c.shared.reserved.Informer().GetIndexer().List() {
		c.endReservation(object.(*schedulingv1alpha1.Reservation).Name)
	}
	for _, node := range c.nodes {
		c.must(c.scheduler.Cache.RemoveNode(klog.Background(), node))
		c.must(c.informers.Core().V1().Nodes().Informer().GetIndexer().Delete(node))
		c.shared.nodeChanged(node.Name)
	}
	c.shared.clear()
	clear(c.pods)
	clear(c.nodes)
	clear(c.state.metrics)
	clear(c.state.assigned)
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) addNode(node *corev1.Node) {
	if before, known := c.nodes[node.Name]; known {
		c.scheduler.Cache.UpdateNode(klog.Background(), before, node)
	} else {
		c.scheduler.Cache.AddNode(klog.Background(), node)
	}
	c.nodes[node.Name] = node
	c.must(c.informers.Core().V1().Nodes().Informer().GetIndexer().Add(node))
	c.shared.nodeChanged(node.Name)
}

func (c *cluster) addPod(pod *corev1.Pod) {
	c.t.Helper()
	c.must(c.informers.Core().V1().Pods().Informer().GetIndexer().Add(pod))
	c.pods[pod.UID] = pod
	c.shared.podChanged(nil, pod)
	if pod.Spec.NodeName == "" {
		return
	}
	c.must(c.scheduler.Cache.AddPod(klog.Background(), pod))
	c.state.version++
	assigned := c.state.assigned[pod.Spec.NodeName]
	c.state.assigned[pod.Spec.NodeName] = state.Assigned{
		Version: c.state.version, Pods: append(assigned.Pods[:len(assigned.Pods):len(assigned.Pods)], decision.AssignedPod{Pod: pod, AssignedAt: now.Add(-time.Hour)}),
	}
}

// explain asks about a pod.
func (c *cluster) explain(name string) *diagnosticsv1alpha1.PodExplanationStatus {
	c.t.Helper()
	answer, err := c.engine.Explain(context.Background(), question(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return &answer.Status
}

func question(name string) *diagnosticsv1alpha1.PodExplanation {
	return &diagnosticsv1alpha1.PodExplanation{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}, Spec: diagnosticsv1alpha1.PodExplanationSpec{PodName: name}}
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// newNode has 16 CPU and 64Gi, offers 4 batch CPU, and is empty.
func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Allocatable: list("cpu", "16", "memory", "64Gi", "pods", "110",
			"kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "16Gi")},
	}
}

func newPod(name string, pairs ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{
			SchedulerName: schedulerName, Priority: new(int32(9500)),
			Containers: []corev1.Container{{Name: "main", Image: "app", Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// on binds a pod to a node.
func on(node int, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = fmt.Sprintf("node-%d", node)
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// addMetric reports the usage of a node some seconds ago.
func (c *cluster) addMetric(node int, ago time.Duration, pairs ...string) *slov1alpha1.NodeMetric {
	metric := &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", node)},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: now.Add(-ago)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: list(pairs...)}},
		},
	}
	c.state.metrics[metric.Name] = metric
	return metric
}
