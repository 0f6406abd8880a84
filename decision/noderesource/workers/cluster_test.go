package workers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func batch(amount string) corev1.ResourceList {
	return corev1.ResourceList{extension.BatchCPU: resource.MustParse(amount)}
}

func batchNode(name, amount string) corev1.Node {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": name}}}
	node.Status.Allocatable = batch(amount)
	node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("10")
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}

func batchPod(name, node, amount string, priority int32) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: name, UID: types.UID(name)}}
	pod.Spec.NodeName, pod.Spec.Priority = node, &priority
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: batch(amount)}}}
	return pod
}

// read is what a cluster tells an engine with one worker w on node a.
func read(edit func(*Cluster)) Input {
	c := &Cluster{
		Nodes: []corev1.Node{batchNode("a", "9000"), batchNode("b", "4000")},
		Bound: []corev1.Pod{batchPod("w", "a", "1000", 5000), batchPod("other", "a", "2000", 5000)},
	}
	if edit != nil {
		edit(c)
	}
	in := Input{Request: RequestOf(batch("1000")), Spec: Spec{Horizon: 15 * time.Minute}}
	c.Read(&in, &c.Bound[0], map[types.UID]bool{"w": true})
	return in
}

func both(cpu, pods int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{extension.BatchCPU: cpu, corev1.ResourcePods: pods}
}

func TestNodesAreReadWithoutTheWorkersThemselves(t *testing.T) {
	none := map[corev1.ResourceName]int64{}
	tests := map[string]struct {
		edit func(*Cluster)
		want []Node
	}{
		"other pods take their requests": {
			nil, []Node{{Name: "a", Free: both(7000, 9), Later: none}, {Name: "b", Free: both(4000, 10), Later: none}},
		},
		"reservations take what is left of them": {
			func(c *Cluster) {
				c.Reservations = []schedulingv1alpha1.Reservation{{Status: schedulingv1alpha1.ReservationStatus{
					Phase: schedulingv1alpha1.ReservationAvailable, NodeName: "b", Allocatable: batch("3000"), Allocated: batch("1000"),
				}}, {Status: schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationSucceeded, NodeName: "b", Allocatable: batch("3000")}}}
			},
			[]Node{{Name: "a", Free: both(7000, 9), Later: none}, {Name: "b", Free: both(2000, 10), Later: none}},
		},
		"cordoned, tainted and lost nodes are told": {
			func(c *Cluster) {
				c.Nodes[0].Spec.Unschedulable = true
				c.Nodes[1].Status.Conditions[0].Status = corev1.ConditionUnknown
				c.Nodes = append(c.Nodes, batchNode("c", "1000"))
				c.Nodes[2].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
			},
			[]Node{
				{Name: "a", Free: both(7000, 9), Later: none, Closed: "its node is cordoned"}, {Name: "b", Free: both(4000, 10), Later: none, Lost: true},
				{Name: "c", Free: both(1000, 10), Later: none, Closed: "its node has the taint gpu:NoSchedule"},
			},
		},
		"nodes that workers do not select are left out": {
			func(c *Cluster) { c.Bound[0].Spec.NodeSelector = map[string]string{"pool": "a"} },
			[]Node{{Name: "a", Free: both(7000, 9), Later: none}},
		},
		"an offer that will shrink takes what goes, within the horizon or as far as is predicted": {
			func(c *Cluster) {
				steps := []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 1800, Offered: 6000}, {WithinSeconds: 3600, Offered: 1000}}
				c.Outlooks = map[string][]diagnosticsv1alpha1.OfferOutlook{
					"a": {{Resource: string(extension.BatchCPU), Offered: 9000, Steps: steps}},
					"b": {{Resource: string(extension.BatchCPU), Offered: 4000, Steps: []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 60, Offered: 3500}}}},
				}
			},
			[]Node{{Name: "a", Free: both(7000, 9), Later: cpu(4000)}, {Name: "b", Free: both(4000, 10), Later: cpu(3500)}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, read(tc.edit).Nodes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOfNoLowerPriorityComeFirst(t *testing.T) {
	in := read(func(c *Cluster) {
		gated := batchPod("gated", "", "1000", 9000)
		gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue"}}
		bound := batchPod("picky", "", "700", 9000)
		bound.Spec.NodeSelector = map[string]string{"pool": "b"}
		plain := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "plain", UID: "plain"}}
		c.Pending = []corev1.Pod{batchPod("equal", "", "500", 5000), batchPod("alike", "", "500", 5000), batchPod("lower", "", "500", 4999), gated, bound, plain, batchPod("w", "", "1000", 9000)}
		c.Claim(&Input{Request: RequestOf(batch("1500")), Nodes: []Node{{Name: "a"}}}, &c.Bound[1], 1)
	})
	want := []Waiting{
		{Count: 1, Request: both(700, 1), Nodes: map[string]bool{"b": true}},
		{Count: 2, Request: both(500, 1)},
		{Count: 1, Request: both(1500, 1), Nodes: map[string]bool{"a": true}},
	}
	if diff := cmp.Diff(want, in.Waiting); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheQuotaAndThoseAboveItCap(t *testing.T) {
	quota := func(name, parent, limit, used string) schedulingsigsv1alpha1.ElasticQuota {
		out := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}}}
		out.Spec.Max, out.Status.Used = batch(limit), batch(used)
		return out
	}
	tests := map[string]struct {
		quotas []schedulingsigsv1alpha1.ElasticQuota
		want   *Quota
	}{
		"one that does not exist":      {nil, nil},
		"its own":                      {[]schedulingsigsv1alpha1.ElasticQuota{quota("etl", "", "5000", "1500")}, &Quota{"etl", 4}},
		"the one above has less":       {[]schedulingsigsv1alpha1.ElasticQuota{quota("etl", "all", "5000", "1500"), quota("all", "", "9000", "7100")}, &Quota{"all", 2}},
		"used up":                      {[]schedulingsigsv1alpha1.ElasticQuota{quota("etl", "", "1000", "4000")}, &Quota{"etl", 1}},
		"a cycle of quotas has an end": {[]schedulingsigsv1alpha1.ElasticQuota{quota("etl", "all", "5000", "0"), quota("all", "etl", "9000", "0")}, &Quota{"etl", 6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := read(func(c *Cluster) {
				c.Bound[0].Labels, c.Quotas = map[string]string{extension.LabelQuotaName: "etl"}, tc.quotas
			})
			if diff := cmp.Diff(tc.want, in.Quota); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
