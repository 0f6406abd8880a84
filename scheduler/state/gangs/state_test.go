package gangs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/test/eventually"
)

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// rig is a State over sources that the test feeds.
type rig struct {
	*State
	groups, pods, network *fcache.FakeControllerSource
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{groups: fcache.NewFakeControllerSource(), pods: fcache.NewFakeControllerSource(), network: fcache.NewFakeControllerSource()}
	r.restart(t)
	return r
}

// restart puts a new State over the same sources.
func (r *rig) restart(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	pods := cache.NewSharedIndexInformer(r.pods, &corev1.Pod{}, 0, cache.Indexers{})
	state, err := NewFrom(r.groups, pods, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	if err := state.WatchNetwork(r.network); err != nil {
		t.Fatal(err)
	}
	r.State = state
	var running sync.WaitGroup
	running.Go(func() { state.Run(ctx) })
	running.Go(func() { pods.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

func keyOf(name string) gang.Key { return gang.Key{Namespace: "ns", Name: name} }

func newGroup(name string, minimum int32) *schedulingsigsv1alpha1.PodGroup {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}}
	group.Spec.MinMember = minimum
	return group
}

func newPod(group string, index int, node string) *corev1.Pod {
	name := fmt.Sprintf("%s-%d", group, index)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodGroup: group}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// noted are the changes of which a subscriber was notified.
type noted struct {
	sync.Mutex
	woken    []string
	complete []gang.Key
}

func (n *noted) note(change Change) {
	n.Lock()
	defer n.Unlock()
	for _, pod := range change.Wake {
		n.woken = append(n.woken, pod.Name)
	}
	n.complete = append(n.complete, change.Complete...)
}

func (n *noted) hasWoken(names ...string) bool {
	n.Lock()
	defer n.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(n.woken, name) })
}

func (n *noted) hasComplete(key gang.Key) bool {
	n.Lock()
	defer n.Unlock()
	return slices.Contains(n.complete, key)
}

