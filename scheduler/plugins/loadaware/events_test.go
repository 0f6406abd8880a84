package loadaware

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/state"
)

func TestQueueingHints(t *testing.T) {
	node, larger, annotated := newNode("n"), newNode("n"), newNode("n")
	larger.Status.Allocatable["cpu"] = resource.MustParse("20")
	annotated.Annotations = map[string]string{"unrelated": "yes"}
	cold, warm, hot := newMetric("n", "1", start), newMetric("n", "2", start), newMetric("n", "7", start)
	old := newMetric("n", "1", start.Add(-time.Hour))
	young := newPod("young", "5")
	young.Spec.NodeName = "n"
	shrunk, small, elsewhere := newPod("young", "1"), newPod("small", "1"), newPod("elsewhere", "1")
	shrunk.Spec.NodeName, small.Spec.NodeName, elsewhere.Spec.NodeName = "n", "n", "gone"
	tests := []struct {
		name        string
		args        string
		state       *slov1alpha1.NodeMetric
		assigned    []decision.AssignedPod
		event       func(*Plugin) fwk.QueueingHintFn
		before      any
		after       any
		wantToQueue bool
	}{
		{name: "load falls below the threshold", event: onMetric, before: hot, after: cold, wantToQueue: true},
		{name: "load stays high", event: onMetric, before: hot, after: newMetric("n", "8", start)},
		{name: "load stays low", event: onMetric, before: cold, after: warm},
		{name: "load rises", event: onMetric, before: cold, after: hot},
		{name: "the agent comes back", event: onMetric, before: old, after: cold, wantToQueue: true},
		{name: "a node that passed without NodeMetric gets one", event: onMetric, after: cold},
		{name: "a hot node loses its NodeMetric", event: onMetric, before: hot, wantToQueue: true},
		{name: "a NodeMetric of no node", event: onMetric, before: newMetric("gone", "8", start), after: newMetric("gone", "1", start)},
		{
			name: "a report comes after the time for which a pod counted by its estimate", args: `{"estimatedSecondsAfterPodScheduled":60}`, event: onMetric,
			before: reports(young, start), after: reports(young, start.Add(time.Minute)), wantToQueue: true,
			assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start.Add(-2 * time.Second)}},
		},
		{
			name: "a report comes within the time for which a pod counts by its estimate", args: `{"estimatedSecondsAfterPodScheduled":60}`, event: onMetric,
			before: reports(young, start), after: reports(young, start.Add(50*time.Second)),
			assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start.Add(-2 * time.Second)}},
		},
		{name: "a hot node grows", state: hot, event: onNode, before: node, after: larger, wantToQueue: true},
		{name: "a hot node gets an annotation that means nothing", state: hot, event: onNode, before: node, after: annotated},
		{name: "a cold node gets an annotation that means nothing", state: cold, event: onNode, before: node, after: annotated},
		{name: "a node appears", event: onNode, after: node, wantToQueue: true},
		{
			name: "a pod that counted by its estimate is gone", state: warm, event: onPodGone, before: young, wantToQueue: true,
			assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start}},
		},
		{name: "a pod leaves a node that is hot without it", state: hot, event: onPodGone, before: young, assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start}}},
		{
			name: "a pod that counted by its estimate is gone, and the state knows", state: warm, event: onPodGone, before: young, wantToQueue: true,
		},
		{
			name: "a pod leaves a node that passes with it", state: cold, event: onPodGone, before: small,
			assigned: []decision.AssignedPod{{Pod: small, AssignedAt: start}},
		},
		{name: "a pod of an unknown node is gone", state: cold, event: onPodGone, before: elsewhere},
		{name: "a pod that was on no node is gone", state: cold, event: onPodGone, before: newPod("pending", "1")},
		{name: "the pod itself asks for less", event: onOwnEdit, before: newPod("web", "2"), after: newPod("web", "1"), wantToQueue: true},
		{name: "another pending pod asks for less", event: onPodChanged, before: newPod("other", "2"), after: newPod("other", "1")},
		{
			name: "a pod on the node is made smaller", state: warm, event: onPodChanged, before: young, after: shrunk, wantToQueue: true,
			assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start}},
		},
		{
			name: "a pod on the node is made smaller, and the state knows", state: warm, event: onPodChanged, before: young, after: shrunk, wantToQueue: true,
			assigned: []decision.AssignedPod{{Pod: shrunk, AssignedAt: start}},
		},
		{
			name: "a pod that was assigned a moment ago is made smaller and stays that young", state: reports(young, start), event: onPodChanged,
			before: young, after: shrunk, wantToQueue: true, assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start.Add(-2 * time.Second)}},
		},
		{
			name: "a pod is made smaller on a node that is hot without it", state: hot, event: onPodChanged, before: young, after: shrunk,
			assigned: []decision.AssignedPod{{Pod: young, AssignedAt: start}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.args, node)
			f.state.metrics["n"] = test.state
			f.state.assigned["n"] = state.Assigned{Version: 1, Pods: test.assigned}
			hint, err := test.event(f.plugin)(klog.Background(), newPod("web", "1"), test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			if queued := hint == fwk.Queue; queued != test.wantToQueue {
				t.Errorf("queued %v, want %v", queued, test.wantToQueue)
			}
		})
	}
}

