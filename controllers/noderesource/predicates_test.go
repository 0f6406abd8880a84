package noderesource

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestNodeMatters(t *testing.T) {
	tests := []struct {
		name   string
		change func(*corev1.Node)
		want   bool
	}{
		{name: "a heartbeat does not", change: func(n *corev1.Node) {
			n.ResourceVersion = "2"
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, LastHeartbeatTime: metav1.Time{Time: noon}}}
		}},
		{name: "another resource does not", change: func(n *corev1.Node) { n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("1") }},
		{name: "a new label does", change: func(n *corev1.Node) { n.Labels = map[string]string{"pool": "gold"} }, want: true},
		{name: "a new annotation does", change: func(n *corev1.Node) { n.Annotations = map[string]string{"a": "b"} }, want: true},
		{name: "less allocatable does", change: func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("99") }, want: true},
		{name: "batch resources that were reset do", change: func(n *corev1.Node) { delete(n.Status.Capacity, "kubernetes.io/batch-cpu") }, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := testNode(nil, "kubernetes.io/batch-cpu", "1000")
			after := before.DeepCopy()
			test.change(after)
			if got := nodeMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
				t.Errorf("passes = %t, want %t", got, test.want)
			}
		})
	}
}

func TestPodMatters(t *testing.T) {
	tests := []struct {
		name   string
		change func(*corev1.Pod)
		want   bool
	}{
		{name: "a new condition does not", change: func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}} }},
		{name: "starting to run does not", change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }},
		{name: "finishing does", change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, want: true},
		{name: "another class does", change: func(p *corev1.Pod) { p.Labels = map[string]string{"koordinator.sh/qosClass": "LSE"} }, want: true},
		{name: "a resize does", change: func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("21") }, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := testPod()
			after := before.DeepCopy()
			test.change(after)
			if got := podMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
				t.Errorf("passes = %t, want %t", got, test.want)
			}
		})
	}
	pending := testPod()
	pending.Spec.NodeName = ""
	if podMatters().Create(event.CreateEvent{Object: pending}) {
		t.Error("a pod without a node passes")
	}
	if !podMatters().Update(event.UpdateEvent{ObjectOld: pending, ObjectNew: testPod()}) {
		t.Error("a pod that was bound does not pass")
	}
}