func TestStateFollowsTheCluster(t *testing.T) {
	r, told := newRig(t), &noted{}
	r.Subscribe(told.note)
	key := keyOf("a")
	r.pods.Add(newPod("a", 0, ""))
	r.groups.Add(newGroup("a", 2))
	eventually.True(t, "one of two exists", func() bool { return r.Counts(key).Children == 1 && r.Spec(key) != nil })
	if r.Ready(key).Passed() || r.Object(key) == nil || len(r.Members(key)) != 1 {
		t.Error("a gang that lacks a pod is ready")
	}
	r.pods.Add(newPod("a", 1, ""))
	eventually.True(t, "both are woken", func() bool { return told.hasWoken("a-0", "a-1") })
	if verdict := r.Admit(key, "a-0"); !verdict.Passed() {
		t.Error(verdict.Reason)
	}
	if permission := r.Permit(key, newPod("a", 0, ""), "n"); permission.Wait == 0 {
		t.Error("the first does not wait")
	}
	r.groups.Modify(newGroup("a", 1))
	eventually.True(t, "the gang is told complete", func() bool { return told.hasComplete(key) })
	if allowed, done := r.AllowWaiting(key, func(types.UID) bool { return false }); done || len(allowed) > 0 {
		t.Error("a member is allowed that cannot be told")
	}
	if allowed, done := r.AllowWaiting(key, func(types.UID) bool { return true }); !done || len(allowed) != 1 {
		t.Errorf("allowed %v", allowed)
	}
	r.Bound("a-0")
	r.pods.Delete(newPod("a", 1, ""))
	eventually.True(t, "one is gone", func() bool { return r.Counts(key) == gang.Counts{Children: 1, Bound: 1} })
	r.groups.Delete(newGroup("a", 1))
	eventually.True(t, "the PodGroup is gone", func() bool { return r.Object(key) == nil && r.Spec(key) == nil })
	r.network.Add(&schedulingv1alpha1.ClusterNetworkTopology{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	eventually.True(t, "the network is known", func() bool { return r.Topology() != nil })
}

// TestPodsThatTheSchedulerSawFirst are taken from the informer's store; pods that are gone do not come back.
func TestPodsThatTheSchedulerSawFirst(t *testing.T) {
	r := newRig(t)
	key := keyOf("a")
	r.groups.Add(newGroup("a", 2))
	eventually.True(t, "the gang is known", func() bool { return r.Spec(key) != nil })
	if permission := r.Permit(key, newPod("a", 7, "n"), "n"); permission.Refused.Passed() {
		t.Error("a pod that does not exist is permitted")
	}
	if err := r.State.pods.GetIndexer().Add(newPod("a", 0, "")); err != nil {
		t.Fatal(err)
	}
	if permission := r.Permit(key, newPod("a", 0, "n"), "n"); permission.Wait == 0 || r.Counts(key).Waiting != 1 {
		t.Errorf("permission %+v, counts %+v", permission, r.Counts(key))
	}
}

func TestARestartKnowsTheSame(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a", "b"} {
		r.groups.Add(newGroup(name, 3))
		for i := range 4 {
			node := ""
			if i%2 == 0 {
				node = "n"
			}
			r.pods.Add(newPod(name, i, node))
		}
	}
	r.pods.Delete(newPod("b", 0, "n"))
	known := func() bool {
		return r.Counts(keyOf("a")) == gang.Counts{Children: 4, Bound: 2} && r.Counts(keyOf("b")) == gang.Counts{Children: 3, Bound: 1} &&
			r.Spec(keyOf("a")) != nil && r.Spec(keyOf("b")) != nil
	}
	eventually.True(t, "all is known", known)
	before := []string{r.Report(keyOf("a")).Message(), r.Report(keyOf("b")).Message()}
	r.restart(t)
	eventually.True(t, "all is known again", known)
	if after := []string{r.Report(keyOf("a")).Message(), r.Report(keyOf("b")).Message()}; !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}

func TestProfilesMustAgree(t *testing.T) {
	r := newRig(t)
	first := gang.Defaults{WaitTime: time.Minute, MatchPolicy: extension.GangMatchPolicyOnlyWaiting}
	if err := r.Configure(first); err != nil {
		t.Fatal(err)
	}
	if err := r.Configure(first); err != nil {
		t.Error(err)
	}
	if err := r.Configure(gang.Defaults{WaitTime: time.Hour}); err == nil {
		t.Error("another profile may contradict")
	}
}

func TestSupposing(t *testing.T) {
	r := newRig(t)
	key := keyOf("a")
	r.groups.Add(newGroup("a", 3))
	r.pods.Add(newPod("a", 0, ""))
	eventually.True(t, "the gang is known", func() bool { return r.Spec(key) != nil && r.Counts(key).Children == 1 })
	fork := r.Fork()
	fork.Suppose(newGroup("a", 2))
	fork.SupposePod(newPod("a", 1, ""))
	if verdict := fork.Ready(key); !verdict.Passed() {
		t.Errorf("supposed: %s", verdict.Reason)
	}
	if r.Ready(key).Passed() || r.Object(key).Spec.MinMember != 3 {
		t.Error("what is supposed is real")
	}
	fork.SupposeGone("a-1")
	if fork.Ready(key).Passed() {
		t.Error("a pod that is supposed to be gone counts")
	}
}

// TestConcurrentUse does everything at once, for what a detector of races may find.
func TestConcurrentUse(t *testing.T) {
	r := newRig(t)
	key := keyOf("a")
	r.Subscribe(func(Change) { r.Counts(key) })
	var running sync.WaitGroup
	for worker := range 4 {
		running.Go(func() {
			for i := range 50 {
				pod := newPod("a", worker*100+i, "")
				r.pods.Add(pod)
				r.groups.Add(newGroup("a", int32(i%5+1)))
				r.Admit(key, pod.UID)
				r.Permit(key, pod, "n")
				r.Fail(key, pod, "no room")
				r.Unplace(key, pod)
				r.Report(key)
				r.Fork().Suppose(newGroup("a", 1))
			}
		})
	}
	running.Wait()
	eventually.True(t, "all pods are known", func() bool { return r.Counts(key).Children == 200 })
}

func TestStatusesAreWritten(t *testing.T) {
	r := newRig(t)
	scheme := runtime.NewScheme()
	if err := schedulingsigsv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	group := newGroup("a", 2)
	ended := newPod("a", 5, "n")
	ended.Status.Phase = corev1.PodSucceeded
	objects, client := fake.NewSimpleDynamicClient(scheme, group), kubefake.NewClientset(ended)
	var refused atomic.Bool
	objects.PrependReactor("patch", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) { // the first write
		return !refused.Swap(true), nil, apierrors.NewConflict(Kind.Resource.GroupResource(), "a", errors.New("too many writers"))
	})
	statuses, err := NewStatuses(r.State, objects, client, 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { statuses.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	phase := func() string {
		object, err := objects.Resource(Kind.Resource).Namespace("ns").Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		return text
	}
	r.groups.Add(group)
	eventually.True(t, "the group is pending", func() bool { return phase() == "Pending" })
	r.pods.Add(newPod("a", 0, "n"))
	r.pods.Add(newPod("a", 1, "n"))
	eventually.True(t, "the group is scheduled", func() bool { return phase() == "Scheduled" })
	scheduled := newGroup("a", 1)
	scheduled.Status.Phase, scheduled.Status.Scheduled = "Scheduled", 2
	r.groups.Modify(scheduled)
	r.pods.Delete(newPod("a", 0, "n"))
	eventually.True(t, "the group is finished, by a pod that only the API server knows", func() bool { return phase() == "Finished" })
}
