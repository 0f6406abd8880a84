package deviceshare

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
)

func TestPlainPodsAreSkipped(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	pod, state := newPod("web", "cpu", "1", "memory", "1Gi"), framework.NewCycleState()
	if _, status := f.plugin.PreFilter(t.Context(), state, pod, nil); status.Code() != fwk.Skip {
		t.Errorf("PreFilter: %v", status)
	}
	if status := f.plugin.PreScore(t.Context(), state, pod, nil); status.Code() != fwk.Skip {
		t.Errorf("PreScore: %v", status)
	}
	if fragments, status := f.plugin.SignPod(t.Context(), pod); len(fragments) > 0 || !status.IsSuccess() {
		t.Errorf("SignPod: %v, %v", fragments, status)
	}
	if status := f.plugin.Reserve(t.Context(), state, pod, "n"); !status.IsSuccess() || len(defaultprebind.Annotations(state)) > 0 {
		t.Errorf("Reserve: %v, %v", status, defaultprebind.Annotations(state))
	}
}

func TestPreFilter(t *testing.T) {
	cut := []string{"koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", "1", "huawei.com/npu-cpu", "1", "koordinator.sh/gpu-memory", "3Gi"}
	templates := device.Templates{}
	tests := map[string]struct {
		pairs  []string
		change func(*memory)
		want   fwk.Code
	}{
		"a GPU":                             {pairs: []string{"nvidia.com/gpu", "1"}, want: fwk.Success},
		"an invalid request":                {pairs: []string{"koordinator.sh/gpu", "150"}, want: fwk.UnschedulableAndUnresolvable},
		"no node has a Device":              {pairs: []string{"nvidia.com/gpu", "1"}, change: func(m *memory) { clear(m.devices) }, want: fwk.Skip},
		"Devices are not known yet":         {pairs: []string{"nvidia.com/gpu", "1"}, change: func(m *memory) { m.unsettled = true }, want: fwk.Error},
		"a share that is no template":       {pairs: cut, change: func(m *memory) { m.templates = templates }, want: fwk.UnschedulableAndUnresolvable},
		"templates are not known yet":       {pairs: cut, change: func(m *memory) { m.unknown = true }, want: fwk.Error},
		"a share that needs no template":    {pairs: []string{"koordinator.sh/gpu", "50"}, change: func(m *memory) { m.unknown = true }, want: fwk.Success},
		"a plain pod needs to know nothing": {pairs: []string{"cpu", "1"}, change: func(m *memory) { m.unsettled = true }, want: fwk.Skip},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "", newDevice("n"))
			if test.change != nil {
				test.change(f.state)
			}
			if _, status := f.plugin.PreFilter(t.Context(), framework.NewCycleState(), newPod("pod", test.pairs...), nil); status.Code() != test.want {
				t.Errorf("status %v, want %v", status, test.want)
			}
		})
	}
}

