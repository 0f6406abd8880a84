package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func resources(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func node(name string, edits ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "shared"}},
		Status:     corev1.NodeStatus{Allocatable: resources("cpu", "16", "memory", "64Gi", "pods", "3", "kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "8Gi")},
	}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

func pod(name, on string, requests corev1.ResourceList, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: on, SchedulerName: DefaultProfile, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func metric(on string, age time.Duration, cpu string) slov1alpha1.NodeMetric {
	return slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: on}, Status: slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: now.Add(-age)},
		NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: resources("cpu", cpu, "memory", "1Gi")}},
	}}
}

func hostPort(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port}} }
}

func TestRefusals(t *testing.T) {
	small := resources("cpu", "1", "memory", "1Gi")
	tests := map[string]struct {
		pod     *corev1.Pod
		nodes   []corev1.Node
		pods    []corev1.Pod
		metrics []slov1alpha1.NodeMetric
		want    []string
	}{
		"nothing in the way": {pod: pod("p", "", small), nodes: []corev1.Node{node("a")}},
		"a cordon, which is not also a taint": {
			pod: pod("p", "", small),
			nodes: []corev1.Node{node("a", func(n *corev1.Node) {
				n.Spec.Unschedulable = true
				n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
			})},
			want: []string{"NodeUnschedulable KOORD1904 1/1: the node is cordoned"},
		},
		"a taint; a preference is none": {
			pod: pod("p", "", small),
			nodes: []corev1.Node{
				node("a", func(n *corev1.Node) {
					n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
				}),
				node("b", func(n *corev1.Node) {
					n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectPreferNoSchedule}}
				}),
			},
			want: []string{"TaintToleration KOORD1902 1/1: the pod does not tolerate the taint gpu=true:NoSchedule"},
		},
		"a selector": {
			pod:   pod("p", "", small, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "gpu"} }),
			nodes: []corev1.Node{node("a")},
			want:  []string{"NodeAffinity KOORD1903 1/1: the pod selects pool=gpu, the node has pool=shared"},
		},
		"a port taken by another pod": {
			pod: pod("p", "", small, hostPort(80)), nodes: []corev1.Node{node("a")},
			pods: []corev1.Pod{*pod("q", "a", small, hostPort(80))},
			want: []string{"NodePorts KOORD1906 1/1: host port 80/TCP is taken by pod shop/q"},
		},
		"cpu held by others": {
			pod: pod("p", "", resources("cpu", "4")), nodes: []corev1.Node{node("a")},
			pods: []corev1.Pod{*pod("q", "a", resources("cpu", "13500m"))},
			want: []string{"NodeResourcesFit KOORD1901 1/1: needs 4 cpu, 2.5 of 16 free"},
		},
		"finished pods hold nothing": {
			pod: pod("p", "", resources("cpu", "4")), nodes: []corev1.Node{node("a")},
			pods: []corev1.Pod{*pod("q", "a", resources("cpu", "13500m"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })},
		},
		"batch resources are their own": {
			pod: pod("p", "", resources("kubernetes.io/batch-cpu", "3000", "kubernetes.io/batch-memory", "1Gi")), nodes: []corev1.Node{node("a")},
			pods: []corev1.Pod{*pod("q", "a", resources("kubernetes.io/batch-cpu", "2000"))},
			want: []string{"NodeResourcesFit KOORD1901 1/1: needs 3 batch-cpu, 2 of 4 free"},
		},
		"a device no node has": {
			pod: pod("p", "", resources("nvidia.com/gpu", "1")), nodes: []corev1.Node{node("a")},
			want: []string{"NodeResourcesFit KOORD1901 1/1: needs 1 nvidia.com/gpu, 0 of 0 free"},
		},
		"too many pods": {
			pod: pod("p", "", small), nodes: []corev1.Node{node("a")},
			pods: []corev1.Pod{*pod("q", "a", nil), *pod("r", "a", nil), *pod("s", "a", nil)},
			want: []string{"NodeResourcesFit KOORD1901 1/1: runs 3 of at most 3 pods"},
		},
		"load over the threshold": {
			pod: pod("p", "", small), nodes: []corev1.Node{node("a")}, metrics: []slov1alpha1.NodeMetric{metric("a", time.Second, "12")},
			want: []string{"LoadAwareScheduling KOORD1102 1/1: cpu usage 75% + this pod 5% > threshold 65%"},
		},
		"two reasons on one node count in both groups and are sole in none": {
			pod: pod("p", "", resources("cpu", "20")), nodes: []corev1.Node{node("a", func(n *corev1.Node) { n.Spec.Unschedulable = true }), node("b")},
			want: []string{"NodeResourcesFit KOORD1901 2/1: needs 20 cpu, 16 of 16 free", "NodeUnschedulable KOORD1904 1/0: the node is cordoned"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer := ExplainPod(PodSnapshot{Pod: tc.pod, Nodes: tc.nodes, Pods: tc.pods, Metrics: tc.metrics, LoadAware: true, Now: now})
			var got []string
			for _, g := range answer.Status.Groups {
				got = append(got, fmt.Sprintf("%s %s %d/%d: %s", g.Plugin, g.Code, g.Count, g.Sole, g.Message))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected groups (-want +got):\n%s", diff)
			}
			want := diagnosticsv1alpha1.PodSchedulable
			if len(answer.Status.Groups) > 0 && answer.Status.NodesFeasible == 0 {
				want = diagnosticsv1alpha1.PodUnschedulable
			}
			if answer.Status.Verdict != want {
				t.Errorf("verdict %s, want %s", answer.Status.Verdict, want)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	condition := func(message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
		}
	}
	tests := map[string]struct {
		in          PodSnapshot
		want        diagnosticsv1alpha1.PodVerdict
		wantSummary string
	}{
		"finished": {in: PodSnapshot{Pod: pod("p", "a", nil, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}, want: diagnosticsv1alpha1.PodFinished, wantSummary: "the pod has failed"},
		"bound":    {in: PodSnapshot{Pod: pod("p", "a", nil)}, want: diagnosticsv1alpha1.PodBound, wantSummary: "a"},
		"gated": {in: PodSnapshot{Pod: pod("p", "", nil, func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
		})}, want: diagnosticsv1alpha1.PodGated, wantSummary: "gated: waiting for scheduling gates: [quota]"},
		"another scheduler": {in: PodSnapshot{Pod: pod("p", "", nil, func(p *corev1.Pod) { p.Spec.SchedulerName = "" })}, want: diagnosticsv1alpha1.PodNotResponsible, wantSummary: "default-scheduler"},
		"another profile":   {in: PodSnapshot{Pod: pod("p", "", nil), Profiles: []string{"default-scheduler"}}, want: diagnosticsv1alpha1.PodNotResponsible, wantSummary: DefaultProfile},
		"no reason found, and the scheduler has one": {
			in:   PodSnapshot{Pod: pod("p", "", nil, condition("0/1 nodes are available: 1 gang is incomplete.")), Nodes: []corev1.Node{node("a")}},
			want: diagnosticsv1alpha1.PodUnschedulable, wantSummary: "1m0s ago the scheduler said: 0/1 nodes are available: 1 gang is incomplete.",
		},
		"the scheduler spoke in the year 9999": {
			in: PodSnapshot{Pod: pod("p", "", nil, condition("refused"), func(p *corev1.Pod) {
				p.Status.Conditions[0].LastTransitionTime = metav1.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
			}), Nodes: []corev1.Node{node("a")}},
			want: diagnosticsv1alpha1.PodUnschedulable, wantSummary: "y ahead of the clock the scheduler said: refused",
		},
		"a later event outdates the condition": {
			in: PodSnapshot{Pod: pod("p", "", nil, condition("old")), Nodes: []corev1.Node{node("a")}, Events: []corev1.Event{
				{Reason: "FailedScheduling", Message: "new", LastTimestamp: metav1.NewTime(now.Add(-time.Second))},
				{Reason: "Other", Message: "unrelated", LastTimestamp: metav1.NewTime(now)},
			}},
			want: diagnosticsv1alpha1.PodUnschedulable, wantSummary: "1s ago the scheduler said: new",
		},
		"no nodes": {in: PodSnapshot{Pod: pod("p", "", nil)}, want: diagnosticsv1alpha1.PodUnschedulable, wantSummary: "no node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.in.Now = now
			got := ExplainPod(tc.in).Status
			if got.Verdict != tc.want || !strings.Contains(got.Summary, tc.wantSummary) {
				t.Errorf("got %s: %s; want %s: %s", got.Verdict, got.Summary, tc.want, tc.wantSummary)
			}
		})
	}
}

