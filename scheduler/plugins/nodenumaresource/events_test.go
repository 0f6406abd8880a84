package nodenumaresource

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"

	"koordinator.sh/koord/scheduler/queueinghint"
)

func TestQueueingHints(t *testing.T) {
	reserving := func(cpus string) *topologyv1alpha1.NodeResourceTopology {
		report := newReport("n")
		report.Annotations[extension.AnnotationNodeReservation] = `{"reservedCPUs":"` + cpus + `"}`
		return report
	}
	used := newReport("n")
	used.Zones[0].Resources[0].Available = resource.MustParse("1")
	labelled := func(policy string) *corev1.Node {
		return newNode("n", map[string]string{extension.LabelNodeCPUBindPolicy: policy})
	}
	amplified := func(cpu string) *corev1.Node {
		node := newNode("n", nil)
		node.Annotations[extension.AnnotationNodeResourceAmplificationRatio] = `{"cpu":1.5}`
		node.Status.Allocatable["cpu"] = resource.MustParse(cpu)
		return node
	}
	on := func(pod *corev1.Pod) *corev1.Pod { pod.Spec.NodeName = "n"; return pod }
	owner := on(newPod("owner", lsr, "4", resourceStatus, `{"cpuset":"0-3"}`))
	tests := []struct {
		name        string
		pod         *corev1.Pod
		node        *corev1.Node
		report      *topologyv1alpha1.NodeResourceTopology
		event       func(*Plugin) fwk.QueueingHintFn
		before      any
		after       any
		wantToQueue bool
	}{
		{name: "a report appears", event: onReport, after: newReport("n"), wantToQueue: true},
		{name: "a report says what is in use", event: onReport, before: newReport("n"), after: used},
		{name: "fewer CPUs are reserved", event: onReport, before: reserving("0-5"), after: reserving("0-1"), wantToQueue: true},
		{name: "but still too many", pod: newPod("web", lsr, "8"), event: onReport, before: reserving("0-5"), after: reserving("0-1")},
		{name: "more CPUs are reserved", event: onReport, before: reserving("0-1"), after: reserving("0-3")},
		{name: "a report disappears", event: onReport, before: newReport("n")},
		{name: "a report of no node", event: onReport, after: newReport("gone")},
		{name: "the node demands another policy", event: onNode, report: newReport("n"), before: labelled("SpreadByPCPUs"), after: labelled("None"), wantToQueue: true},
		{name: "a label that means nothing", event: onNode, report: newReport("n"), before: newNode("n", nil), after: newNode("n", map[string]string{"a": "b"})},
		{name: "a node appears", event: onNode, report: newReport("n"), after: newNode("n", nil), wantToQueue: true},
		{name: "a node appears that the pod does not fit", event: onNode, after: newNode("n", nil)},
		{name: "an amplified node grows", event: onNode, report: newReport("n"), before: amplified("8"), after: amplified("12"), wantToQueue: true},
		{name: "an owner leaves", event: onPodGone, report: newReport("n"), before: owner, wantToQueue: true},
		{name: "one that owned nothing leaves", event: onPodGone, report: newReport("n"), before: on(newPod("other", ls, "1"))},
		{name: "one that owned nothing leaves an amplified node", event: onPodGone, node: amplified("12"), report: newReport("n"), before: on(newPod("other", ls, "1")), wantToQueue: true},
		{name: "one that was on no node leaves", event: onPodGone, report: newReport("n"), before: newPod("other", ls, "1")},
		{name: "the pod itself asks for less", event: onOwnEdit, before: newPod("web", lsr, "4"), after: newPod("web", lsr, "1"), wantToQueue: true},
		{name: "another changes", event: onPodChanged, report: newReport("n"), after: on(newPod("other", ls, "1"))},
		{name: "another shrinks on an amplified node", event: onPodChanged, node: amplified("12"), report: newReport("n"), after: on(newPod("other", ls, "1")), wantToQueue: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := test.node
			if node == nil {
				node = newNode("n", nil)
			}
			f := newFixture(t, "", node)
			if test.report != nil {
				f.report(test.report)
			}
			pod := test.pod
			if pod == nil {
				pod = newPod("web", lsr, "4")
			}
			hint, err := test.event(f.plugin)(klog.Background(), pod, test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			if queued := hint == fwk.Queue; queued != test.wantToQueue {
				t.Errorf("queued %v, want %v", queued, test.wantToQueue)
			}
		})
	}
}

func onOwnEdit(*Plugin) fwk.QueueingHintFn      { return queueinghint.OwnEdits().QueueingHintFn }
func onReport(p *Plugin) fwk.QueueingHintFn     { return p.afterReport }
func onNode(p *Plugin) fwk.QueueingHintFn       { return p.afterNode }
func onPodGone(p *Plugin) fwk.QueueingHintFn    { return p.afterPodGone }
func onPodChanged(p *Plugin) fwk.QueueingHintFn { return p.afterPodChanged }

func TestHintsQueueWhatTheyDoNotUnderstand(t *testing.T) {
	f := newFixture(t, "")
	for name, hint := range map[string]fwk.QueueingHintFn{
		"report": f.plugin.afterReport, "node": f.plugin.afterNode, "gone pod": f.plugin.afterPodGone, "changed pod": f.plugin.afterPodChanged,
	} {
		if got, err := hint(klog.Background(), newPod("web", lsr, "1"), "?", "?"); err == nil || got != fwk.Queue {
			t.Errorf("%s: hint %v, error %v", name, got, err)
		}
	}
}
