package quotas

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/test/eventually"
)

// rig is a State over sources that the test feeds.
type rig struct {
	*State
	quotas, pods, nodes *fcache.FakeControllerSource
	cancel              context.CancelFunc
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &rig{quotas: fcache.NewFakeControllerSource(), pods: fcache.NewFakeControllerSource(), nodes: fcache.NewFakeControllerSource(), cancel: cancel}
	pods := cache.NewSharedIndexInformer(r.pods, &corev1.Pod{}, 0, cache.Indexers{})
	nodes := cache.NewSharedIndexInformer(r.nodes, &corev1.Node{}, 0, cache.Indexers{})
	state, err := NewFrom(r.quotas, pods, nodes)
	if err != nil {
		t.Fatal(err)
	}
	r.State = state
	r.nodes.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("100")}}})
	var running sync.WaitGroup
	running.Go(func() { state.Run(ctx) })
	running.Go(func() { pods.RunWithContext(ctx) })
	running.Go(func() { nodes.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return r
}

func TestStateFollowsTheCluster(t *testing.T) {
	r := newRig(t)
	r.quotas.Add(newQuota("q", "team", "5", "10"))
	r.pods.Add(onNode(newPod("ns", "running", "6", "team")))
	if err := r.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod, rules := newPod("ns", "p", "5", "team"), quota.Rules{Runtime: true}
	if got := r.Judge(pod, rules); got.Verdict.Code != finding.QuotaMaxExceeded || got.Quota != "team" {
		t.Fatalf("judgement %+v", got)
	}
	if r.Idle() {
		t.Error("a state with quotas is idle")
	}
	if explained := r.Explain(pod, rules); len(explained.Shortages) != 1 || explained.Shortages[0].Missing() != 1000 {
		t.Errorf("shortages %+v", explained.Shortages)
	}
	fork := r.Fork()
	fork.Suppose(newQuota("q", "team", "5", "11"))
	if got := fork.Judge(pod, rules); !got.Verdict.Passed() {
		t.Errorf("with a larger max: %s", got.Reason)
	}
	fork.Suppose(newQuota("q", "team", "5", "10"))
	fork.SupposeGone("ns/running")
	if got := fork.Judge(pod, rules); !got.Verdict.Passed() {
		t.Errorf("without the other pod: %s", got.Reason)
	}
	if held, found := r.Held("ns/running"); !found || held.Quota != "team" || !held.Holding.Assigned {
		t.Errorf("held %+v", held)
	}
	r.quotas.Modify(newQuota("q", "team", "5", "11"))
	eventually.True(t, "the larger max", func() bool { return r.Judge(pod, rules).Verdict.Passed() })
	r.quotas.Delete(newQuota("q", "team", "5", "11"))
	eventually.True(t, "no quotas", r.Idle)
}

func TestHintsAreNeverLateForAnEvent(t *testing.T) {
	r := newRig(t)
	r.quotas.Add(newQuota("q", "team", "5", "10"))
	running := onNode(newPod("ns", "running", "10", "team"))
	r.pods.Add(running)
	if err := r.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod := newPod("ns", "p", "5", "team")
	r.State.mutex.Lock() // the handlers have to wait, as if the event had reached the scheduler's own first
	r.pods.Delete(running)
	r.quotas.Modify(newQuota("q", "team", "5", "12"))
	for found := true; found; {
		_, found, _ = r.State.pods.GetIndexer().GetByKey("ns/running")
	}
	r.State.mutex.Unlock()
	r.PodChanged(running)
	if got := r.Judge(pod, quota.Rules{Runtime: true}); !got.Verdict.Passed() {
		t.Errorf("the deletion is not known after it was told of: %s", got.Reason)
	}
	large := newPod("ns", "large", "11", "team")
	eventually.True(t, "the larger max", func() bool {
		r.QuotaChanged(types.NamespacedName{Namespace: "q", Name: "team"})
		return r.Judge(large, quota.Rules{}).Verdict.Passed()
	})
}

func TestPendingPodsThatGoGiveNotice(t *testing.T) {
	r := newRig(t)
	pending := newPod("ns", "pending", "10", "team")
	r.pods.Add(pending)
	eventually.True(t, "the pod", func() bool { _, found := r.Held(pending.UID); return found })
	freed := r.Freed()
	r.pods.Delete(pending)
	select {
	case <-freed:
	case <-time.After(10 * time.Second):
		t.Fatal("no notice")
	}
}

func TestConfigure(t *testing.T) {
	r := newRig(t)
	args := func(raw func(*quota.Args)) *quota.Args {
		args := &quota.Args{}
		raw(args)
		quota.SetDefaults(args)
		return args
	}
	if err := r.Configure(args(func(*quota.Args) {})); err != nil {
		t.Fatal(err)
	}
	if err := r.Configure(args(func(a *quota.Args) { a.EnableRuntimeQuota = new(false) })); err != nil {
		t.Errorf("profiles may differ in how they admit: %v", err)
	}
	if err := r.Configure(args(func(a *quota.Args) { a.EnableMinQuotaScale = new(false) })); err == nil || !strings.Contains(err.Error(), quota.Kind) {
		t.Errorf("profiles disagree on the tree: error %v", err)
	}
}

func TestSettleSaysThatQuotasAreUnknown(t *testing.T) {
	idle := func() cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(fcache.NewFakeControllerSource(), &corev1.Pod{}, 0, cache.Indexers{})
	}
	never, err := NewFrom(fcache.NewFakeControllerSource(), idle(), idle())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := never.WaitForSync(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended", err)
	}
	never.deadline.Store(new(time.Now()))
	if err := never.WaitForSync(t.Context()); err == nil || !strings.Contains(err.Error(), "elasticquotas") {
		t.Errorf("error %v", err)
	}
}

func TestDefaultQuotaWithALimitIsNotIdle(t *testing.T) {
	r := newRig(t)
	object := newQuota("koordinator-system", extension.DefaultQuotaName, "0", "10")
	r.quotas.Add(object)
	eventually.True(t, "a limit of the default quota", func() bool { return !r.Idle() })
	if got := r.Judge(newPod("ns", "p", "11", ""), quota.Rules{Runtime: true}); got.Verdict.Passed() {
		t.Error("a pod beyond the default quota passes")
	}
}

func TestAPodThatTakesTheNameOfAnotherReplacesIt(t *testing.T) {
	r := newRig(t)
	r.quotas.Add(newQuota("q", "team", "5", "10"))
	first, second := onNode(newPod("ns", "p", "4", "team")), newPod("ns", "p", "3", "team")
	second.UID = "second"
	r.pods.Add(first)
	if err := r.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.pods.Modify(second) // as after a watch that missed the deletion
	eventually.True(t, "the second pod", func() bool { return r.Counts("second") })
	r.PodChanged(first)
	if r.Counts(first.UID) {
		t.Error("the first pod still counts")
	}
}