func TestWhatIsNotEvaluatedIsNamed(t *testing.T) {
	p := pod("p", "", nil, func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{}}
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}}}
	})
	got := strings.Join(ExplainPod(PodSnapshot{Pod: p, Nodes: []corev1.Node{node("a")}, Now: now, Missing: []string{"pods"}}).Status.Incomplete, "\n")
	for _, want := range []string{"pods", "InterPodAffinity", "PodTopologySpread", "VolumeBinding", "LoadAwareScheduling"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among:\n%s", want, got)
		}
	}
}

func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := PodSnapshot{Pod: pod("p", "", resources("cpu", fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "cpu")))), LoadAware: rapid.Bool().Draw(t, "load"), Now: now, MaxNodes: rapid.IntRange(-1, 5).Draw(t, "max")}
		for i := range rapid.IntRange(0, 8).Draw(t, "nodes") {
			n := node(fmt.Sprintf("n%d", i))
			n.Spec.Unschedulable = rapid.Bool().Draw(t, "cordon")
			in.Nodes = append(in.Nodes, n)
			in.Pods = append(in.Pods, *pod(fmt.Sprintf("q%d", i), n.Name, resources("cpu", fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "held")))))
			if rapid.Bool().Draw(t, "measured") {
				in.Metrics = append(in.Metrics, metric(n.Name, time.Duration(rapid.IntRange(0, 600).Draw(t, "age"))*time.Second, fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "used"))))
			}
		}
		s := ExplainPod(in).Status
		sole, counts := int32(0), int32(0)
		for _, g := range s.Groups {
			sole, counts = sole+g.Sole, counts+g.Count
			if int(g.Count) < len(g.Nodes) || g.Sole > g.Count {
				t.Fatalf("group %+v", g)
			}
		}
		refused := s.NodesTotal - s.NodesFeasible
		if sole > refused || counts < refused || s.NodesFeasible < 0 {
			t.Fatalf("%d refused, %d sole, %d counted", refused, sole, counts)
		}
		if !slices.IsSortedFunc(s.Groups, func(a, b diagnosticsv1alpha1.RefusalGroup) int { return int(b.Count - a.Count) }) {
			t.Fatal("groups are not ordered by count")
		}
	})
}