func TestReserveIsSeenByTheNextPod(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	first, second := newPod("first", "nvidia.com/gpu", "8"), newPod("second", "nvidia.com/gpu", "1")
	state := f.preFilter(t, first)
	if status := f.plugin.Reserve(t.Context(), state, first, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	annotations := defaultprebind.Annotations(state)
	if annotations[extension.AnnotationGPUMinors] != "0,1,2,3,4,5,6,7" || !strings.Contains(annotations[extension.AnnotationDeviceAllocated], `"id":"gpu-7"`) {
		t.Errorf("annotations %v", annotations)
	}
	if _, status := f.plugin.PreBindPreFlight(t.Context(), state, first, "n"); status.Code() != fwk.Skip {
		t.Errorf("PreBind is not skipped: %v", status)
	}
	assumed := first.DeepCopy() // as the scheduler's cache has it until the informer shows more
	assumed.Spec.NodeName = "n"
	f.add(t, assumed)
	next := f.preFilter(t, second)
	if status := f.plugin.Filter(t.Context(), next, second, f.infos["n"]); status.Code() != fwk.Unschedulable || status.Message() != "Insufficient gpu devices" {
		t.Errorf("the node has a GPU left: %v", status)
	}
	f.plugin.Unreserve(t.Context(), state, first, "n")
	if status := f.plugin.Filter(t.Context(), next, second, f.infos["n"]); !status.IsSuccess() {
		t.Errorf("what was taken back is not free: %v", status)
	}
}

func TestReserveTakesPreferredDevices(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	f.hooks.Prefer(f.handle, func(_ fwk.CycleState, node string) (device.Allocation, bool) {
		reserve := newPod("reserve")
		reserve.Annotations[extension.AnnotationDeviceAllocated] = `{"gpu":[{"minor":5,"resources":{"koordinator.sh/gpu-core":"100"}}]}`
		allocation, found := device.ReadAllocation(reserve)
		return allocation, found && node == "n"
	})
	pod := newPod("pod", "nvidia.com/gpu", "1")
	state := f.preFilter(t, pod)
	if status := f.plugin.Reserve(t.Context(), state, pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if minors := defaultprebind.Annotations(state)[extension.AnnotationGPUMinors]; minors != "5" {
		t.Errorf("minors %s, want the reserved one", minors)
	}
}

func TestFilter(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	victim := f.holds(t, "n", "holder", allGPUs)
	pod := newPod("pod", "koordinator.sh/gpu", "50")
	state := f.preFilter(t, pod)
	if status := f.plugin.Filter(t.Context(), state, pod, f.infos["n"]); status.Code() != fwk.Unschedulable {
		t.Errorf("a full node: %v", status)
	}
	without := f.infos["n"].Snapshot()
	if err := without.RemovePod(klog.Background(), victim); err != nil {
		t.Fatal(err)
	}
	if status := f.plugin.Filter(t.Context(), state, pod, without); !status.IsSuccess() {
		t.Errorf("the node without its pod: %v", status)
	}
	if status := f.plugin.Filter(t.Context(), state, pod, f.infos["n"]); status.IsSuccess() {
		t.Error("the node with its pod, again, passes")
	}
	bare := framework.NewNodeInfo()
	bare.SetNode(newNode("bare"))
	if status := f.plugin.Filter(t.Context(), state, pod, bare); !status.IsSuccess() {
		t.Errorf("a node without a Device: %v", status)
	}
	large := newPod("large", "nvidia.com/gpu", "9")
	if status := f.plugin.Filter(t.Context(), f.preFilter(t, large), large, f.infos["n"]); status.Code() != fwk.UnschedulableAndUnresolvable {
		t.Errorf("a node that is too small for ever: %v", status)
	}
}

func TestScoreKeepsGPUsWhole(t *testing.T) {
	f := newFixture(t, `{"scoringStrategy":{"type":"MostAllocated"}}`, newDevice("shared"), newDevice("whole"))
	f.holds(t, "shared", "holder", `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory-ratio":"50"}}]}`)
	f.holds(t, "whole", "other", `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`)
	pod := newPod("pod", "koordinator.sh/gpu", "50")
	state := f.preFilter(t, pod)
	shared, _ := f.plugin.Score(t.Context(), state, pod, f.infos["shared"])
	whole, _ := f.plugin.Score(t.Context(), state, pod, f.infos["whole"])
	if shared <= whole {
		t.Errorf("the node with half a GPU left scores %d, the one that would break a whole one %d", shared, whole)
	}
}

func TestDevicePodsAreNotSigned(t *testing.T) {
	f := newFixture(t, "")
	if _, status := f.plugin.SignPod(t.Context(), newPod("pod", "nvidia.com/gpu", "1")); status.Code() != fwk.Unschedulable {
		t.Errorf("status %v", status)
	}
}

func TestAlignment(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	f.holds(t, "n", "holder", `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`)
	pod := newPod("pod", "nvidia.com/gpu", "4")
	state := f.preFilter(t, pod)
	hints, status := f.plugin.NUMAHints(t.Context(), state, pod, f.infos["n"])
	want := map[string][]numa.Hint{"gpu": {{Mask: 0b11, Score: 500}, {Mask: 0b10, Preferred: true, Score: 500}}}
	if diff := cmp.Diff(want, hints); diff != "" || !status.IsSuccess() {
		t.Errorf("hints (-want +got):\n%s, %v", diff, status)
	}
	if status := f.plugin.CheckNUMAAffinity(t.Context(), state, pod, f.infos["n"], numa.Hint{Mask: 0b01}); status.IsSuccess() {
		t.Error("four GPUs are had from a zone with three")
	}
	if status := f.plugin.CheckNUMAAffinity(t.Context(), state, pod, f.infos["n"], numa.Hint{Mask: 0b10}); !status.IsSuccess() {
		t.Error(status)
	}
	large := newPod("large", "nvidia.com/gpu", "8")
	if _, status := f.plugin.NUMAHints(t.Context(), f.preFilter(t, large), large, f.infos["n"]); status.Message() != "Insufficient gpu devices" {
		t.Errorf("hints of a node that is too full: %v", status)
	}
}

func TestFactoryRefusesBadArguments(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithInformerFactory(factory))
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]runtime.Object{
		"out of range": &runtime.Unknown{Raw: []byte(`{"fragmentationWeight":-1}`), ContentType: runtime.ContentTypeJSON},
		"misspelt":     &runtime.Unknown{Raw: []byte(`{"scoringStrateg":{}}`), ContentType: runtime.ContentTypeJSON},
		"of a kind":    &corev1.Pod{},
	} {
		if _, err := Factory(newMemory(), NewHooks(), nodenumaresource.NewHooks())(t.Context(), object, handle); err == nil || !strings.Contains(err.Error(), "DeviceShareArgs") {
			t.Errorf("%s: error %v, want one about DeviceShareArgs", name, err)
		}
	}
}

