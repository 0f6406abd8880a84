package usageclass

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func newPlugin(t testing.TB, args string) *Plugin {
	t.Helper()
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, handle)
	if err != nil {
		t.Fatal(err)
	}
	return plugin.(*Plugin)
}

func podOf(name, class, cpu string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	if class != "" {
		pod.Labels = map[string]string{extension.LabelUsageClass: class}
	}
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}
	return pod
}

func nodeWith(cpu string, pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
	info.SetNode(node)
	return info
}

func TestPodsOfOneClassAreKeptApart(t *testing.T) {
	plugin := newPlugin(t, `{"classes":{"web":{"maxPercent":50}}}`)
	node := nodeWith("16", podOf("a", "web", "6"), podOf("b", "video", "8"), podOf("c", "", "1"))
	tests := map[string]struct {
		pod       *corev1.Pod
		wantSkip  bool
		want      fwk.Code
		wantScore int64
	}{
		"a pod without a class is none of its business": {pod: podOf("p", "", "1"), wantSkip: true},
		"a little more of the class passes":             {pod: podOf("p", "web", "2"), wantScore: 50},
		"too much of the class is refused":              {pod: podOf("p", "web", "3"), want: fwk.Unschedulable, wantScore: 43},
		"another class has room":                        {pod: podOf("p", "etl", "3"), wantScore: 81},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := framework.NewCycleState()
			if _, status := plugin.PreFilter(t.Context(), state, test.pod, nil); status.IsSkip() != test.wantSkip {
				t.Fatalf("PreFilter %v", status)
			}
			if status := plugin.PreScore(t.Context(), state, test.pod, nil); status.IsSkip() != test.wantSkip {
				t.Fatalf("PreScore %v", status)
			}
			if test.wantSkip {
				return
			}
			if status := plugin.Filter(t.Context(), state, test.pod, node); status.Code() != test.want {
				t.Errorf("Filter %v, want %v", status, test.want)
			}
			if got, _ := plugin.Score(t.Context(), state, test.pod, node); got != test.wantScore {
				t.Errorf("score %d, want %d", got, test.wantScore)
			}
		})
	}
}

func TestPreemptionSeesTheNodeWithoutThePod(t *testing.T) {
	plugin, victim := newPlugin(t, `{"defaultMaxPercent":50}`), podOf("a", "web", "6")
	state, pod, node := framework.NewCycleState(), podOf("p", "web", "4"), nodeWith("16", victim)
	plugin.PreFilter(t.Context(), state, pod, nil)
	if status := plugin.Filter(t.Context(), state, pod, node); status.IsSuccess() {
		t.Fatal("the node has too much of the class and passes")
	}
	if err := node.RemovePod(klog.Background(), victim); err != nil {
		t.Fatal(err)
	}
	if status := plugin.Filter(t.Context(), state, pod, node); !status.IsSuccess() {
		t.Errorf("without the other pod: %v", status)
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	plugin := newPlugin(t, `{"defaultMaxPercent":50}`)
	state, pod, node := framework.NewCycleState(), podOf("p", "web", "4"), nodeWith("16", podOf("a", "web", "6"))
	text := plugin.Filter(t.Context(), state, pod, node).Message()
	subject, ok := plugin.ExplainRefusal(t.Context(), state, pod, node, text)
	if !ok || subject.Code != finding.UsageClassShare {
		t.Fatalf("subject %+v", subject)
	}
	if message, _ := subject.Describe(); !strings.Contains(message, "usage class web requests 38% of the node's cpu + this pod 25% > limit 50%") {
		t.Errorf("message %q", message)
	}
	changes := plugin.Advise(t.Context(), state, pod, node, nil)
	if len(changes) != 1 || changes[0].Pod.Labels[extension.LabelUsageClass] != "" || pod.Labels[extension.LabelUsageClass] != "web" {
		t.Errorf("changes %+v", changes)
	}
	if got := plugin.CodeOf(text); got != finding.UsageClassShare {
		t.Errorf("code %q of %q", got, text)
	}
	if _, ok := plugin.ExplainRefusal(t.Context(), state, podOf("q", "web", "1"), node, text); ok {
		t.Error("a node that passes is explained as refused")
	}
	if _, ok := plugin.ExplainRefusal(t.Context(), state, pod, node, "node(s) were too small"); ok {
		t.Error("a refusal of another cause is claimed")
	}
}

func TestPodsWakeWhenTheirClassLeaves(t *testing.T) {
	pod := podOf("p", "web", "1")
	bound := func(class, cpu string) *corev1.Pod {
		other := podOf("o", class, cpu)
		other.Spec.NodeName = "n"
		return other
	}
	tests := map[string]struct {
		before, after *corev1.Pod
		want          fwk.QueueingHint
	}{
		"a pod of the class is gone":          {before: bound("web", "1"), want: fwk.Queue},
		"a pod of another class is gone":      {before: bound("etl", "1"), want: fwk.QueueSkip},
		"a pod that was never bound is gone":  {before: podOf("o", "web", "1"), want: fwk.QueueSkip},
		"a pod leaves the class":              {before: bound("web", "1"), after: bound("etl", "1"), want: fwk.Queue},
		"a pod of the class asks for less":    {before: bound("web", "2"), after: bound("web", "1"), want: fwk.Queue},
		"a pod of the class asks for more":    {before: bound("web", "1"), after: bound("web", "2"), want: fwk.QueueSkip},
		"the pod itself is changed":           {before: podOf("p", "etl", "1"), after: podOf("p", "web", "1"), want: fwk.Queue},
		"a pod of another class enters class": {before: bound("etl", "1"), after: bound("web", "1"), want: fwk.QueueSkip},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got fwk.QueueingHint
			var err error
			if test.after == nil {
				got, err = afterPodGone(klog.Background(), pod, test.before, nil)
			} else {
				got, err = afterPodChanged(klog.Background(), pod, test.before, test.after)
			}
			if got != test.want || err != nil {
				t.Errorf("%v, error %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestEqualPodsHaveEqualSignatures(t *testing.T) {
	plugin := newPlugin(t, "")
	if plain, status := plugin.SignPod(t.Context(), podOf("p", "", "1")); len(plain) != 0 || !status.IsSuccess() {
		t.Errorf("fragments %v, status %v", plain, status)
	}
	if signed, status := plugin.SignPod(t.Context(), podOf("p", "web", "1")); len(signed) != 1 || !status.IsSuccess() {
		t.Errorf("fragments %v, status %v", signed, status)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for args, want := range map[string]string{`{"defaultMaxPercent":0}`: "defaultMaxPercent", `{"classes":{"a":{"pods":1}}}`: "pods"} {
		if _, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", args, err, want)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	plugin, state, pod := newPlugin(b, ""), framework.NewCycleState(), podOf("p", "web", "1")
	node := nodeWith("16", podOf("a", "web", "6"))
	plugin.PreFilter(b.Context(), state, pod, nil)
	b.ReportAllocs()
	for b.Loop() {
		plugin.Filter(b.Context(), state, pod, node)
	}
}
