package elasticquota

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/test/eventually"
)

func replaceArgs(args string) string { return strings.Replace(profile, "ARGS", args, 1) }

func TestScheduling(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}, MaxUnavailable: new(intstr.FromInt32(0)),
	}}
	guarded := running(newPod("guarded", "2", "team", 0))
	guarded.Labels["app"] = "guarded"
	never := newPod("p", "4", "team", 9)
	never.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	parent := newQuota("dept", "0", "6", extension.LabelQuotaIsParent, "true")
	child := func(name string) *schedulingsigsv1alpha1.ElasticQuota {
		return newQuota(name, "0", "6", extension.LabelQuotaParent, "dept")
	}
	tests := []struct {
		name        string
		args        string
		objects     []runtime.Object
		pod         *corev1.Pod
		wantReason  string
		wantVictims []string
	}{
		{name: "a pod that fits into its quota", objects: []runtime.Object{newQuota("team", "5", "8")}, pod: newPod("p", "8", "team", 0)},
		{name: "a pod without a quota", objects: []runtime.Object{newQuota("team", "0", "0")}, pod: newPod("p", "8", "", 0)},
		{
			name: "a pod that does not", objects: []runtime.Object{newQuota("team", "5", "8"), running(newPod("a", "5", "team", 0))}, pod: newPod("p", "4", "team", 0),
			wantReason: "Insufficient quotas, quotaName: team, runtime: cpu:8, used: cpu:5,memory:0, pod's request: cpu:4, exceedDimensions: [cpu]",
		},
		{
			name: "the least important of the quota gives way", objects: []runtime.Object{newQuota("team", "5", "8"), running(newPod("low", "2", "team", 1)), running(newPod("mid", "3", "team", 2)), running(newPod("other", "3", "", 0))},
			pod: newPod("p", "4", "team", 9), wantReason: "Insufficient quotas", wantVictims: []string{"low"},
		},
		{
			name: "of equals the job that would lose the least", objects: []runtime.Object{newQuota("team", "5", "8"), ofJob(55*time.Minute, newPod("nearly-done", "3", "team", 1)), ofJob(10*time.Minute, newPod("begun", "3", "team", 1)), startedAgo(time.Minute, newPod("high", "2", "team", 2))},
			pod: newPod("p", "3", "team", 9), wantReason: "Insufficient quotas", wantVictims: []string{"begun"},
		},
		{
			name: "which may be older", objects: []runtime.Object{newQuota("team", "5", "8"), ofJob(55*time.Minute, newPod("nearly-done", "4", "team", 1)), startedAgo(9*time.Hour, newPod("unknown", "4", "team", 1))},
			pod: newPod("p", "4", "team", 9), wantReason: "Insufficient quotas", wantVictims: []string{"unknown"},
		},
		{
			name: "of equals without a prediction the younger one", objects: []runtime.Object{newQuota("team", "5", "8"), startedAgo(time.Minute, newPod("young", "4", "team", 1)), startedAgo(2*time.Minute, newPod("old", "4", "team", 1))},
			pod: newPod("p", "4", "team", 9), wantReason: "Insufficient quotas", wantVictims: []string{"young"},
		},
		{
			name: "nobody of another quota gives way for it", objects: []runtime.Object{newQuota("team", "5", "8"), newQuota("more", "0", "8"), running(newPod("same", "6", "team", 9)), running(newPod("other", "4", "more", 0))},
			pod: newPod("p", "4", "team", 9), wantReason: "Insufficient quotas",
		},
		{
			name: "who is not preemptible stays", objects: []runtime.Object{newQuota("team", "5", "8"), fixed(running(newPod("a", "5", "team", 0)))}, pod: newPod("p", "4", "team", 9),
			wantReason: "Insufficient quotas",
		},
		{
			name: "where the node is full, the quota's own pods give way", args: `{"enableRuntimeQuota":false}`, objects: []runtime.Object{newQuota("team", "5", "80"), newQuota("more", "0", "80"), running(newPod("own", "5", "team", 0)), running(newPod("other", "5", "more", 0))},
			pod: newPod("p", "4", "team", 9), wantReason: "Insufficient cpu", wantVictims: []string{"own"},
		},
		{
			name: "a disruption budget is spared", objects: []runtime.Object{newQuota("team", "5", "8"), budget, guarded, running(newPod("free", "2", "team", 5)), running(newPod("high", "3", "team", 9))},
			pod: newPod("p", "3", "team", 9), wantReason: "Insufficient quotas", wantVictims: []string{"free"},
		},
		{name: "a pod that never preempts", objects: []runtime.Object{newQuota("team", "5", "8"), running(newPod("a", "5", "team", 0))}, pod: never, wantReason: "Insufficient quotas"},
		{
			name: "pods of the default quota do not preempt each other", args: `{"defaultQuotaGroupMax":{"cpu":"6"}}`, objects: []runtime.Object{running(newPod("a", "5", "", 0))}, pod: newPod("p", "4", "", 9),
			wantReason: "Insufficient quotas, quotaName: koordinator-default-quota", wantVictims: nil,
		},
		{
			name: "unless they may", args: `{"defaultQuotaGroupMax":{"cpu":"6"},"disableDefaultQuotaPreemption":false}`, objects: []runtime.Object{running(newPod("a", "5", "", 0))}, pod: newPod("p", "4", "", 9),
			wantReason: "Insufficient quotas, quotaName: koordinator-default-quota", wantVictims: []string{"a"},
		},
		{
			name: "a quota above refuses where parents are checked", args: `{"enableCheckParentQuota":true,"enableRuntimeQuota":false}`, objects: []runtime.Object{parent, child("a"), child("b"), running(newPod("x", "5", "b", 0))}, pod: newPod("p", "2", "a", 9),
			wantReason: "Insufficient quotas, quotaNameTopo: [dept a], runtime: cpu:6, used: cpu:5",
		},
		{
			name: "not where they are not", args: `{"enableRuntimeQuota":false}`, objects: []runtime.Object{parent, child("a"), child("b"), running(newPod("x", "5", "b", 0))}, pod: newPod("p", "2", "a", 0),
		},
		{
			name: "a pod that is not preemptible must fit into min", objects: []runtime.Object{newQuota("team", "5", "8")}, pod: fixed(newPod("p", "6", "team", 0)),
			wantReason: "Insufficient non-preemptible quotas, quotaName: team, min: cpu:5, nonPreemptibleUsed: cpu:0,memory:0, pod's request: cpu:6, exceedDimensions: [cpu]",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.args, append(test.objects, test.pod)...)
			_, status, result := f.schedule(test.pod)
			if nominated := result != nil && result.NominatingInfo != nil && result.NominatedNodeName != ""; nominated != (len(test.wantVictims) > 0) {
				t.Errorf("preempts %v, want %v", nominated, len(test.wantVictims) > 0)
			}
			if test.wantReason == "" && !status.IsSuccess() || !strings.Contains(status.Message(), test.wantReason) {
				t.Errorf("status %q, want %q", status.Message(), test.wantReason)
			}
			eventually.True(t, "the victims are deleted", func() bool { return len(f.deleted()) >= len(test.wantVictims) })
			if diff := cmp.Diff(test.wantVictims, f.deleted()); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

// deleted returns the names of the pods that were deleted, sorted.
func (f *fixture) deleted() []string {
	var names []string
	for _, action := range f.client.Actions() {
		if deletion, ok := action.(interface{ GetName() string }); ok && action.Matches("delete", "pods") {
			names = append(names, deletion.GetName())
		}
	}
	slices.Sort(names)
	return names
}

func TestReserveCountsUntilUnreserve(t *testing.T) {
	first, second := newPod("first", "5", "team", 0), newPod("second", "5", "team", 0)
	f := newFixture(t, "", newQuota("team", "5", "8"), first, second)
	passes := func() bool { _, status, _ := f.schedule(second); return status.IsSuccess() }
	if !passes() {
		t.Error("an empty quota refuses")
	}
	f.plugin.Reserve(t.Context(), nil, first, "n")
	if passes() {
		t.Error("a reserved pod does not count")
	}
	f.plugin.Unreserve(t.Context(), nil, first, "n")
	if !passes() {
		t.Error("what was reserved and given back still counts")
	}
}

func TestPodsThatPassAreSkipped(t *testing.T) {
	for name, quotas := range map[string][]runtime.Object{"without quotas": nil, "in a quota": {newQuota("team", "5", "8")}} {
		pod := newPod("p", "5", "team", 0)
		f := newFixture(t, "", append(quotas, pod)...)
		state := framework.NewCycleState()
		if _, status := f.plugin.PreFilter(t.Context(), state, pod, nil); !status.IsSkip() {
			t.Errorf("%s: status %v, want skip", name, status)
		}
		if read(state) != nil {
			t.Errorf("%s: there is something in the cycle's state", name)
		}
	}
	if fragments, status := (&Plugin{}).SignPod(t.Context(), nil); fragments != nil || !status.IsSuccess() {
		t.Errorf("a signature of %v, %v", fragments, status)
	}
}

func TestFactoryRefusesBadArguments(t *testing.T) {
	f := newFixture(t, "")
	for name, raw := range map[string]string{
		"out of range": `{"revokePodInterval":"-1s"}`, "misspelt": `{"monitorAll":true}`, "in contradiction to another profile": `{"monitorAllQuotas":true}`,
	} {
		if _, err := Factory(f.state)(t.Context(), &runtime.Unknown{Raw: []byte(raw)}, f.framework); err == nil || !strings.Contains(err.Error(), quota.Kind) {
			t.Errorf("%s: error %v, want one about %s", name, err, quota.Kind)
		}
	}
}

func TestQueueingHints(t *testing.T) {
	pod := newPod("p", "4", "team", 0)
	small := newPod("p", "2", "team", 0)
	team, larger, annotated := newQuota("team", "5", "8"), newQuota("team", "5", "9"), newQuota("team", "5", "8")
	annotated.Annotations = map[string]string{extension.AnnotationQuotaRuntime: `{"cpu":"8"}`}
	occupant := running(newPod("a", "5", "team", 0))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	tests := []struct {
		name        string
		apply       func(*fixture)
		hint        func(*Plugin) fwk.QueueingHintFn
		old, new    any
		wantToQueue bool
	}{
		{name: "max is raised", apply: func(f *fixture) { f.quotas.Modify(larger) }, hint: onQuota, old: team, new: larger, wantToQueue: true},
		{name: "the status is written", hint: onQuota, old: team, new: annotated},
		{name: "another quota appears", apply: func(f *fixture) { f.quotas.Add(newQuota("other", "0", "1")) }, hint: onQuota, new: newQuota("other", "0", "1")},
		{name: "the quota is deleted", apply: func(f *fixture) { f.quotas.Delete(team) }, hint: onQuota, old: team, wantToQueue: true},
		{name: "a pod of the quota is deleted", apply: func(f *fixture) { f.deletePod("a") }, hint: onPod, old: occupant, wantToQueue: true},
		{name: "a pod of another quota is deleted", apply: func(f *fixture) { f.deletePod("b") }, hint: onPod, old: running(newPod("b", "1", "", 0))},
		{name: "the pod itself asks for less", apply: func(f *fixture) { f.updatePod(small) }, hint: onPod, old: pod, new: small, wantToQueue: true},
		{name: "a node grows and the quota does not", hint: onNode, old: node, new: node},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, "", team.DeepCopy(), occupant.DeepCopy(), running(newPod("b", "1", "", 0)), pod)
			if _, status, _ := f.schedule(pod); status.IsSuccess() {
				t.Fatal("the pod is not refused to begin with")
			}
			if test.apply != nil {
				test.apply(f)
			}
			eventually.True(f.t, "the hint", func() bool {
				hint, err := test.hint(f.plugin)(klog.Background(), pod, test.old, test.new)
				if err != nil {
					t.Fatal(err)
				}
				return (hint == fwk.Queue) == test.wantToQueue
			})
		})
	}
	f := newFixture(t, "")
	for _, hint := range []fwk.QueueingHintFn{f.plugin.afterQuota, f.plugin.afterPod, f.plugin.afterNode} {
		if got, err := hint(klog.Background(), pod, "?", "?"); err == nil || got != fwk.Queue {
			t.Errorf("what is not understood: hint %v, error %v", got, err)
		}
	}
}