func TestExplainAndAdvise(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	f.holds(t, "n", "holder", allGPUs)
	pod := newPod("pod", "koordinator.sh/gpu", "50")
	state := f.preFilter(t, pod)
	status := f.plugin.Filter(t.Context(), state, pod, f.infos["n"])
	subject, found := f.plugin.ExplainRefusal(t.Context(), state, pod, f.infos["n"], status.Message())
	if !found || subject.Code != finding.DevicesInsufficient || subject.Phrase != "had insufficient GPUs" || subject.Distance != 1 {
		t.Fatalf("subject %+v, found %v", subject, found)
	}
	message, operands := subject.Describe()
	if want := "8 of 8 GPUs have < 50% core free; largest free share 30%"; message != want || len(operands) != 2 {
		t.Errorf("message %q, want %q; operands %v", message, want, operands)
	}
	if _, found := f.plugin.ExplainRefusal(t.Context(), state, pod, f.infos["n"], "Insufficient cpu"); found {
		t.Error("another plugin's reason is explained")
	}
	changes := f.plugin.Advise(t.Context(), state, pod, f.infos["n"], []string{status.Message()})
	if len(changes) != 1 || changes[0].Fix.Kind != "reduceRequest" || changes[0].Fix.Node != "n" {
		t.Fatalf("changes %+v", changes)
	}
	smaller := f.preFilter(t, changes[0].Pod)
	if status := f.plugin.Filter(t.Context(), smaller, changes[0].Pod, f.infos["n"]); !status.IsSuccess() {
		t.Errorf("with the change: %v", status)
	}
	invalid := newPod("invalid", "koordinator.sh/gpu", "150")
	_, status = f.plugin.PreFilter(t.Context(), framework.NewCycleState(), invalid, nil)
	if subject, found := f.plugin.ExplainRefusal(t.Context(), framework.NewCycleState(), invalid, f.infos["n"], status.Message()); !found || subject.Code != finding.DeviceRequestInvalid {
		t.Errorf("an invalid request: %+v, %v", subject, found)
	}
}

func TestQueueingHints(t *testing.T) {
	full, broken, small := newDevice("n"), newDevice("n"), newDevice("n")
	broken.Spec.Devices[0].Health = false
	small.Spec.Devices = small.Spec.Devices[:1]
	stranger := newDevice("stranger")
	labelled, annotated := newNode("n"), newNode("n")
	labelled.Labels[extension.LabelGPUPartitionPolicy] = "Honor"
	annotated.Labels["unrelated"] = "yes"
	holder, nic, plain := newPod("holder", "nvidia.com/gpu", "1"), newPod("nic", "koordinator.sh/rdma", "100"), newPod("plain", "cpu", "1")
	holder.Annotations[extension.AnnotationDeviceAllocated] = allGPUs
	nic.Annotations[extension.AnnotationDeviceAllocated] = `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"100"}}]}`
	for _, pod := range []*corev1.Pod{holder, nic, plain} {
		pod.Spec.NodeName = "n"
	}
	scoped := newPod("pod")
	scoped.Annotations = map[string]string{extension.AnnotationDeviceAllocateHint: `{"gpu":{"requiredTopologyScope":"PCIe"}}`}
	tests := []struct {
		name   string
		event  func(*Plugin) fwk.QueueingHintFn
		before any
		after  any
		want   bool
	}{
		{name: "a GPU is healthy again", event: onDevice, before: broken, after: full, want: true},
		{name: "a GPU breaks", event: onDevice, before: full, after: broken},
		{name: "nothing changes", event: onDevice, before: full, after: full},
		{name: "a Device appears", event: onDevice, after: full, want: true},
		{name: "a Device appears that is too small", event: onDevice, after: small},
		{name: "a Device of no node", event: onDevice, after: stranger},
		{name: "a Device is gone", event: onDevice, before: full, want: true},
		{name: "a node appears", event: onNode, after: newNode("n"), want: true},
		{name: "a node's partitions become optional", event: onNode, before: labelled, after: newNode("n"), want: true},
		{name: "a node's partitions become binding", event: onNode, before: newNode("n"), after: labelled},
		{name: "a label that means nothing", event: onNode, before: newNode("n"), after: annotated},
		{name: "a pod with GPUs is gone", event: onPodGone, before: holder, want: true},
		{name: "a pod with a NIC is gone", event: onPodGone, before: nic},
		{name: "a plain pod is gone", event: onPodGone, before: plain},
		{name: "a pod is gone before its annotation", event: onPodGone, before: boundWithoutAnnotation(), want: true},
		{name: "a pod that was on no node is gone", event: onPodGone, before: newPod("pending", "nvidia.com/gpu", "1")},
		{name: "the pod's topology scope is dropped", event: onOwnEdit, before: scoped, after: newPod("pod"), want: true},
		{name: "another pod changes", event: onOwnEdit, before: scoped, after: newPod("other")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, "", newDevice("n"))
			hint, err := test.event(f.plugin)(klog.Background(), newPod("pod", "nvidia.com/gpu", "2"), test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			if queued := hint == fwk.Queue; queued != test.want {
				t.Errorf("queued %v, want %v", queued, test.want)
			}
		})
	}
}

