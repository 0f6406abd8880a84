package controller

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/test/eventually"
)

// rig is a controller over the real state, whose objects come from the test and whose writes are recorded.
type rig struct {
	*Controller
	t                   *testing.T
	state               *quotas.State
	quotas, pods, nodes *fcache.FakeControllerSource
	dynamic             *dynamicfake.FakeDynamicClient
	client              *fake.Clientset
	now                 time.Time
}

func newRig(t *testing.T, args string, objects ...runtime.Object) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &rig{t: t, quotas: fcache.NewFakeControllerSource(), pods: fcache.NewFakeControllerSource(), nodes: fcache.NewFakeControllerSource(), now: time.Unix(1000, 0)}
	scheme := runtime.NewScheme()
	if err := schedulingsigsv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var existing []runtime.Object
	r.client = fake.NewClientset()
	for _, object := range objects {
		switch typed := object.(type) {
		case *schedulingsigsv1alpha1.ElasticQuota:
			r.quotas.Add(typed)
			existing = append(existing, typed)
		case *corev1.Pod:
			r.pods.Add(typed)
		case *corev1.Node:
			r.nodes.Add(typed)
		}
	}
	r.dynamic = dynamicfake.NewSimpleDynamicClient(scheme, existing...)
	pods := cache.NewSharedIndexInformer(r.pods, &corev1.Pod{}, 0, cache.Indexers{})
	nodes := cache.NewSharedIndexInformer(r.nodes, &corev1.Node{}, 0, cache.Indexers{})
	var err error
	if r.state, err = quotas.NewFrom(r.quotas, pods, nodes); err != nil {
		t.Fatal(err)
	}
	decoded, err := quota.DecodeArgs(&runtime.Unknown{Raw: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.state.Configure(decoded); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { r.state.Run(ctx) })
	running.Go(func() { pods.RunWithContext(ctx) })
	running.Go(func() { nodes.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if err := r.state.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}
	r.Controller = New(Config{State: r.state, Quotas: r.dynamic, Pods: r.client, Recorder: events.NewFakeRecorder(100), Now: func() time.Time { return r.now }})
	return r
}

func newQuota(name, minimum, maximum string) *schedulingsigsv1alpha1.ElasticQuota {
	return &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "q", Name: name, UID: types.UID(name)}, Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{
		Min: corev1.ResourceList{"cpu": resource.MustParse(minimum)}, Max: corev1.ResourceList{"cpu": resource.MustParse(maximum)},
	}}
}

func newNode(cpu string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}
}

func newPod(name, cpu, quota string, priority int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelQuotaName: quota}},
		Spec: corev1.PodSpec{NodeName: "n", Priority: &priority, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}},
		}},
	}
}

func pending(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = ""
	return pod
}

// patches are what was written, by the name of the quota.
func (r *rig) patches() map[string]map[string]any {
	r.t.Helper()
	found := map[string]map[string]any{}
	for _, action := range r.dynamic.Actions() {
		if patch, ok := action.(clienttesting.PatchAction); ok {
			var content map[string]any
			if err := json.Unmarshal(patch.GetPatch(), &content); err != nil {
				r.t.Fatal(err)
			}
			found[patch.GetName()] = content
		}
	}
	r.dynamic.ClearActions()
	return found
}