func TestAVerdictNeedsWhatItRestsOn(t *testing.T) {
	unread := func(inputs ...unknown.Input) unknown.Inputs {
		out := unknown.Inputs{}
		for _, input := range inputs {
			out[input] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownForbidden}
		}
		return out
	}
	waiting := pod("p", "", resources("cpu", "1"))
	foreign := pod("p", "", resources("cpu", "1"), func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" })
	refused := pod("p", "", resources("cpu", "1"), func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/9 nodes are available", LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
	})
	nodes := []corev1.Node{node("n1"), node("n2")}
	tests := map[string]struct {
		in                        PodSnapshot
		want                      diagnosticsv1alpha1.PodVerdict
		wantFeasible, wantUnknown int32
		wantSummary               string
	}{
		"all was read": {PodSnapshot{Pod: waiting, Nodes: nodes, LoadAware: true}, diagnosticsv1alpha1.PodSchedulable, 2, 0, "the scheduler has not reported anything"},
		"no events": {PodSnapshot{Pod: waiting, Nodes: nodes, LoadAware: true, Unknown: unread(unknown.Events)}, diagnosticsv1alpha1.PodSchedulable, 2, 0,
			"what the scheduler said is unknown: no permission to read the events"},
		"no nodes": {PodSnapshot{Pod: waiting, Unknown: unread(unknown.Nodes)}, diagnosticsv1alpha1.PodUnknown, 0, 0,
			"which nodes are available is unknown: no permission to read the nodes"},
		"no nodes, and the scheduler spoke": {PodSnapshot{Pod: refused, Unknown: unread(unknown.Nodes)}, diagnosticsv1alpha1.PodUnschedulable, 0, 0,
			"1m0s ago the scheduler said: 0/9 nodes are available"},
		"no pods": {PodSnapshot{Pod: waiting, Nodes: nodes, LoadAware: true, Unknown: unread(unknown.Pods)}, diagnosticsv1alpha1.PodUnknown, 0, 2,
			"is unknown: no permission to read the pods"},
		"no pods, and no node is large enough": {PodSnapshot{Pod: pod("p", "", resources("cpu", "40")), Nodes: nodes, LoadAware: true, Unknown: unread(unknown.Pods)},
			diagnosticsv1alpha1.PodUnschedulable, 0, 0, "2 Insufficient cpu (requested 40, at most 16 free, on n1)."},
		"no NodeMetrics": {PodSnapshot{Pod: waiting, Nodes: nodes, LoadAware: false, Unknown: unread(unknown.NodeMetrics)}, diagnosticsv1alpha1.PodUnknown, 0, 2,
			"no permission to read the NodeMetrics"},
		"a hot node under thresholds that could not be read": {PodSnapshot{Pod: waiting, Nodes: nodes[:1], LoadAware: true, Metrics: []slov1alpha1.NodeMetric{metric("n1", time.Second, "15")},
			Unknown: unread(unknown.SchedulerConfiguration)}, diagnosticsv1alpha1.PodUnknown, 0, 1, "no permission to read koord-scheduler-config"},
		"another scheduler, and the profiles could not be read": {PodSnapshot{Pod: foreign, Nodes: nodes, Unknown: unread(unknown.SchedulerConfiguration)},
			diagnosticsv1alpha1.PodUnknown, 0, 0, `whether "default-scheduler" is a profile of koord-scheduler`},
		"another scheduler": {PodSnapshot{Pod: foreign, Nodes: nodes}, diagnosticsv1alpha1.PodNotResponsible, 0, 0, "not a profile of koord-scheduler"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.in.Now = now
			s := ExplainPod(test.in).Status
			if s.Verdict != test.want || s.NodesFeasible != test.wantFeasible || s.NodesUnknown != test.wantUnknown || !strings.Contains(s.Summary, test.wantSummary) {
				t.Errorf("%s: %d feasible, %d unknown: %q; want %s, %d, %d: %q", s.Verdict, s.NodesFeasible, s.NodesUnknown, s.Summary,
					test.want, test.wantFeasible, test.wantUnknown, test.wantSummary)
			}
			if len(s.Unknown) != len(test.in.Unknown) {
				t.Errorf("unknown inputs %v", s.Unknown)
			}
			if test.in.Unknown.Has(unknown.SchedulerConfiguration) && s.Pod.EstimatedUsage != nil {
				t.Errorf("use is estimated by factors that could not be read: %v", s.Pod.EstimatedUsage)
			}
		})
	}
}