func boundWithoutAnnotation() *corev1.Pod {
	pod := newPod("young", "nvidia.com/gpu", "1")
	pod.Spec.NodeName = "n"
	return pod
}

func onDevice(p *Plugin) fwk.QueueingHintFn  { return p.afterDevice }
func onNode(p *Plugin) fwk.QueueingHintFn    { return p.afterNode }
func onPodGone(p *Plugin) fwk.QueueingHintFn { return p.afterPodGone }

// onOwnEdit is the hint for any update of a pod, which is how the queue learns of edited annotations.
func onOwnEdit(p *Plugin) fwk.QueueingHintFn {
	events, _ := p.EventsToRegister(context.Background()) // it returns none
	at := slices.IndexFunc(events, func(e fwk.ClusterEventWithHint) bool {
		return e.Event.Resource == fwk.Pod && e.Event.ActionType == fwk.Update
	})
	return events[at].QueueingHintFn
}

func TestHintsQueueWhatTheyDoNotUnderstand(t *testing.T) {
	f := newFixture(t, "")
	for name, hint := range map[string]fwk.QueueingHintFn{
		"Device": f.plugin.afterDevice, "node": f.plugin.afterNode, "gone pod": f.plugin.afterPodGone, "changed pod": onOwnEdit(f.plugin),
	} {
		if got, err := hint(klog.Background(), newPod("pod"), "?", "?"); err == nil || got != fwk.Queue {
			t.Errorf("%s: hint %v, error %v", name, got, err)
		}
	}
}

func TestFilterOnAWarmNodeDoesNotAllocate(t *testing.T) {
	if racing {
		t.Skip("the race detector allocates")
	}
	f := newFixture(t, "", newDevice("n"))
	pod := newPod("pod", "nvidia.com/gpu", "2")
	state := f.preFilter(t, pod)
	f.plugin.Filter(context.Background(), state, pod, f.infos["n"])
	if allocations := testing.AllocsPerRun(100, func() { f.plugin.Filter(context.Background(), state, pod, f.infos["n"]) }); allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

// TestFilterBesideReserve filters nodes in parallel while pods are reserved on them, as a scheduler and its explanations
// do. No pod is ever given what another one has.
func TestFilterBesideReserve(t *testing.T) {
	f := newFixture(t, "", newDevice("n"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		pod := newPod("reader", "koordinator.sh/gpu", "50")
		state := f.preFilter(t, pod)
		for deadline := time.Now().Add(200 * time.Millisecond); time.Now().Before(deadline); {
			info := f.infos["n"].Snapshot()
			f.plugin.Filter(context.Background(), state, pod, info)
			f.plugin.Score(context.Background(), state, pod, info)
		}
	}()
	for i := range 50 {
		pod := newPod("writer", "koordinator.sh/gpu", "50")
		state := f.preFilter(t, pod)
		if status := f.plugin.Reserve(t.Context(), state, pod, "n"); !status.IsSuccess() {
			t.Fatal(i, status)
		}
		f.plugin.Unreserve(t.Context(), state, pod, "n")
	}
	<-done
}
