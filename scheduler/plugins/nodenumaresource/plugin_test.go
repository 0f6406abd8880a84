package nodenumaresource

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
)

const (
	lsr = extension.QoSLSR
	ls  = extension.QoSLS

	resourceStatus = extension.AnnotationResourceStatus
	resourceSpec   = extension.AnnotationResourceSpec
	alignment      = extension.AnnotationNUMATopologySpec
	singleZone     = `{"numaTopologyPolicy":"SingleNUMANode"}`
)

func TestPodsOwnTheirCPUs(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	f.report(newReport("n"))
	tests := []struct {
		name       string
		pod        *corev1.Pod
		want       map[string]string
		wantReason string
	}{
		{name: "the first gets a core, and its policy is written down", pod: newPod("a", lsr, "2"), want: map[string]string{resourceStatus: `{"cpuset":"0-1"}`, resourceSpec: `{"preferredCPUBindPolicy":"FullPCPUs"}`}},
		{
			name: "the second gets others, aligned", pod: newPod("b", lsr, "2", alignment, singleZone, resourceSpec, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`),
			want: map[string]string{resourceStatus: `{"cpuset":"4,6","numaNodeResources":[{"node":1,"resources":{"cpu":"2"}}]}`},
		},
		{name: "an ordinary pod is skipped", pod: newPod("c", ls, "2"), wantReason: "skip"},
		{name: "a third needs more idle cores than are left", pod: newPod("d", lsr, "4", resourceSpec, `{"requiredCPUBindPolicy":"FullPCPUs"}`), wantReason: "insufficient CPUs to satisfy required cpu bind policy FullPCPUs"},
		{name: "but takes what there is when it may", pod: newPod("e", lsr, "4", resourceSpec, `{"preferredCPUBindPolicy":"FullPCPUs"}`), want: map[string]string{resourceStatus: `{"cpuset":"2-3,5,7"}`}},
		{name: "then all are owned", pod: newPod("f", lsr, "1"), wantReason: "not enough cpus available to satisfy request"},
		{name: "a fraction is never bound", pod: newPod("g", lsr, "1500m"), wantReason: "the requested CPUs must be integer"},
	}
	for _, test := range tests {
		got, status := f.schedule(test.pod, "n")
		text := status.Message()
		if status.IsSkip() {
			text = "skip"
		}
		if diff := cmp.Diff(test.want, got); diff != "" || text != test.wantReason {
			t.Fatalf("%s: reason %q, want %q; annotations (-want +got):\n%s", test.name, text, test.wantReason, diff)
		}
		if status.IsSuccess() {
			f.assume(test.pod, "n")
		}
	}
	f.plugin.Unreserve(t.Context(), nil, newPod("a", lsr, "2"), "n")
	if got, status := f.schedule(newPod("h", lsr, "2"), "n"); got[resourceStatus] != `{"cpuset":"0-1"}` {
		t.Errorf("after Unreserve: %v, %v", got, status)
	}
}

func TestARestartedSchedulerKnowsTheOwners(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	f.report(newReport("n"))
	f.assume(newPod("a", lsr, "6", resourceStatus, `{"cpuset":"0-5"}`), "n")
	if got, status := f.schedule(newPod("b", lsr, "2"), "n"); got[resourceStatus] != `{"cpuset":"6-7"}` {
		t.Errorf("annotations %v, %v", got, status)
	}
	state := framework.NewCycleState()
	pod := newPod("c", lsr, "4")
	f.plugin.PreFilter(t.Context(), state, pod, nil)
	if status := f.plugin.Filter(t.Context(), state, pod, f.info("n")); status.Code() != fwk.Unschedulable {
		t.Fatalf("status %v, want one that preemption can lift", status)
	}
	without := f.info("n").Snapshot()
	if err := without.RemovePod(klog.Background(), f.pods[0]); err != nil {
		t.Fatal(err)
	}
	if status := f.plugin.Filter(t.Context(), state.Clone(), pod, without); !status.IsSuccess() {
		t.Errorf("without the owner: %v", status)
	}
}

func TestNodesThatDemandSomethingOfAllPods(t *testing.T) {
	f := newFixture(t, "", newNode("aligned", map[string]string{extension.LabelNodeNUMATopologyPolicy: "SingleNUMANode"}), newNode("plain", nil))
	f.report(newReport("aligned"))
	pod := newPod("web", ls, "3")
	got, status := f.schedule(pod, "aligned")
	want := map[string]string{resourceStatus: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"3"}}]}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v (-want +got):\n%s", status, diff)
	}
	if got, status := f.schedule(pod, "plain"); !status.IsSuccess() || got != nil {
		t.Errorf("on a plain node: %v, %v", got, status)
	}
	state := framework.NewCycleState()
	f.plugin.PreFilter(t.Context(), state, pod, nil)
	if status := f.plugin.PreScore(t.Context(), state, pod, []fwk.NodeInfo{f.info("plain")}); !status.IsSkip() {
		t.Error("an ordinary pod is scored among plain nodes")
	}
	if _, status := f.schedule(newPod("wide", ls, "5"), "aligned"); status.Code() != fwk.Unschedulable || !strings.HasPrefix(status.Message(), "Unaligned NUMA Hint cause cpu prefer [11] among [11]") {
		t.Errorf("a pod wider than a zone: %v", status)
	}
}

// license gives out things of one zone.
type license struct {
	zone    int
	refuses bool
}

func (l *license) Name() string { return "License" }
func (l *license) NUMAHints(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) (map[string][]numa.Hint, *fwk.Status) {
	return map[string][]numa.Hint{"example.com/license": {{Mask: numa.MaskOf(l.zone), Preferred: true}}}, nil
}
func (l *license) CheckNUMAAffinity(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, _ fwk.NodeInfo, affinity numa.Hint) *fwk.Status {
	if l.refuses || !affinity.Mask.Has(l.zone) {
		return fwk.NewStatus(fwk.Unschedulable, "Insufficient licenses")
	}
	return nil
}

func TestOtherPluginsTakePart(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	f.report(newReport("n"))
	other := &license{zone: 1}
	f.hooks.Provide(f.handle, other)
	pod := newPod("web", lsr, "2", alignment, singleZone)
	state := framework.NewCycleState()
	f.plugin.PreFilter(t.Context(), state, pod, nil)
	if status := f.plugin.Filter(t.Context(), state, pod, f.info("n")); !status.IsSuccess() {
		t.Fatal(status)
	}
	if hint, aligned := Affinity(state, "n"); !aligned || hint.Mask != numa.MaskOf(1) {
		t.Errorf("affinity %v %s, want the zone that the other plugin needs", aligned, hint.Mask)
	}
	if _, aligned := Affinity(state.Clone(), "n"); aligned {
		t.Error("a copy of the cycle knows zones of nodes that may differ in it")
	}
	if got, status := f.schedule(pod, "n"); got[resourceStatus] != `{"cpuset":"4-5","numaNodeResources":[{"node":1,"resources":{"cpu":"2"}}]}` {
		t.Errorf("annotations %v, %v", got, status)
	}
	other.refuses = true
	if _, status := f.schedule(pod, "n"); status.Message() != "Insufficient licenses" {
		t.Errorf("status %v, want the other plugin's refusal", status)
	}
	other.refuses, other.zone = false, 5
	if _, status := f.schedule(pod, "n"); !strings.HasPrefix(status.Message(), "Unaligned NUMA Hint cause cpu prefer [01 10] among [01 10 11],example.com/license") {
		t.Errorf("status %v, want an unaligned one", status)
	}
	if _, status := f.schedule(newPod("free", lsr, "2"), "n"); !status.IsSuccess() {
		t.Errorf("a pod that is not aligned: %v", status)
	}
}

func TestReservedCPUsComeFirst(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	f.report(newReport("n"))
	f.hooks.Prefer(f.handle, func(_ fwk.CycleState, node string) cpuset.CPUSet {
		if node != "n" {
			return cpuset.CPUSet{}
		}
		return cpuset.Of(6, 7)
	})
	if got, status := f.schedule(newPod("web", lsr, "2"), "n"); got[resourceStatus] != `{"cpuset":"6-7"}` {
		t.Errorf("annotations %v, %v", got, status)
	}
}

// TestCPUsOfAReservation gives a pod the CPUs that a reserve pod holds, which the pod sees the node without.
func TestCPUsOfAReservation(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	f.report(newReport("n"))
	f.assume(newPod("reserve", lsr, "8", resourceStatus, `{"cpuset":"0-7"}`), "n")
	pod, state, ctx := newPod("web", lsr, "2"), framework.NewCycleState(), t.Context()
	if _, status := f.schedule(pod, "n"); status.Message() != numa.ReasonNotEnoughCPUs {
		t.Fatalf("without the reservation: %v", status)
	}
	f.plugin.PreFilter(ctx, state, pod, nil)
	without := f.info("n").Snapshot()
	f.must(without.RemovePod(klog.Background(), f.pods[0]))
	frameworkext.Restore(state, map[string]frameworkext.Restored{"n": {Node: without}})
	if status := f.plugin.Filter(ctx, state, pod, without); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := f.plugin.Reserve(ctx, state, pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if got := defaultprebind.Annotations(state)[resourceStatus]; got != `{"cpuset":"0-1"}` {
		t.Errorf("allocated %s", got)
	}
}

func TestFactoryRefusesBadArguments(t *testing.T) {
	f := newFixture(t, "")
	for name, raw := range map[string]string{
		"out of range": `{"scoringStrategy":{"resources":[{"name":"cpu","weight":101}]}}`, "misspelt": `{"defaultCPUBindPolicies":"FullPCPUs"}`,
		"unsupported": `{"defaultCPUBindPolicy":"ConstrainedBurst"}`,
	} {
		_, err := Factory(f.state, f.hooks)(t.Context(), &runtime.Unknown{Raw: []byte(raw), ContentType: runtime.ContentTypeJSON}, f.handle)
		if err == nil || !strings.Contains(err.Error(), numa.Kind) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	f.build(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"NodeNUMAResourceArgs","defaultCPUBindPolicy":"SpreadByPCPUs","scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}`)
}

func TestSignatures(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	sign := func(pod *corev1.Pod) string {
		fragments, status := f.plugin.SignPod(t.Context(), pod)
		return fmt.Sprint(fragments, status.Code())
	}
	if got := sign(newPod("a", ls, "1")); got != "[] Success" {
		t.Errorf("an ordinary pod signs %s", got)
	}
	if got := sign(newPod("b", lsr, "1")); got != "[] Unschedulable" {
		t.Errorf("a bound pod signs %s", got)
	}
	labelled := newNode("n", map[string]string{extension.LabelNodeNUMATopologyPolicy: "Restricted"})
	f.must(f.shared.Core().V1().Nodes().Informer().GetIndexer().Update(labelled))
	f.state.Refresh("n")
	one, two := sign(newPod("a", ls, "1")), sign(newPod("a", ls, "2"))
	if one == two || one != sign(newPod("c", ls, "1")) {
		t.Errorf("where nodes align all pods, 1 CPU signs %s, 2 CPUs %s", one, two)
	}
	f.report(newReport("n"))
	if later := sign(newPod("a", ls, "1")); later == one {
		t.Error("the signature is the same after a node changed")
	}
}

func TestPlainPodsCostNothing(t *testing.T) {
	f := newFixture(t, "", newNode("n", nil))
	pod, state := newPod("web", ls, "1"), framework.NewCycleState()
	if allocations := testing.AllocsPerRun(100, func() { f.plugin.PreFilter(context.Background(), state, pod, nil) }); allocations > 1 {
		t.Errorf("%v allocations in PreFilter, want no more than the status", allocations)
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, pod := range map[string]*corev1.Pod{
		"Bound": newPod("web", lsr, "2"), "Required": newPod("web", lsr, "2", resourceSpec, `{"requiredCPUBindPolicy":"FullPCPUs"}`),
		"Aligned": newPod("web", lsr, "2", alignment, singleZone), "Ordinary": newPod("web", ls, "2"),
	} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b, "", newNode("n", nil), newNode("aligned", map[string]string{extension.LabelNodeNUMATopologyPolicy: "SingleNUMANode"}))
			f.report(newReport("n"))
			state, info := framework.NewCycleState(), f.info("n")
			f.plugin.PreFilter(b.Context(), state, pod, nil)
			b.ReportAllocs()
			for b.Loop() {
				f.plugin.Filter(context.Background(), state, pod, info)
			}
		})
	}
}
