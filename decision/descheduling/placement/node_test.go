package placement

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podOf(cpu int64, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI)}},
	}}}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func port(pod *corev1.Pod) { pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }

func TestANodeTakesAPod(t *testing.T) {
	tests := map[string]struct {
		node     func(*corev1.Node)
		pods     []*corev1.Pod
		arriving []*corev1.Pod
		pod      *corev1.Pod
		want     bool
	}{
		"that fits":                             {pod: podOf(4000), want: true},
		"that is too large":                     {pod: podOf(4001)},
		"into what others leave":                {pods: []*corev1.Pod{podOf(1000)}, arriving: []*corev1.Pod{podOf(1000)}, pod: podOf(2000), want: true},
		"not into what is on its way":           {pods: []*corev1.Pod{podOf(1000)}, arriving: []*corev1.Pod{podOf(1001)}, pod: podOf(2000)},
		"not beside requests beyond any node":   {pods: []*corev1.Pod{podOf(math.MaxInt64), podOf(math.MaxInt64)}, pod: podOf(1)},
		"not when it is full of pods":           {pods: []*corev1.Pod{podOf(0), podOf(0)}, arriving: []*corev1.Pod{podOf(0)}, pod: podOf(0)},
		"not when it is cordoned":               {node: func(n *corev1.Node) { n.Spec.Unschedulable = true }, pod: podOf(1)},
		"not with a taint":                      {node: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}} }, pod: podOf(1)},
		"not when it selects another":           {pod: podOf(1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })},
		"not when its host port is taken":       {pods: []*corev1.Pod{podOf(0, port)}, pod: podOf(0, port)},
		"not when its host port is going to be": {arriving: []*corev1.Pod{podOf(0, port)}, pod: podOf(0, port)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("3")}}}
			if tc.node != nil {
				tc.node(object)
			}
			node := NewNode(object, tc.pods)
			for _, pod := range tc.arriving {
				node.Add(pod)
			}
			if got := node.Fits(NewPod(tc.pod)); got != tc.want {
				t.Errorf("Fits = %v, want %v; %d milliCPU are free", got, tc.want, node.Free(corev1.ResourceCPU))
			}
			if tc.want {
				before := node.Free(corev1.ResourceCPU)
				node.Add(tc.pod)
				if after := node.Free(corev1.ResourceCPU); after != before-tc.pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() {
					t.Errorf("%d milliCPU are free with it, %d were before", after, before)
				}
			}
		})
	}
}

func TestPodsOfAControllerAreAlike(t *testing.T) {
	owned := func(uid, hash string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"pod-template-hash": hash}, OwnerReferences: []metav1.OwnerReference{{UID: types.UID(uid), Controller: new(true)}},
		}}
	}
	first, templated := TemplateOf(owned("a", "1"))
	same, _ := TemplateOf(owned("a", "1"))
	other, _ := TemplateOf(owned("a", "2"))
	if !templated || first != same || first == other {
		t.Errorf("templates %v, %v and %v", first, same, other)
	}
	if _, templated := TemplateOf(&corev1.Pod{}); templated {
		t.Error("a pod without a controller has a template")
	}
}
