package explain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/scheduler/reason"
)

// of is a pod with a priority, an hour old.
func of(priority int32, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Priority = &priority
	pod.Status.StartTime = &metav1.Time{Time: now.Add(-time.Hour)}
	return pod
}

// inQuota puts a pod into a quota.
func inQuota(quota string, pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{extension.LabelQuotaName: quota}
	return pod
}

// protect allows no disruption of the pods with a label.
func (c *cluster) protect(label string) {
	c.must(c.informers.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: label},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": label}}},
	}))
}

func labelled(label string, pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{"app": label}
	return pod
}

// preemptionText is "verdict plugin node victims violations tried/helped: message; refusals".
func preemptionText(p *diagnosticsv1alpha1.Preemption) string {
	if p == nil {
		return "none"
	}
	var victims, refusals []string
	for _, v := range p.Victims {
		victims = append(victims, fmt.Sprintf("%s:%d", v.Name, v.Priority))
	}
	for _, r := range p.Refusals {
		refusals = append(refusals, fmt.Sprintf("%d %s %s", r.Count, r.Plugin, r.Reason))
	}
	return fmt.Sprintf("%s %s %q %v %d %d/%d: %s; %s", p.Verdict, p.Plugin, p.NodeName, victims, p.BudgetViolations, p.NodesHelped, p.NodesTried, p.Message, strings.Join(refusals, ", "))
}

func TestPreemptionIsTriedWithoutEvicting(t *testing.T) {
	c := newShippedCluster(t)
	c.protect("db")
	tests := []struct {
		name  string
		build func()
		want  string
	}{
		{
			name: "as few and as unimportant pods as possible, the most important first",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(of(100, on(0, newPod("cheap", "cpu", "6"))))
				c.addPod(of(200, on(0, newPod("dearer", "cpu", "6"))))
				c.addPod(of(300, on(0, newPod("spared", "cpu", "4"))))
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Evicts DefaultPreemption "node-0" [dearer:200 cheap:100] 0 1/1: DefaultPreemption would evict 2 pods from node node-0; `,
		},
		{
			name: "the first of two nodes that are the same",
			build: func() {
				for i := range 3 {
					c.addNode(newNode(i))
					c.addPod(of(100, on(i, newPod(fmt.Sprint("cheap-", i), "cpu", "15"))))
				}
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Evicts DefaultPreemption "node-0" [cheap-0:100] 0 3/3: DefaultPreemption would evict 1 pod from node node-0; `,
		},
		{
			name: "a budget is spared where another node does",
			build: func() {
				for i, app := range []string{"db", "web"} {
					c.addNode(newNode(i))
					c.addPod(of(100, on(i, labelled(app, newPod(app, "cpu", "15")))))
				}
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Evicts DefaultPreemption "node-1" [web:100] 0 2/2: DefaultPreemption would evict 1 pod from node node-1; `,
		},
		{
			name: "a budget is violated where nothing else helps",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(of(100, on(0, labelled("db", newPod("db", "cpu", "15")))))
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Evicts DefaultPreemption "node-0" [db:100] 1 1/1: DefaultPreemption would evict 1 pod from node node-0, of which a disruption budget protects 1; `,
		},
		{
			name: "pods of the same importance stay",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(on(0, newPod("peer", "cpu", "15")))
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Helpless DefaultPreemption "" [] 0 0/1: evicting pods with lower priority does not help on any of the 1 nodes tried; 1  No preemption victims found for incoming pod`,
		},
		{
			name: "evictions do not make enough room",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(on(0, newPod("peer", "cpu", "8")))
				c.addPod(of(100, on(0, newPod("cheap", "cpu", "4"))))
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Helpless DefaultPreemption "" [] 0 0/1: evicting pods with lower priority does not help on any of the 1 nodes tried; 1 NodeResourcesFit Insufficient cpu`,
		},
		{
			name: "a taint stays when pods go",
			build: func() {
				node := newNode(0)
				node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
				c.addNode(node)
				c.addPod(of(100, on(0, newPod("cheap", "cpu", "15"))))
				c.addPod(newPod("asked", "cpu", "12"))
			},
			want: `Helpless DefaultPreemption "" [] 0 0/0: preemption is not helpful for scheduling; 1  Preemption is not helpful for scheduling`,
		},
		{
			name: "a pod that never preempts",
			build: func() {
				c.addNode(newNode(0))
				c.addPod(of(100, on(0, newPod("cheap", "cpu", "15"))))
				pod := newPod("asked", "cpu", "12")
				pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
				c.addPod(pod)
			},
			want: `NotAllowed DefaultPreemption "" [] 0 0/0: the pod's preemptionPolicy is Never; `,
		},
		{
			name: "a pod whose victims are on their way out",
			build: func() {
				c.addNode(newNode(0))
				leaving := of(100, on(0, newPod("leaving", "cpu", "15")))
				leaving.DeletionTimestamp = &metav1.Time{Time: now}
				leaving.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
				c.addPod(leaving)
				pod := newPod("asked", "cpu", "12")
				pod.Status.NominatedNodeName = "node-0"
				c.addPod(pod)
			},
			want: `Waits DefaultPreemption "node-0" [] 0 0/0: pods on node node-0 are terminating for this pod (not eligible due to a terminating pod on the nominated node.); `,
		},
		{
			name: "a full quota takes from itself, although the node has room",
			build: func() {
				c.addNode(newNode(0))
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(of(100, inQuota("a", on(0, newPod("own", "cpu", "4")))))
				c.addPod(of(50, on(0, newPod("foreign", "cpu", "4"))))
				c.addPod(inQuota("a", newPod("asked", "cpu", "4")))
			},
			want: `Evicts ElasticQuota "node-0" [own:100] 0 1/1: ElasticQuota would evict 1 pod from node node-0; `,
		},
		{
			name: "what jobs would lose is said",
			build: func() {
				own := of(100, inQuota("a", on(0, newPod("own", "cpu", "4"))))
				own.Annotations = map[string]string{extension.AnnotationJobPrediction: `{"duration":{"likelySeconds":7200,"leastSeconds":6000,"mostSeconds":9000,"runs":9}}`}
				c.addNode(newNode(0))
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(own)
				c.addPod(inQuota("a", newPod("asked", "cpu", "4")))
			},
			want: `Evicts ElasticQuota "node-0" [own:100] 0 1/1: ElasticQuota would evict 1 pod from node node-0; jobs would lose 60m of work; `,
		},
		{
			name: "pods without a quota leave preemption to Kubernetes",
			build: func() {
				c.addNode(newNode(0))
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(of(100, on(0, newPod("cheap", "cpu", "15"))))
				c.addPod(newPod("asked", "cpu", "4"))
			},
			want: `Evicts DefaultPreemption "node-0" [cheap:100] 0 1/1: DefaultPreemption would evict 1 pod from node node-0; `,
		},
		{
			name: "other quotas' pods make no room in a full one",
			build: func() {
				c.addNode(newNode(0))
				c.addQuota(newQuota("a", "", 0, 6))
				c.addPod(inQuota("a", on(0, newPod("own", "cpu", "4"))))
				c.addPod(of(50, on(0, newPod("foreign", "cpu", "4"))))
				c.addPod(inQuota("a", newPod("asked", "cpu", "4")))
			},
			want: `Helpless DefaultPreemption "" [] 0 0/1: evicting pods with lower priority does not help on any of the 1 nodes tried; ` +
				`1 ElasticQuota Insufficient quotas, quotaName: a, runtime: cpu:6, used: cpu:4,memory:0, pod's request: cpu:4, exceedDimensions: [cpu]`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.clear()
			test.build()
			if diff := cmp.Diff(test.want, preemptionText(c.explain("asked").Preemption)); diff != "" {
				t.Errorf("preemption (-want +got):\n%s", diff)
			}
		})
	}
	for _, action := range c.client.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			t.Errorf("%s %s", verb, action.GetResource().Resource)
		}
	}
}