// reports is a NodeMetric that has a pod on it, at 1 of 10 CPUs.
func reports(pod *corev1.Pod, at time.Time) *slov1alpha1.NodeMetric {
	metric := newMetric("n", "3", at)
	usage := slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}}
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{{Namespace: pod.Namespace, Name: pod.Name, Priority: "koord-prod", PodUsage: usage}}
	return metric
}

func onMetric(p *Plugin) fwk.QueueingHintFn     { return p.afterNodeMetric }
func onNode(p *Plugin) fwk.QueueingHintFn       { return p.afterNode }
func onPodGone(p *Plugin) fwk.QueueingHintFn    { return p.afterPodGone }
func onPodChanged(p *Plugin) fwk.QueueingHintFn { return p.afterPodChanged }

func TestHintsQueueWhatTheyDoNotUnderstand(t *testing.T) {
	f := newFixture(t, "")
	for name, hint := range map[string]fwk.QueueingHintFn{
		"NodeMetric": f.plugin.afterNodeMetric, "node": f.plugin.afterNode, "gone pod": f.plugin.afterPodGone, "changed pod": f.plugin.afterPodChanged,
	} {
		if got, err := hint(klog.Background(), newPod("web", "1"), "?", "?"); err == nil || got != fwk.Queue {
			t.Errorf("%s: hint %v, error %v", name, got, err)
		}
	}
	if got, err := f.plugin.afterPodChanged(klog.Background(), newPod("web", "1"), "?", newPod("other", "1")); err == nil || got != fwk.Queue {
		t.Errorf("changed pod without its past: hint %v, error %v", got, err)
	}
}

// TestHintsAgreeWithTheFilter runs every pair of situations as an event: the pod is woken exactly when the filter refused
// it before and lets it pass after.
func TestHintsAgreeWithTheFilter(t *testing.T) {
	node := newNode("n")
	f := newFixture(t, "", node)
	pod := newPod("web", "1")
	metrics := []*slov1alpha1.NodeMetric{nil, newMetric("n", "1", start), newMetric("n", "5500m", start), newMetric("n", "6", start), newMetric("n", "9", start), newMetric("n", "1", start.Add(-time.Hour))}
	refuses := func(metric *slov1alpha1.NodeMetric) bool {
		f.state.metrics["n"] = metric
		return !f.plugin.Filter(t.Context(), framework.NewCycleState(), pod, infoOf(node)).IsSuccess()
	}
	for i, before := range metrics {
		for j, after := range metrics {
			want := refuses(before) && !refuses(after)
			var old, current any
			if before != nil {
				old = before
			}
			if after != nil {
				current = after
			}
			hint, err := f.plugin.afterNodeMetric(klog.Background(), pod, old, current)
			if err != nil {
				t.Fatal(err)
			}
			if got := hint == fwk.Queue; got != want {
				t.Errorf("from situation %d to %d: queued %v, want %v", i, j, got, want)
			}
		}
	}
}

func onOwnEdit(*Plugin) fwk.QueueingHintFn { return queueinghint.OwnEdits().QueueingHintFn }

func TestEventsAreRegisteredWithHints(t *testing.T) {
	events, err := newFixture(t, "").plugin.EventsToRegister(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[fwk.EventResource]fwk.ActionType{}
	for _, event := range events {
		if event.QueueingHintFn == nil {
			t.Errorf("every %v event would wake every pod", event.Event)
		}
		got[event.Event.Resource] |= event.Event.ActionType
	}
	want := map[fwk.EventResource]fwk.ActionType{
		"nodemetrics.v1alpha1.slo.koordinator.sh": fwk.Add | fwk.Update | fwk.Delete,
		fwk.Node: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeAnnotation,
		fwk.Pod:  fwk.Delete | fwk.Update,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
