package loadaware

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/state"
)

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// memory is a State without a cluster behind it.
type memory struct {
	metrics  map[string]*slov1alpha1.NodeMetric
	assigned map[string]state.Assigned
	changes  uint64
	// stamp of all nodes, nil when they are not followed.
	stamp *atomic.Uint64
}

func (m *memory) NodeMetric(node string) *slov1alpha1.NodeMetric { return m.metrics[node] }
func (m *memory) Assigned(node string) state.Assigned            { return m.assigned[node] }
func (m *memory) Stamp(string) *atomic.Uint64                    { return m.stamp }
func (m *memory) MetricsChanged() uint64                         { return m.changes }
func (m *memory) Reserve(pod *corev1.Pod, node string, at time.Time) {
	before := m.assigned[node]
	m.assigned[node] = state.Assigned{Version: before.Version + 1, Pods: append(before.Pods[:len(before.Pods):len(before.Pods)], decision.AssignedPod{Pod: pod, AssignedAt: at})}
}
func (m *memory) Unreserve(_ *corev1.Pod, node string) {
	m.assigned[node] = state.Assigned{Version: m.assigned[node].Version + 1}
}

type fixture struct {
	plugin *Plugin
	state  *memory
	now    time.Time
	nodes  informers.SharedInformerFactory
}

func newFixture(t testing.TB, args string, nodes ...*corev1.Node) *fixture {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	f := &fixture{state: &memory{metrics: map[string]*slov1alpha1.NodeMetric{}, assigned: map[string]state.Assigned{}}, now: start,
		nodes: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithInformerFactory(f.nodes))
	if err != nil {
		t.Fatal(err)
	}
	var object runtime.Object
	if args != "" {
		object = &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}
	}
	plugin, err := Factory(f.state, func() time.Time { return f.now })(ctx, object, handle)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if err := f.nodes.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
			t.Fatal(err)
		}
	}
	f.plugin = plugin.(*Plugin)
	return f
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse("10"), "memory": resource.MustParse("100Gi"),
	}}}
}

func newPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}, Spec: corev1.PodSpec{
		Priority:   new(int32(9500)),
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}},
	}}
}

func newMetric(node, cpu string, at time.Time) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: at},
		NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}}},
	}}
}

func infoOf(node *corev1.Node) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(node)
	return info
}

func TestFilterFollowsItsInputs(t *testing.T) {
	node := newNode("n")
	f := newFixture(t, "", node)
	pod, info := newPod("web", "1"), infoOf(node)
	check := func(when string, wantRefused bool) {
		t.Helper()
		status := f.plugin.Filter(t.Context(), framework.NewCycleState(), pod, info)
		if refused := !status.IsSuccess(); refused != wantRefused {
			t.Errorf("%s: refused %v (%s), want %v", when, refused, status.Message(), wantRefused)
		}
		if status.Code() == fwk.Unschedulable {
			t.Errorf("%s: preemption would be tried, and cannot help", when)
		}
	}
	check("without a NodeMetric", false)
	f.state.metrics["n"] = newMetric("n", "5", start)
	check("at 50% and 9% for the pod", false)
	f.plugin.Reserve(t.Context(), nil, newPod("other", "1"), "n")
	check("with another pod just assigned", true)
	f.plugin.Unreserve(t.Context(), nil, newPod("other", "1"), "n")
	check("after that was taken back", false)
	reserve := newPod("reserve", "1")
	reserve.UID, reserve.Annotations = types.UID(reserve.Name), map[string]string{reservation.AnnotationReservePod: "true"}
	f.plugin.Reserve(t.Context(), nil, reserve, "n")
	check("with room reserved, which nothing uses yet", false)
	f.state.metrics["n"] = newMetric("n", "6", start)
	check("at 60%", true)
	f.state.metrics["n"] = newMetric("n", "1", start)
	f.now = start.Add(4 * time.Minute)
	check("when the NodeMetric has expired by time alone", true)
}