func TestPreemptionIsNotTriedWhenNobodyAsks(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(of(100, on(0, newPod("cheap", "cpu", "15"))))
	c.addPod(newPod("asked", "cpu", "12"))
	ask := question("asked")
	ask.Spec.SkipFix = true
	answer, err := c.engine.Explain(t.Context(), ask)
	if err != nil || answer.Status.Preemption != nil {
		t.Errorf("preemption %+v, %v", answer.Status.Preemption, err)
	}
}

// wholeGangs makes room for the pods of gangs.
type wholeGangs struct {
	answer *diagnosticsv1alpha1.Preemption
}

func (wholeGangs) Name() string { return "Whole" }

func (w wholeGangs) ForesightOf(_ context.Context, pod *corev1.Pod) (*diagnosticsv1alpha1.Preemption, error) {
	if pod.Labels[extension.LabelPodGroup] == "" {
		return nil, nil
	}
	return w.answer.DeepCopy(), nil
}

func TestPreemptionForAWholeGangComesBeforeThatForOnePod(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(of(100, on(0, newPod("cheap", "cpu", "15"))))
	member := newPod("member", "cpu", "12")
	member.Labels = map[string]string{extension.LabelPodGroup: "gang"}
	c.addPod(member)
	c.addPod(newPod("alone", "cpu", "12"))
	c.engine.simulations[schedulerName].whole = []reason.WholePreemptor{wholeGangs{&diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionHelpless, Refusals: []diagnosticsv1alpha1.PreemptionRefusal{{Plugin: names.NodeResourcesFit, Count: 1}, {Count: 1}},
	}}}
	if got := c.explain("member").Preemption; got.Verdict != diagnosticsv1alpha1.PreemptionHelpless || got.Refusals[0].Code != string(finding.InsufficientResources) || got.Refusals[1].Code != "" {
		t.Errorf("a member: %s", preemptionText(got))
	}
	if got := c.explain("alone").Preemption; got.Verdict != diagnosticsv1alpha1.PreemptionEvicts {
		t.Errorf("a pod without a gang: %s", preemptionText(got))
	}
}