func (r *rig) write() {
	r.t.Helper()
	if err := r.writeAll(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func TestStatusIsWrittenOnceAndWhenItChanges(t *testing.T) {
	fixed := newPod("fixed", "1", "team", 0)
	fixed.Labels[extension.LabelQuotaPreemptible] = "false"
	r := newRig(t, "", newNode("20"), newQuota("team", "5", "8"), newPod("a", "2", "team", 0), fixed, pending(newPod("b", "10", "team", 0)))
	r.write()
	want := map[string]any{
		"metadata": map[string]any{"uid": "team", "annotations": map[string]any{
			extension.AnnotationQuotaRuntime: `{"cpu":"8"}`, extension.AnnotationQuotaRequest: `{"cpu":"13"}`, extension.AnnotationQuotaChildRequest: `{"cpu":"13"}`,
			extension.AnnotationQuotaNonPreemptibleRequest: `{"cpu":"1"}`, extension.AnnotationQuotaNonPreemptibleUsed: `{"cpu":"1"}`,
		}},
		"status": map[string]any{"used": map[string]any{"cpu": "3"}},
	}
	if diff := cmp.Diff(want, r.patches()["team"]); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	r.write()
	if again := r.patches(); len(again) != 0 {
		t.Errorf("nothing changed, and %v is written", again)
	}
	r.pods.Add(newPod("c", "1", "team", 0))
	eventually.True(r.t, "the new pod", func() bool { return r.state.Counts("c") })
	r.write()
	if status := r.patches()["team"]["status"]; !cmp.Equal(status, map[string]any{"used": map[string]any{"cpu": "4"}}) {
		t.Errorf("with another pod %v is written", status)
	}
	r.now = r.now.Add(3 * time.Minute)
	r.write()
	if again := r.patches(); len(again) != 1 {
		t.Errorf("an object that was edited meanwhile is not put right: %v", again)
	}
}

func TestWhatUsageGuaranteesIsWrittenAsLongAsItDoes(t *testing.T) {
	dept, team := newQuota("dept", "5", "20"), newQuota("team", "2", "8")
	dept.Labels = map[string]string{extension.LabelQuotaIsParent: "true"}
	team.Labels = map[string]string{extension.LabelQuotaParent: "dept"}
	spare := newQuota("spare", "4", "8")
	spare.Labels = team.Labels
	pods := []runtime.Object{newPod("a", "3", "team", 0), pending(newPod("b", "1", "team", 0))}
	// Team is guaranteed the 3 that it uses, spare its min, and dept both of them.
	want := map[string][2]any{"dept": {`{"cpu":"7"}`, `{"cpu":"7"}`}, "team": {`{"cpu":"3"}`, `{"cpu":"3"}`}, "spare": {`{"cpu":"4"}`, `{"cpu":"0"}`}}
	written := func(r *rig) map[string][2]any {
		r.write()
		found := map[string][2]any{}
		for name, patch := range r.patches() {
			annotations := patch["metadata"].(map[string]any)["annotations"].(map[string]any)
			guaranteed, says := annotations[extension.AnnotationQuotaGuaranteed]
			allocated, saysToo := annotations[extension.AnnotationQuotaAllocated]
			if says && saysToo && name != extension.DefaultQuotaName && name != extension.SystemQuotaName {
				found[name] = [2]any{guaranteed, allocated}
			}
		}
		return found
	}
	on := newRig(t, `{"guaranteeUsage":true}`, append(pods, newNode("20"), dept, team, spare)...)
	if diff := cmp.Diff(want, written(on)); diff != "" {
		t.Errorf("guaranteed and allocated (-want +got):\n%s", diff)
	}
	team.Annotations = map[string]string{extension.AnnotationQuotaGuaranteed: `{"cpu":"3"}`, extension.AnnotationQuotaAllocated: `{"cpu":"3"}`}
	off := newRig(t, "", append(pods, newNode("20"), dept, team, spare)...)
	if diff := cmp.Diff(map[string][2]any{"team": {nil, nil}}, written(off)); diff != "" {
		t.Errorf("guaranteed and allocated when usage guarantees nothing any more (-want +got):\n%s", diff)
	}
}

func TestBuiltInQuotasAreCreated(t *testing.T) {
	existing := newQuota(extension.SystemQuotaName, "0", "100")
	existing.Namespace = "here"
	r := newRig(t, `{"quotaGroupNamespace":"here"}`, existing)
	r.write()
	list, err := r.dynamic.Resource(quotas.Kind.Resource).Namespace("here").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range list.Items {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{extension.DefaultQuotaName, extension.RootQuotaName, extension.SystemQuotaName}, names); diff != "" {
		t.Errorf("built-in quotas (-want +got):\n%s", diff)
	}
}

// evictions are the names of the pods for which an eviction was asked.
func (r *rig) evictions() []string {
	var names []string
	for _, action := range r.client.Actions() {
		if creation, ok := action.(clienttesting.CreateAction); ok && action.GetSubresource() == "eviction" {
			names = append(names, creation.GetObject().(*policyv1.Eviction).Name)
		}
	}
	r.client.ClearActions()
	return names
}

func (r *rig) revokeAfter(passed time.Duration) []string {
	r.t.Helper()
	r.now = r.now.Add(passed)
	if err := r.revokeAll(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return r.evictions()
}

func TestOverusedQuotasLosePodsAfterTheDelay(t *testing.T) {
	r := newRig(t, `{"monitorAllQuotas":true,"delayEvictTime":"2m"}`, newNode("10"), newQuota("borrower", "2", "10"), newQuota("owner", "8", "10"),
		newPod("high", "2", "borrower", 9), newPod("low", "3", "borrower", 1), newPod("mid", "3", "borrower", 5))
	if got := r.revokeAfter(0); got != nil {
		t.Fatalf("%v is evicted from a quota within its runtime", got)
	}
	r.pods.Add(pending(newPod("back", "5", "owner", 0)))
	eventually.True(r.t, "the owner's pod", func() bool { return r.state.Counts("back") })
	if got := r.revokeAfter(0); got != nil {
		t.Errorf("%v is evicted at once", got)
	}
	if got := r.revokeAfter(119 * time.Second); got != nil {
		t.Errorf("%v is evicted before the delay is over", got)
	}
	if diff := cmp.Diff([]string{"low"}, r.revokeAfter(time.Second)); diff != "" {
		t.Errorf("evicted after the delay (-want +got):\n%s", diff)
	}
	if got := r.revokeAfter(time.Second); got != nil {
		t.Errorf("%v is evicted while another one is on its way out", got)
	}
	r.pods.Delete(newPod("low", "3", "borrower", 1))
	eventually.True(r.t, "the eviction", func() bool { return !r.state.Counts("low") })
	if got := r.revokeAfter(time.Hour); got != nil {
		t.Errorf("%v is evicted though the quota is within its runtime again", got)
	}
	if len(r.evicted) != 0 || len(r.overused) != 0 {
		t.Errorf("remembered for ever: %v, %v", r.evicted, r.overused)
	}
}

// TestOfEqualPodsAnOverusedQuotaLosesTheJobThatLosesLeast, although the other one is the last by name.
func TestOfEqualPodsAnOverusedQuotaLosesTheJobThatLosesLeast(t *testing.T) {
	now := time.Now()
	job := func(pod *corev1.Pod, likely int64) *corev1.Pod {
		pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: now.Add(-time.Hour)}
		_ = extension.SetJobPrediction(pod, &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: likely, LeastSeconds: likely / 2, MostSeconds: likely * 2, Runs: 9}})
		return pod
	}
	r := newRig(t, `{"monitorAllQuotas":true,"delayEvictTime":"0s"}`, newNode("3"), newQuota("team", "2", "10"),
		job(newPod("begun", "3", "team", 1), 40000), job(newPod("nearly-done", "3", "team", 1), 4000))
	r.now = now
	if diff := cmp.Diff([]string{"begun"}, r.revokeAfter(0)); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}

func TestDisruptionBudgetsHold(t *testing.T) {
	r := newRig(t, `{"monitorAllQuotas":true,"delayEvictTime":"0s"}`, newNode("2"), newQuota("team", "2", "10"), newPod("a", "3", "team", 1))
	refuse := true
	r.client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refuse {
			return true, nil, apierrors.NewTooManyRequests("budget", 1)
		}
		return false, nil, nil
	})
	if got := r.revokeAfter(0); len(got) != 1 || len(r.evicted) != 0 {
		t.Errorf("asked for %v, remembered %v", got, r.evicted)
	}
	refuse = false
	if got := r.revokeAfter(time.Second); len(got) != 1 || len(r.evicted) != 1 {
		t.Errorf("the second time asked for %v, remembered %v", got, r.evicted)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	r := newRig(t, `{"monitorAllQuotas":true,"revokePodInterval":"1ms"}`, newNode("10"), newQuota("team", "5", "8"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	eventually.True(r.t, "the first status", func() bool { return len(r.dynamic.Actions()) > 0 })
	cancel()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}
