package explain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// outline is what a test says about an answer.
type outline struct {
	Verdict diagnosticsv1alpha1.PodVerdict
	Summary string
	Code    finding.Code
	// Groups are "plugin code count/sole: message".
	Groups []string
	// Fix is "kind node unlocked: description".
	Fix string
}

func outlineOf(status *diagnosticsv1alpha1.PodExplanationStatus) outline {
	got := outline{Verdict: status.Verdict, Summary: status.Summary, Code: finding.Code(status.Code)}
	for _, g := range status.Groups {
		got.Groups = append(got.Groups, fmt.Sprintf("%s %s %d/%d: %s", g.Plugin, g.Code, g.Count, g.Sole, g.Message))
	}
	if fix := status.Fix; fix != nil {
		got.Fix = fmt.Sprintf("%s %s %d: %s", fix.Kind, fix.Node, fix.NodesUnlocked, fix.Description)
	}
	return got
}

func TestExplainPendingPod(t *testing.T) {
	c := newCluster(t)
	tests := []struct {
		name  string
		build func()
		want  outline
	}{
		{
			name: "several reasons, one of them alone on most nodes",
			build: func() {
				for i := range 5 {
					node := newNode(i)
					if i == 4 {
						node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
					}
					c.addNode(node)
					c.addPod(on(i, newPod(fmt.Sprintf("other-%d", i), "kubernetes.io/batch-cpu", fmt.Sprint(1500+100*i))))
				}
				c.addPod(newPod("job", "kubernetes.io/batch-cpu", "4000"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.InsufficientResources,
				Summary: "0/5 nodes are available: 5 Insufficient kubernetes.io/batch-cpu (requested 4, at most 2.5 free, on node-0), 1 node(s) had untolerated taint dedicated=db:NoSchedule.",
				Groups: []string{
					"NodeResourcesFit KOORD1901 5/4: needs 4 batch-cpu, 2.5 of 4 free",
					"TaintToleration KOORD1902 1/0: the pod does not tolerate the taint dedicated=db:NoSchedule",
				},
				Fix: "reduceRequest node-0 1: reduce the pod's batch-cpu request from 4 to 2.5 (by 1.5)",
			},
		},
		{
			name: "a hot node",
			build: func() {
				c.addNode(newNode(0))
				c.addMetric(0, 10*time.Second, "cpu", "12500m", "memory", "1Gi")
				c.addPod(newPod("web", "cpu", "1", "memory", "1Gi"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.LoadThresholdExceeded,
				Summary: "0/1 nodes are available: 1 node(s) cpu usage above 65%.",
				Groups:  []string{"LoadAwareScheduling KOORD1102 1/1: cpu usage 78% + this pod 5% > threshold 65%"},
				Fix:     "raiseThreshold node-0 1: raise the cpu threshold of node node-0 (usageThresholds) from 65% to 83%",
			},
		},
		{
			name: "an agent that is gone",
			build: func() {
				c.addNode(newNode(0))
				c.addMetric(0, 10*time.Minute, "cpu", "1", "memory", "1Gi")
				c.addPod(newPod("web", "cpu", "1"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.LoadMetricExpired, Summary: "0/1 nodes are available: 1 node(s) had an expired NodeMetric.",
				Groups: []string{"LoadAwareScheduling KOORD1101 1/1: NodeMetric is 10m0s old, expired after 3m0s"},
				Fix:    "refreshNodeMetric node-0 1: restore koordlet on node node-0: its NodeMetric is 10m0s old, and with the last reported usage the node passes",
			},
		},
		{
			name: "a cordoned node",
			build: func() {
				node := newNode(0)
				node.Spec.Unschedulable = true
				node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
				c.addNode(node)
				c.addPod(newPod("web", "cpu", "1"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.NodeUnschedulable,
				Summary: "0/1 nodes are available: 1 node(s) were unschedulable.",
				Groups:  []string{"NodeUnschedulable KOORD1904 1/1: the node is cordoned"},
				Fix:     "uncordon node-0 1: uncordon node node-0",
			},
		},
		{
			name: "a label that no node has",
			build: func() {
				c.addNode(newNode(0))
				pod := newPod("web", "cpu", "1")
				pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
				c.addPod(pod)
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.NodeAffinityMismatch, Summary: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector (disk=ssd).",
				Groups: []string{"NodeAffinity KOORD1903 1/1: the pod selects disk=ssd, the node has no label disk"},
				Fix:    "removeNodeSelector node-0 1: remove node selector disk=ssd",
			},
		},
		{
			name: "a pod that asks for its node by a field",
			build: func() {
				c.addNode(newNode(0))
				pod := newPod("agent", "cpu", "1")
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"node-9"}}}}},
				}}}
				c.addPod(pod)
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.NodeAffinityMismatch, Summary: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector (metadata.name In [node-9]).",
				Groups: []string{"NodeAffinity KOORD1903 1/1: the pod requires metadata.name In [node-9], the node is node-0"},
				Fix:    "removeNodeSelector node-0 1: remove the required node affinity",
			},
		},
		{
			name: "a more important pod than the one in its place",
			build: func() {
				c.addNode(newNode(0))
				victim := on(0, newPod("cheap", "cpu", "15"))
				victim.Spec.Priority = new(int32(100))
				c.addPod(victim)
				c.addPod(newPod("web", "cpu", "16"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.InsufficientResources, Summary: "0/1 nodes are available: 1 Insufficient cpu (requested 16, at most 1 free, on node-0).",
				Groups: []string{"NodeResourcesFit KOORD1901 1/1: needs 16 cpu, 1 of 16 free"},
				Fix:    "reduceRequest node-0 1: reduce the pod's cpu request from 16 to 1 (by 15)",
			},
		},
		{
			name: "two changes are needed",
			build: func() {
				node := newNode(0)
				node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
				c.addNode(node)
				c.addPod(newPod("web", "cpu", "17"))
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.UntoleratedTaint,
				Summary: "0/1 nodes are available: 1 node(s) had untolerated taint dedicated:NoSchedule, 1 Insufficient cpu (requested 17, at most 16 free, on node-0).",
				Groups: []string{
					"TaintToleration KOORD1902 1/0: the pod does not tolerate the taint dedicated:NoSchedule",
					"NodeResourcesFit KOORD1901 1/0: needs 17 cpu, 16 of 16 free",
				},
				Fix: "addToleration+reduceRequest node-0 1: add a toleration for taint dedicated:NoSchedule; and reduce the pod's cpu request from 17 to 16 (by 1)",
			},
		},
		{
			name:  "a cluster without nodes",
			build: func() { c.addPod(newPod("web", "cpu", "1")) },
			want:  outline{Verdict: "Unschedulable", Summary: "0/0 nodes are available: no nodes available to schedule pods."},
		},
		{
			name: "a volume claim that does not exist",
			build: func() {
				c.addNode(newNode(0))
				pod := newPod("db", "cpu", "1")
				pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
				c.addPod(pod)
			},
			want: outline{
				Verdict: "Unschedulable", Code: finding.VolumeRestrictions,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c.clear()
			test.build()
			pending := ""
			for _, pod := range c.pods {
				if pod.Spec.NodeName == "" {
					pending = pod.Name
				}
			}
			status := c.explain(pending)
			got := outlineOf(status)
			if strings.HasPrefix(test.name, "a volume") { // the texts are those of Kubernetes
				if got.Verdict != test.want.Verdict || len(got.Groups) == 0 || got.Fix != "" || got.Code == finding.OtherPlugin {
					t.Errorf("answer %+v", got)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if status.Fix != nil && !status.Fix.Verified {
				t.Error("the fix was not verified")
			}
		})
	}
}

func TestExplainNamesTheOperandsOfEachNode(t *testing.T) {
	c := newCluster(t)
	for i := range 3 {
		c.addNode(newNode(i))
		c.addPod(on(i, newPod(fmt.Sprintf("other-%d", i), "cpu", fmt.Sprint(10+i))))
	}
	c.addPod(newPod("web", "cpu", "8"))
	nodes := c.explain("web").Groups[0].Nodes
	var order []string
	for _, node := range nodes {
		order = append(order, node.Node)
	}
	if diff := cmp.Diff([]string{"node-0", "node-1", "node-2"}, order); diff != "" {
		t.Errorf("nodes are not ordered by what they lack (-want +got):\n%s", diff)
	}
	got := map[string]int64{}
	for _, term := range nodes[1].Operands {
		got[term.Name] = term.Value
		if term.Unit != diagnosticsv1alpha1.MilliCPU {
			t.Errorf("%s is in %s", term.Name, term.Unit)
		}
	}
	if diff := cmp.Diff(map[string]int64{"asked": 8000, "free": 5000, "requested": 11000, "allocatable": 16000}, got); diff != "" {
		t.Errorf("operands (-want +got):\n%s", diff)
	}
}

func TestExplainBoundPod(t *testing.T) {
	c := newCluster(t)
	for i := range 3 {
		c.addNode(newNode(i))
		metric := c.addMetric(i, 10*time.Second, "cpu", fmt.Sprint(2+4*i), "memory", "4Gi")
		if i == 1 {
			metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{{Namespace: "default", Name: "web", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "5")}}}
		}
	}
	c.addPod(on(1, newPod("web", "cpu", "9", "memory", "1Gi")))
	status := c.explain("web")
	if status.Verdict != diagnosticsv1alpha1.PodBound || status.NodesFeasible != 2 {
		t.Fatalf("verdict %s with %d feasible nodes, want Bound with 2: %s", status.Verdict, status.NodesFeasible, status.Summary)
	}
	if status.Placement.Rank != 1 || status.Placement.Node != "node-1" {
		t.Errorf("node %s ranks %d, want node-1 with 1: its own usage must not count against it", status.Placement.Node, status.Placement.Rank)
	}
	best := status.Placement.Scores[0]
	var sum int64
	for _, plugin := range best.Plugins {
		sum += plugin.Score
	}
	if best.Node != "node-1" || best.Total != sum || sum == 0 {
		t.Errorf("best node %s with %d, whose plugins add up to %d", best.Node, best.Total, sum)
	}
}

func TestExplainCountsPodsThatAreAboutToArrive(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(newPod("web", "cpu", "9"))
	important := newPod("vip", "cpu", "10")
	c.addPod(important)
	c.scheduler.SchedulingQueue.Add(t.Context(), important)
	vip, err := framework.NewPodInfo(important)
	c.must(err)
	c.scheduler.SchedulingQueue.AddNominatedPod(klog.Background(), vip, &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: "node-0"})
	want := outline{
		Verdict: "Unschedulable", Code: finding.InsufficientResources, Summary: "0/1 nodes are available: 1 Insufficient cpu (requested 9, at most 6 free, on node-0).",
		Groups: []string{"NodeResourcesFit KOORD1901 1/1: needs 9 cpu, 6 of 16 free"},
		Fix:    "reduceRequest node-0 1: reduce the pod's cpu request from 9 to 6 (by 3)",
	}
	if diff := cmp.Diff(want, outlineOf(c.explain("web"))); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestExplainOtherStatesOfAPod(t *testing.T) {
	finished := newPod("finished", "cpu", "1")
	finished.Status.Phase = corev1.PodSucceeded
	c := newCluster(t, finished)
	c.addNode(newNode(0))
	gated := newPod("gated", "cpu", "1")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}, {Name: "image"}}
	foreign := newPod("foreign", "cpu", "1")
	foreign.Spec.SchedulerName = "default-scheduler"
	for _, pod := range []*corev1.Pod{gated, foreign, newPod("fine", "cpu", "1"), on(7, newPod("lost", "cpu", "1"))} {
		c.addPod(pod)
	}
	tests := map[string]outline{
		"finished": {Verdict: "Finished", Summary: "the pod has succeeded"},
		"gated": {
			Verdict: "Gated", Code: finding.SchedulingGated, Summary: "gated: waiting for scheduling gates: [quota image]",
			Groups: []string{"SchedulingGates KOORD1914 0/0: gated: waiting for scheduling gates: [quota image]"},
		},
		"foreign": {Verdict: "NotResponsible", Code: finding.OtherScheduler, Summary: `scheduler "default-scheduler" is not a profile of koord-scheduler`},
		"fine":    {Verdict: "Schedulable", Summary: "1/1 nodes are available, node-0 scores highest"},
		"lost":    {Verdict: "Bound", Summary: "bound to node-7"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, outlineOf(c.explain(name))); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := c.engine.Explain(context.Background(), question("unknown")); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown pod gives %v, want NotFound", err)
	}
}

func TestExplainWritesNothing(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(newPod("web", "cpu", "17"))
	c.explain("web")
	for _, action := range c.client.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			t.Errorf("%s %s", verb, action.GetResource().Resource)
		}
	}
}

func TestExplainStopsWithItsContext(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(newPod("web", "cpu", "1"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.engine.Explain(ctx, question("web")); err == nil {
		t.Error("an explanation whose context has ended was answered")
	}
}