func TestScorePrefersIdleNodes(t *testing.T) {
	busy, idle := newNode("busy"), newNode("idle")
	f := newFixture(t, "", busy, idle)
	f.state.metrics["busy"], f.state.metrics["idle"] = newMetric("busy", "5", start), newMetric("idle", "1", start)
	pod := newPod("web", "1")
	high, _ := f.plugin.Score(t.Context(), framework.NewCycleState(), pod, infoOf(idle))
	low, _ := f.plugin.Score(t.Context(), framework.NewCycleState(), pod, infoOf(busy))
	if high <= low {
		t.Errorf("the idle node scores %d, the busy one %d", high, low)
	}
}

func TestScoreIsThatOfTheMomentOfFilterInOneCycle(t *testing.T) {
	n, pod := newNode("n"), newPod("web", "1")
	f := newFixture(t, "", n)
	f.state.metrics["n"] = newMetric("n", "1", start)
	score := func(state fwk.CycleState) int64 {
		t.Helper()
		got, status := f.plugin.Score(t.Context(), state, pod, infoOf(n))
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		return got
	}
	begin := func() fwk.CycleState {
		state := framework.NewCycleState()
		f.plugin.PreFilter(t.Context(), state, pod, nil)
		return state
	}
	idle := score(begin())
	filtered, scored := begin(), begin()
	f.plugin.Filter(t.Context(), filtered, pod, infoOf(n))
	f.state.metrics["n"] = newMetric("n", "5", start)
	if got := score(filtered); got != idle {
		t.Errorf("score %d after the load changed within the cycle, want %d", got, idle)
	}
	if got := score(filtered.Clone()); got != idle {
		t.Errorf("score %d in a clone of the cycle, want %d", got, idle)
	}
	busy := score(scored)
	if busy >= idle {
		t.Errorf("score %d in a cycle without Filter, want below %d", busy, idle)
	}
	if got := score(begin()); got != busy {
		t.Errorf("score %d in the next cycle, want %d", got, busy)
	}
}

// TestScoresStayWithTheirNodes replaces node objects within a cycle, which gives their numbers away.
func TestScoresStayWithTheirNodes(t *testing.T) {
	const size = 200
	f, pod := newFixture(t, ""), newPod("web", "1")
	scoreIn := func(state fwk.CycleState, node *corev1.Node) int64 {
		got, _ := f.plugin.Score(t.Context(), state, pod, infoOf(node))
		return got
	}
	want, nodes := map[*corev1.Node]int64{}, []*corev1.Node{}
	for i := range size {
		node := newNode(fmt.Sprint("n", i))
		f.state.metrics[node.Name] = newMetric(node.Name, fmt.Sprintf("%dm", i*20), start)
		want[node] = scoreIn(framework.NewCycleState(), node)
		nodes = append(nodes, node)
	}
	state := framework.NewCycleState()
	f.plugin.PreFilter(t.Context(), state, pod, nil)
	for i, node := range nodes {
		f.plugin.Filter(t.Context(), state, pod, infoOf(node))
		for range 3 {
			f.plugin.observe(newNode(nodes[(i+100)%size].Name))
		}
	}
	for _, node := range nodes {
		if got := scoreIn(state, node); got != want[node] {
			t.Errorf("node %s scores %d, want %d", node.Name, got, want[node])
		}
	}
	if numbered := f.plugin.seen.numbering.Load().next; numbered > 4*size {
		t.Errorf("numbers go up to %d for %d nodes", numbered, size)
	}
}

func TestFactoryRefusesBadArguments(t *testing.T) {
	f := newFixture(t, "")
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithInformerFactory(f.nodes))
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]runtime.Object{
		"out of range": &runtime.Unknown{Raw: []byte(`{"usageThresholds":{"cpu":101}}`), ContentType: runtime.ContentTypeJSON},
		"misspelt":     &runtime.Unknown{Raw: []byte(`{"usageThreshold":{"cpu":60}}`), ContentType: runtime.ContentTypeJSON},
		"of a kind":    &corev1.Pod{},
	} {
		if _, err := Factory(f.state, time.Now)(t.Context(), object, handle); err == nil || !strings.Contains(err.Error(), "LoadAwareSchedulingArgs") {
			t.Errorf("%s: error %v, want one about LoadAwareSchedulingArgs", name, err)
		}
	}
}