// drawPreemption fills the cluster with pods that all differ in priority, so that the scheduler's choice is a single one.
func (c *cluster) drawPreemption(t *rapid.T) {
	c.clear()
	priorities := rapid.Permutation([]int32{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160}).Draw(t, "priorities")
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		node := newNode(i)
		if rapid.IntRange(0, 4).Draw(t, "taint") == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
		}
		c.addNode(node)
		for j := range rapid.IntRange(2, 4).Draw(t, "pods") {
			pod := of(priorities[4*i+j], on(i, newPod(fmt.Sprintf("p-%d-%d", i, j), "cpu", fmt.Sprint(rapid.IntRange(2, 6).Draw(t, "cpu")))))
			if rapid.IntRange(0, 3).Draw(t, "protected") == 0 {
				labelled("db", pod)
			}
			c.addPod(pod)
		}
	}
	c.addPod(of(rapid.SampledFrom([]int32{15, 65, 165}).Draw(t, "priority"), newPod("asked", "cpu", fmt.Sprint(rapid.IntRange(4, 17).Draw(t, "cpu asked")))))
}

// TestPreemptionChoosesWhatTheSchedulerWould runs the scheduler's own PostFilter beside the explanation, and then evicts.
func TestPreemptionChoosesWhatTheSchedulerWould(t *testing.T) {
	c := newCluster(t)
	c.protect("db")
	verdicts := map[string]int{}
	for range rounds(3) { // of as many clusters as rapid draws at a time
		rapid.Check(t, func(t *rapid.T) {
			c.drawPreemption(t)
			status := c.explain("asked")
			if status.Verdict != diagnosticsv1alpha1.PodUnschedulable {
				return
			}
			got := status.Preemption
			verdicts[string(got.Verdict)]++
			if want := c.postFilter(t); got.NodeName != want {
				t.Fatalf("node %q, and the scheduler nominates %q", got.NodeName, want)
			}
			for _, victim := range got.Victims {
				c.evict(victim.Name)
			}
			after := c.explain("asked")
			if evicts := got.Verdict == diagnosticsv1alpha1.PreemptionEvicts; evicts != (after.Verdict == diagnosticsv1alpha1.PodSchedulable) {
				t.Fatalf("%s, and afterwards the pod is %s", preemptionText(got), after.Verdict)
			}
		})
	}
	expectKinds(t, verdicts, "Evicts", "Helpless")
}

// postFilter runs a scheduling cycle of the pod "asked" in a separate framework, and returns the nominated node.
func (c *cluster) postFilter(t *rapid.T) string {
	var pods []*corev1.Pod
	var nodes []*corev1.Node
	for _, pod := range c.pods {
		if pod.Spec.NodeName != "" {
			pods = append(pods, pod)
		}
	}
	for _, node := range c.nodes {
		nodes = append(nodes, node)
	}
	registry := plugins.NewInTreeRegistry()
	c.must(registry.Merge(c.parts.Registry()))
	snapshot := internalcache.NewSnapshot(pods, nodes)
	built, err := frameworkruntime.NewFramework(c.t.Context(), registry, &profiles(c.t, profileYAML)[0],
		frameworkruntime.WithClientSet(c.client), frameworkruntime.WithInformerFactory(c.informers), frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(c.scheduler.Profiles[schedulerName].SharedDRAManager()), frameworkruntime.WithSharedCSIManager(c.scheduler.Profiles[schedulerName].SharedCSIManager()),
		frameworkruntime.WithPodNominator(readOnlyNominator{}), frameworkruntime.WithPodActivator(noActivator{}), frameworkruntime.WithEventRecorder(events.NewFakeRecorder(1000)),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()), frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()))
	c.must(err)
	ctx, state, statuses, pod := c.t.Context(), framework.NewCycleState(), framework.NewDefaultNodeToStatus(), c.pods["asked"]
	if _, status, _ := built.RunPreFilterPlugins(ctx, state, pod); !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		info, err := snapshot.NodeInfos().Get(node.Name)
		c.must(err)
		statuses.Set(node.Name, built.RunFilterPluginsWithNominatedPods(ctx, state, pod, info))
	}
	result, status := built.RunPostFilterPlugins(ctx, state, pod, statuses)
	if status.Code() == fwk.Error {
		t.Fatal(status)
	}
	if result == nil || result.NominatingInfo == nil || !status.IsSuccess() {
		return ""
	}
	return result.NominatedNodeName
}
