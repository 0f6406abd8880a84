package evictor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const gib = int64(1) << 30

// node of 100 GiB on which best-effort pods use memory.
type node struct {
	*Evictor
	used int64
	pods []*state.Pod
	// containers of another scheduler, and killed what was asked for; unkillable answers that, nil lets them be killed.
	containers []eviction.Container
	killed     []string
	unkillable error
	usedBy     map[types.UID]int64
	// cpu that the node uses, and its pods, in milli-cores; limit is what suppression leaves to best-effort pods.
	cpu   int64
	cpuBy map[types.UID]int64
	limit int64
	// strategy replaces the one of memory, and object is the node as the API server has it; nil for none.
	strategy *slov1alpha1.ResourceThresholdStrategy
	object   *corev1.Node
	evicted  []string
	events   *events.FakeRecorder
	mu       sync.Mutex
	// refuse answers evictions; nil lets them be. forbid answers deletions.
	refuse func(name string) error
	forbid error
	// threshold and lower percentage of memory.
	threshold, lower int64
	// ahead is how far the clock was set ahead, in nanoseconds.
	ahead atomic.Int64
}

// Now implements clock.PassiveClock.
func (n *node) Now() time.Time { return time.Now().Add(time.Duration(n.ahead.Load())) }

// Since implements clock.PassiveClock.
func (n *node) Since(at time.Time) time.Duration { return n.Now().Sub(at) }

// newNode has the features that are named, or else the one for the memory of best-effort pods.
func newNode(features ...eviction.Feature) *node {
	n := &node{usedBy: map[types.UID]int64{}, cpuBy: map[types.UID]int64{}, limit: -1, events: events.NewFakeRecorder(1000), threshold: 80, lower: 78}
	client := fake.NewClientset()
	client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked, ok := action.(clienttesting.DeleteActionImpl)
		n.mu.Lock()
		defer n.mu.Unlock()
		if !ok || n.forbid != nil {
			return true, nil, n.forbid
		}
		n.evicted = append(n.evicted, fmt.Sprintf("%s of %s, by force", asked.Name, *asked.DeleteOptions.Preconditions.UID))
		return true, nil, nil
	})
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		asked := create.GetObject().(*policyv1.Eviction)
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.refuse != nil {
			if err := n.refuse(asked.Name); err != nil {
				return true, nil, err
			}
		}
		done := fmt.Sprintf("%s of %s", asked.Name, *asked.DeleteOptions.Preconditions.UID)
		if grace := asked.DeleteOptions.GracePeriodSeconds; grace != nil {
			done += fmt.Sprintf(", within %d s", *grace)
		}
		n.evicted = append(n.evicted, done)
		return true, nil, nil
	})
	if len(features) == 0 {
		features = []eviction.Feature{eviction.BEMemoryEvict}
	}
	on := map[eviction.Feature]bool{}
	for _, feature := range features {
		on[feature] = true
	}
	n.Evictor = New(Options{Client: client, On: on, Audit: audit.NewLog(100), Events: n.events, Clock: n, Containers: n})
	return n
}

func (n *node) add(name string, priority int32, used int64) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{extension.LabelPodQoS: "BE"}},
		Spec:       corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchMemory: resource.MustParse("1Gi")}}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBestEffort},
	}
	n.pods = append(n.pods, state.PodOf(pod))
	n.usedBy[pod.UID] = used
}

// decide takes a reading.
func (n *node) decide() {
	strategy := n.strategy
	if strategy == nil {
		strategy = &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), MemoryEvictThresholdPercent: &n.threshold, MemoryEvictLowerPercent: &n.lower}
	}
	n.Decide(Reading{
		Now: n.Now(), Period: time.Second, Pods: n.pods, Containers: n.containers, Node: n.object, Strategy: strategy,
		Capacity: podrequest.Amount{MilliCPU: 10000, Memory: 100 * gib}, BestEffortLimit: n.limit,
		Used: func() (metrics.Usage, bool) {
			return metrics.Usage{Memory: n.used, NanoCores: n.cpu * 1e6}, n.used+n.cpu > 0
		},
		PodUsed: func(uid types.UID) (metrics.Usage, bool) {
			used, measured := n.usedBy[uid]
			return metrics.Usage{Memory: used, NanoCores: n.cpuBy[uid] * 1e6}, measured
		},
	})
	synctest.Wait()
}

func (n *node) want(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(want, n.evicted); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}

// onNode runs a test with an evictor at work, with the features of newNode.
func onNode(t *testing.T, test func(*testing.T, *node), features ...eviction.Feature) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(features...)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { n.Run(ctx) })
		test(t, n)
		cancel()
		running.Wait()
	})
}

func TestTheLeastImportantGoUntilItIsEnough(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.add("late", 5500, 20*gib)
		n.add("small", 5000, 3*gib)
		n.add("large", 5000, 4*gib)
		n.used = 79 * gib
		n.decide()
		n.want(t)
		n.used = 84 * gib
		n.decide()
		n.want(t, "large of uid-large", "small of uid-small")
		n.decide() // they are still there
		n.want(t, "large of uid-large", "small of uid-small")
		entries := n.options.Audit.After(0, 10)
		if len(entries) != 2 || entries[0].Object != "pod ns/large" || entries[0].Owner != "BEMemoryEvict" || entries[0].Why == "" {
			t.Errorf("audit %+v", entries)
		}
		if told := <-n.events.Events; !strings.HasPrefix(told, "Warning trigger by koordlet feature BEMemoryEvict ") {
			t.Errorf("event %q", told)
		}
	})
}

func TestPodsThatAreProtectedStayAndOthersGo(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.add("protected", 5000, 10*gib)
		n.add("other", 5100, 10*gib)
		n.refuse = func(name string) error {
			if name == "protected" {
				return apierrors.NewTooManyRequests("a PodDisruptionBudget", 0)
			}
			return nil
		}
		n.used = 85 * gib
		n.decide()
		n.want(t)
		n.decide()
		n.want(t, "other of uid-other")
	})
}

func TestNobodyGoesWithoutAMeasurement(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		n.add("pod", 5000, 10*gib)
		n.decide()
		n.want(t)
	})
}

func TestANodeIsNotEmptied(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		for i := range 60 {
			n.add(fmt.Sprintf("pod-%02d", i), 5000, gib/1000)
		}
		n.used = 99 * gib
		for range 100 {
			n.decide()
			time.Sleep(5 * time.Second)
			n.pods = slices.DeleteFunc(n.pods, func(pod *state.Pod) bool { return n.isLeaving(pod.Object.UID) })
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if most := 2 * eviction.DefaultBudget().PerWindow; len(n.evicted) > most || len(n.evicted) < most/2 {
			t.Errorf("%d pods were evicted within 500 s, want at most %d", len(n.evicted), most)
		}
	})
}

func TestOffersOfANode(t *testing.T) {
	got := eviction.OffersOf(&corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "kubernetes.io/batch-cpu": resource.MustParse("0"),
		"kubernetes.io/batch-memory": resource.MustParse("0"),
	}}})
	if plain := got[podrequest.Plain]; plain.Amount != (podrequest.Amount{MilliCPU: 4000, Memory: 8 * gib}) || plain.Withdrawn != "" {
		t.Errorf("plain offer %+v", plain)
	}
	if batch, offered := got[podrequest.Batch]; !offered || batch.Withdrawn == "" {
		t.Errorf("batch offer %+v, want withdrawn", batch)
	}
	if _, offered := got[podrequest.Mid]; offered {
		t.Error("what the node does not name is offered")
	}
}