func onQuota(p *Plugin) fwk.QueueingHintFn { return p.afterQuota }
func onPod(p *Plugin) fwk.QueueingHintFn   { return p.afterPod }
func onNode(p *Plugin) fwk.QueueingHintFn  { return p.afterNode }

func (f *fixture) deletePod(name string) {
	f.t.Helper()
	if err := f.client.CoreV1().Pods("ns").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) updatePod(pod *corev1.Pod) {
	f.t.Helper()
	if _, err := f.client.CoreV1().Pods("ns").Update(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

func TestAPendingPodThatGoesWakesThoseItKeptOut(t *testing.T) {
	rival, pod := newPod("rival", "10", "b", 0), newPod("p", "6", "a", 0)
	f := newFixture(t, "", newQuota("a", "0", "10"), newQuota("b", "0", "10"), rival, pod)
	state, status, _ := f.schedule(pod)
	if status.IsSuccess() {
		t.Fatal("the pod gets more than its share")
	}
	f.plugin.Refused(state, pod)
	f.deletePod("rival")
	select {
	case name := <-f.woken:
		if name != "ns/p" {
			t.Errorf("%s is woken", name)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody is woken")
	}
	if _, status, _ := f.schedule(pod); !status.IsSuccess() {
		t.Errorf("woken in vain: %s", status.Message())
	}
}

func TestExplanationsNameTheHolder(t *testing.T) {
	pod := newPod("p", "8", "a", 0)
	f := newFixture(t, "", newQuota("a", "2", "10"), newQuota("b", "0", "10"), running(newPod("x", "8", "b", 0)), pod)
	state, status, _ := f.schedule(pod)
	subject, ok := f.plugin.ExplainRefusal(t.Context(), state, pod, nil, status.Message())
	if !ok || subject.Code != "KOORD1202" {
		t.Fatalf("subject %+v, %v", subject, ok)
	}
	message, operands := subject.Describe()
	for _, want := range []string{"quota a", "runtime", "the tree has 10 in total", "b holds 4 (uses 8 of 4)"} {
		if !strings.Contains(message, want) {
			t.Errorf("message %q lacks %q", message, want)
		}
	}
	if len(operands) == 0 {
		t.Error("there are no operands")
	}
	if _, ok := f.plugin.ExplainRefusal(t.Context(), state, pod, nil, "node(s) had untolerated taint"); ok {
		t.Error("another plugin's reason is explained")
	}
}

func TestAQuotaThatDoesNotExistIsNamed(t *testing.T) {
	pod := newPod("p", "6", "typo", 0)
	f := newFixture(t, `{"defaultQuotaGroupMax":{"cpu":"5"}}`, pod)
	state, status, _ := f.schedule(pod)
	subject, ok := f.plugin.ExplainRefusal(t.Context(), state, pod, nil, status.Message())
	if !ok || subject.Code != "KOORD1205" {
		t.Fatalf("subject %+v, %v", subject, ok)
	}
	if message, _ := subject.Describe(); !strings.Contains(message, `quota "typo" does not exist`) {
		t.Errorf("message %q", message)
	}
}

// serving lets the pods of a namespace name the quota.
func serving(object *schedulingsigsv1alpha1.ElasticQuota, namespace string) *schedulingsigsv1alpha1.ElasticQuota {
	object.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["` + namespace + `"]`}
	return object
}

func TestAdviceHolds(t *testing.T) {
	parent := newQuota("dept", "0", "6", extension.LabelQuotaIsParent, "true")
	child := func(name string) *schedulingsigsv1alpha1.ElasticQuota {
		return newQuota(name, "0", "6", extension.LabelQuotaParent, "dept")
	}
	tests := []struct {
		name    string
		args    string
		objects []runtime.Object
		pod     *corev1.Pod
		want    []string
	}{
		{
			name: "beyond max", objects: []runtime.Object{newQuota("team", "5", "8"), serving(newQuota("room", "0", "9"), "ns"), newQuota("foreign", "0", "9"), running(newPod("a", "5", "team", 0))}, pod: newPod("p", "4", "team", 0),
			want: []string{"raiseQuota: raise max of quota team: cpu from 8 to 9", "guaranteeQuota: raise min, and max where it is lower, of quota team: cpu to 9",
				"changeQuota: put the pod into quota room instead of team", "leaveQuota: take the pod out of quota team, so that it counts for quota room", "evictPod: evict pod ns/a, which uses quota team"},
		},
		{
			name: "no more min than there is", objects: []runtime.Object{newQuota("team", "5", "12"), newQuota("other", "5", "8"), running(newPod("a", "6", "other", 0))}, pod: fixed(newPod("p", "6", "team", 0)),
			want: []string{"leaveQuota: take the pod out of quota team, so that it counts for quota koordinator-default-quota"},
		},
		{
			name: "beyond min", objects: []runtime.Object{newQuota("team", "5", "8")}, pod: fixed(newPod("p", "6", "team", 0)),
			want: []string{"raiseQuota: raise min of quota team: cpu from 5 to 6", "makePreemptible: let the pod be preempted: remove the label quota.scheduling.koordinator.sh/preemptible",
				"leaveQuota: take the pod out of quota team, so that it counts for quota koordinator-default-quota"},
		},
		{
			name: "beyond a max above", args: `{"enableCheckParentQuota":true,"enableRuntimeQuota":false}`, objects: []runtime.Object{parent, child("a"), running(newPod("x", "5", "b", 0)), child("b")}, pod: newPod("p", "2", "a", 0),
			want: []string{"raiseQuota: raise max of quota dept: cpu from 6 to 7", "guaranteeQuota: raise min, and max where it is lower, of quota dept: cpu to 7",
				"leaveQuota: take the pod out of quota a, so that it counts for quota koordinator-default-quota"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.args, append(test.objects, test.pod)...)
			state, status, _ := f.schedule(test.pod)
			info, err := f.framework.SnapshotSharedLister().NodeInfos().Get("n")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range f.plugin.Advise(t.Context(), state, test.pod, info, status.Reasons()) {
				got = append(got, change.Fix.Kind+": "+change.Fix.Description)
				fork, pod := f.state.Fork(), test.pod
				if change.Pod != nil {
					pod = change.Pod
				}
				if object, ok := change.Object.(*schedulingsigsv1alpha1.ElasticQuota); ok {
					fork.Suppose(object)
				}
				for _, victim := range change.Evict {
					fork.SupposeGone(victim.UID)
				}
				if judgement := fork.Judge(pod, f.plugin.rules); !judgement.Verdict.Passed() {
					t.Errorf("%s does not help: %s", change.Fix.Description, judgement.Reason)
				}
				if len(change.Fix.Steps) == 0 || change.Fix.Node != "n" {
					t.Errorf("%s has steps %+v and node %q", change.Fix.Kind, change.Fix.Steps, change.Fix.Node)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkPreFilter(b *testing.B) {
	plain, member := newPod("plain", "1", "", 0), newPod("member", "1", "team", 0)
	for name, objects := range map[string][]runtime.Object{"no-quotas": {plain}, "in-quota": {newQuota("team", "5", "8"), member}} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b, "", objects...)
			pod, state := objects[len(objects)-1].(*corev1.Pod), framework.NewCycleState()
			b.ReportAllocs()
			for b.Loop() {
				f.plugin.PreFilter(context.Background(), state, pod, nil)
			}
		})
	}
}
