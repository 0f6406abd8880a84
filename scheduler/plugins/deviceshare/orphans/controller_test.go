package orphans

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics/testutil"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/eventthrottle"
)

// memory is a State without a cluster behind it.
type memory struct {
	unsettled bool
	devices   map[string]*device.Node
}

func (m *memory) Settled() bool                 { return !m.unsettled }
func (m *memory) Any() bool                     { return len(m.devices) > 0 }
func (m *memory) Node(name string) *device.Node { return m.devices[name] }

// report makes the Device of a node of healthy GPUs, all of the first and the id of each.
func (m *memory) report(node string, healthy bool, ids ...string) {
	object := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for i, id := range ids {
		object.Spec.Devices = append(object.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: schedulingv1alpha1.GPU, Minor: new(int32(i)), UUID: id, Health: healthy, Resources: corev1.ResourceList{"koordinator.sh/gpu-core": resource.MustParse("100")},
		})
	}
	m.devices[node] = device.DecodeNode(object)
}

type rig struct {
	*Controller
	t      *testing.T
	state  *memory
	pods   cache.Indexer
	events *events.FakeRecorder
	now    time.Time
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, state: &memory{devices: map[string]*device.Node{}}, events: events.NewFakeRecorder(1000), now: time.Unix(1000, 0)}
	r.pods = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, name := range []string{"n", "m"} {
		if err := nodes.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	r.Controller = New(Config{
		State: r.state, Pods: corelisters.NewPodLister(r.pods), Nodes: corelisters.NewNodeLister(nodes), Recorder: r.events, Now: func() time.Time { return r.now },
	})
	return r
}

// hold adds a pod that holds the GPU of a minor.
func (r *rig) hold(name, node string, minor int, id string, phase corev1.PodPhase) {
	r.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Annotations: map[string]string{
		extension.AnnotationDeviceAllocated: fmt.Sprintf(`{"gpu":[{"minor":%d,"id":%q,"resources":{"koordinator.sh/gpu-core":"100"}}]}`, minor, id),
	}}, Status: corev1.PodStatus{Phase: phase}}
	pod.Spec.NodeName = node
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"koordinator.sh/gpu": resource.MustParse("100")}}}}
	if err := r.pods.Add(pod); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) reported() []string {
	r.t.Helper()
	if err := r.check(); err != nil {
		r.t.Fatal(err)
	}
	var list []string
	for {
		select {
		case event := <-r.events.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}

func (r *rig) metric(node string) float64 {
	r.t.Helper()
	value, err := testutil.GetGaugeMetricValue(orphansMetric.WithLabelValues(node, "gpu"))
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

func TestOrphansAreReported(t *testing.T) {
	r := newRig(t)
	r.state.report("n", true, "A", "B")
	r.hold("fine", "n", 0, "A", corev1.PodRunning)
	r.hold("lost", "n", 7, "H", corev1.PodRunning)
	r.hold("swapped", "n", 1, "X", corev1.PodRunning)
	r.hold("done", "n", 7, "H", corev1.PodSucceeded)
	r.hold("elsewhere", "m", 0, "A", corev1.PodRunning)
	r.hold("pending", "", 7, "H", corev1.PodPending)
	r.hold("gone with its node", "o", 7, "H", corev1.PodRunning)
	want := []string{
		"Warning DeviceStray KOORD1144: the pod holds gpu 7 of node n: the node no longer has the device",
		`Warning DeviceStray KOORD1144: the pod holds gpu 1 of node n: the minor belongs to device "B" now`,
	}
	if diff := cmp.Diff(want, r.reported()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if got := r.metric("n"); got != 2 {
		t.Errorf("the metric counts %v", got)
	}
	r.now = r.now.Add(eventthrottle.Again - 1)
	r.state.report("n", false, "A", "B")
	if got := r.reported(); len(got) != 1 || !strings.Contains(got[0], "gpu 0 of node n: the device is not healthy") {
		t.Errorf("when devices break: %v", got)
	}
	r.state.report("n", true, "A", "X", "", "", "", "", "", "H")
	if got := r.reported(); got != nil {
		t.Errorf("when they are back: %v", got)
	}
	if len(r.counted) != 0 || r.metric("n") != 0 {
		t.Errorf("the metric still counts %v", r.counted)
	}
}

func TestNothingIsToldBeforeDevicesAreKnown(t *testing.T) {
	r := newRig(t)
	r.state.report("n", true, "A")
	r.hold("lost", "n", 7, "H", corev1.PodRunning)
	r.state.unsettled = true
	if got := r.reported(); got != nil {
		t.Errorf("reported %v", got)
	}
}

func TestRunEndsWithItsContextAndCountsNothingAfterwards(t *testing.T) {
	r := newRig(t)
	r.state.report("n", true, "A")
	r.hold("lost", "n", 7, "H", corev1.PodRunning)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { r.Run(ctx); close(ended) }()
	select {
	case <-r.events.Events:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is reported")
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
	if len(r.counted) != 0 {
		t.Errorf("the metric still counts %v", r.counted)
	}
}