func TestNodesThatAreGoneAreErrors(t *testing.T) {
	f := newFixture(t, "")
	gone := framework.NewNodeInfo()
	if status := f.plugin.Filter(t.Context(), framework.NewCycleState(), newPod("web", "1"), gone); status.Code() != fwk.Error {
		t.Errorf("filter answers %v", status)
	}
	if _, status := f.plugin.Score(t.Context(), framework.NewCycleState(), newPod("web", "1"), gone); status.Code() != fwk.Error {
		t.Errorf("score answers %v", status)
	}
}

func TestPreFilterLetsEveryPodOn(t *testing.T) {
	result, status := newFixture(t, "").plugin.PreFilter(t.Context(), framework.NewCycleState(), newPod("web", "1"), nil)
	if !status.IsSuccess() || !result.AllNodes() {
		t.Errorf("result %v, status %v", result, status)
	}
}

func TestSignaturesDifferWhenVerdictsMay(t *testing.T) {
	f := newFixture(t, "")
	sign := func(pod *corev1.Pod) string {
		fragments, status := f.plugin.SignPod(t.Context(), pod)
		if !status.IsSuccess() {
			t.Fatal(status.AsError())
		}
		text, err := json.Marshal(fragments)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	f.state.changes = 1
	first := sign(newPod("a", "1"))
	if again := sign(newPod("b", "1")); again != first {
		t.Errorf("equal pods have signatures %s and %s", first, again)
	}
	if other := sign(newPod("c", "2")); other == first {
		t.Error("a larger pod has the same signature")
	}
	limited := newPod("d", "1")
	limited.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("4")}
	if other := sign(limited); other == first {
		t.Error("a pod with a larger limit has the same signature")
	}
	f.state.changes = 2
	if soon := sign(newPod("a", "1")); soon != first {
		t.Error("the signature changed with a NodeMetric inside of one epoch")
	}
	f.now = f.now.Add(epochLength)
	if later := sign(newPod("a", "1")); later == first {
		t.Error("the signature did not change after NodeMetrics had")
	}
	first = sign(newPod("a", "1"))
	batch, daemon := newPod("e", "1"), newPod("f", "1")
	batch.Spec.Priority = new(int32(7500))
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
	for what, pod := range map[string]*corev1.Pod{"a pod of another band": batch, "a pod of a DaemonSet": daemon} {
		if sign(pod) == first {
			t.Errorf("%s has the same signature", what)
		}
	}
	spread := newPod("g", "500m")
	spread.Spec.Containers = append(spread.Spec.Containers, *spread.Spec.Containers[0].DeepCopy())
	if sign(spread) != first {
		t.Error("a pod that only divides its request over two containers has another signature")
	}
}

// TestAPodThatAFreshReportWakesSeesIt has the state not receive the report before the pod is tried: informers call every handler
// on a separate goroutine.
func TestAPodThatAFreshReportWakesSeesIt(t *testing.T) {
	node, pod := newNode("a"), newPod("p", "1")
	f := newFixture(t, "", node)
	f.state.stamp = &atomic.Uint64{}
	expired := newMetric("a", "1", start.Add(-time.Hour))
	f.state.metrics["a"] = expired
	if status := f.plugin.Filter(t.Context(), framework.NewCycleState(), pod, infoOf(node)); status.IsSuccess() {
		t.Fatal("an expired NodeMetric passes")
	}
	fresh := newMetric("a", "1", start)
	f.state.metrics["a"] = fresh
	if hint, err := f.plugin.afterNodeMetric(klog.Background(), pod, expired, fresh); hint != fwk.Queue || err != nil {
		t.Fatalf("hint %v, error %v", hint, err)
	}
	if status := f.plugin.Filter(t.Context(), framework.NewCycleState(), pod, infoOf(node)); !status.IsSuccess() {
		t.Errorf("woken by a fresh NodeMetric, the pod is refused: %v", status)
	}
}
