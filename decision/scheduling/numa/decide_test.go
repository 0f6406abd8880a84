package numa

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

const (
	lsr       = extension.QoSLSR
	ls        = extension.QoSLS
	labelBind = extension.LabelNodeCPUBindPolicy
	labelNUMA = extension.LabelNodeNUMATopologyPolicy
	ratioKey  = extension.AnnotationNodeResourceAmplificationRatio
)

func TestFilterAndAllocate(t *testing.T) {
	required := `{"requiredCPUBindPolicy":"FullPCPUs"}`
	tests := []struct {
		name     string
		node     *corev1.Node
		bare     bool // without a NodeResourceTopology
		pods     []*corev1.Pod
		pod      *corev1.Pod
		args     Args
		request  int64 // milliCPU requested on the node
		want     string
		wantCode finding.Code
		wantText string
		// wantMessage is part of the trace's message.
		wantMessage string
	}{
		{name: "a LSR pod gets whole cores", node: newNode(), pod: newPod(lsr, nil, "cpu", "4"), want: `{"cpuset":"0-3"}`},
		{name: "or one CPU of each core", node: newNode(), pod: newPod(lsr, spec(`{"preferredCPUBindPolicy":"SpreadByPCPUs"}`), "cpu", "4"), want: `{"cpuset":"0,2,4,6"}`},
		{name: "the default may be to spread", node: newNode(), args: Args{DefaultCPUBindPolicy: extension.CPUBindPolicySpreadByPCPUs}, pod: newPod(lsr, nil, "cpu", "4"), want: `{"cpuset":"0,2,4,6"}`},
		{name: "required comes before preferred", node: newNode(), pod: newPod(lsr, spec(`{"requiredCPUBindPolicy":"SpreadByPCPUs","preferredCPUBindPolicy":"FullPCPUs"}`), "cpu", "2"), want: `{"cpuset":"0,2"}`},
		{name: "a burstable pod on shared CPUs owns none", node: newNode(), pod: newPod(lsr, spec(`{"preferredCPUBindPolicy":"ConstrainedBurst"}`), "cpu", "1500m"), want: `{}`},
		{name: "a LS pod owns none", node: newNode(), pod: newPod(ls, nil, "cpu", "4"), want: `{}`},
		{name: "CPUs of other pods are left alone", node: newNode(), pods: []*corev1.Pod{status(`{"cpuset":"0-1,4"}`)}, pod: newPod(lsr, nil, "cpu", "4"), want: `{"cpuset":"8-11"}`},
		{
			name: "too few are free", node: newNode(), pods: []*corev1.Pod{status(`{"cpuset":"0-13"}`)}, pod: newPod(lsr, nil, "cpu", "4"),
			wantCode: finding.CPUsExhausted, wantText: "not enough cpus available to satisfy request", wantMessage: "needs 4 exclusive CPUs, 2 of 16 are free",
		},
		{
			name: "broken cores do not satisfy a required policy", node: newNode(), pods: []*corev1.Pod{status(`{"cpuset":"0,2,4,6,8,10,12"}`)}, pod: newPod(lsr, spec(required), "cpu", "4"),
			wantCode: finding.CPUBindPolicyUnsatisfied, wantText: "insufficient CPUs to satisfy required cpu bind policy FullPCPUs",
			wantMessage: "needs 4 CPUs on idle cores, 9 CPUs are free but only 2 of them on idle cores",
		},
		{name: "half a core is not a whole one", node: newNode(), pod: newPod(lsr, spec(required), "cpu", "3"), wantCode: finding.CPUsNotWholeCores, wantText: "node(s) requested cpus not multiple cpus per core"},
		{name: "the node does not say what CPUs it has", node: newNode(), bare: true, pod: newPod(lsr, nil, "cpu", "4"), wantCode: finding.CPUTopologyInvalid, wantText: "node(s) invalid CPU Topology"},
		{name: "a node that binds all pods", node: newNode(labelBind, "FullPCPUsOnly"), pod: newPod(ls, nil, "cpu", "2"), want: `{"cpuset":"0-1"}`},
		{name: "binds no batch pods", node: newNode(labelBind, "FullPCPUsOnly"), pod: newPod(extension.QoSBE, nil, "kubernetes.io/batch-cpu", "1500"), want: `{}`},
		{name: "and takes no fractions", node: newNode(labelBind, "SpreadByPCPUs"), pod: newPod(ls, nil, "cpu", "500m"), wantCode: finding.CPUsNotInteger, wantText: "the requested CPUs must be integer"},
		{name: "nor another required policy", node: newNode(labelBind, "SpreadByPCPUs"), pod: newPod(lsr, spec(required), "cpu", "2"), wantCode: finding.CPUBindPolicyConflict, wantText: "node(s) cpu bind policy conflicts with pod's required cpu bind policy"},
		{name: "pod and node align differently", node: newNode(labelNUMA, "Restricted"), pod: newPod(ls, aligned(single), "cpu", "1"), wantCode: finding.NUMAPolicyMismatch, wantText: "node(s) NUMA Topology policy not match"},
		{name: "no zones to align on", node: newNode(), bare: true, pod: newPod(ls, aligned(single), "cpu", "1"), wantCode: finding.NUMAZonesMissing, wantText: "node(s) missing NUMA resources"},
		{
			name: "everything from one zone", node: newNode(labelNUMA, "SingleNUMANode"), pods: []*corev1.Pod{status(`{"numaNodeResources":[{"node":0,"resources":{"memory":"5Gi"}}]}`)},
			pod: newPod(ls, nil, "cpu", "2500m", "memory", "6Gi"), want: `{"numaNodeResources":[{"node":1,"resources":{"cpu":"2500m","memory":"6Gi"}}]}`,
		},
		{
			name: "bound CPUs come from the same zone", node: newNode(), pods: []*corev1.Pod{status(`{"cpuset":"0-5"}`)},
			pod: newPod(lsr, aligned(single), "cpu", "4", "memory", "1Gi"), want: `{"cpuset":"8-11","numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"1Gi"}}]}`,
		},
		{
			name: "memory left here, cpu left there", node: newNode(labelNUMA, "SingleNUMANode"),
			pods: []*corev1.Pod{status(`{"cpuset":"0-5"}`), status(`{"numaNodeResources":[{"node":1,"resources":{"memory":"8Gi"}}]}`)},
			pod:  newPod(ls, nil, "cpu", "4", "memory", "4Gi"), wantCode: finding.NUMAUnaligned,
			wantText: "Unaligned NUMA Hint cause cpu prefer [10] among [10 11],memory prefer [01] among [01 11]", wantMessage: "NUMA node 1 has 2Gi of 10Gi left",
		},
		{
			name: "best effort takes them all the same", node: newNode(labelNUMA, "BestEffort"),
			pods: []*corev1.Pod{status(`{"cpuset":"0-5"}`), status(`{"numaNodeResources":[{"node":1,"resources":{"memory":"8Gi"}}]}`)},
			pod:  newPod(ls, nil, "cpu", "4", "memory", "4Gi"), want: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"2","memory":"4Gi"}},{"node":1,"resources":{"cpu":"2"}}]}`,
		},
		{
			name: "restricted takes two zones for what never fits one", node: newNode(labelNUMA, "Restricted"), pod: newPod(ls, nil, "cpu", "10", "memory", "12Gi"),
			want: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"8","memory":"10Gi"}},{"node":1,"resources":{"cpu":"2","memory":"2Gi"}}]}`,
		},
		{
			name: "distributed evenly", node: newNode(labelNUMA, "Restricted", extension.LabelNodeNUMAAllocateStrategy, "DistributeEvenly"), pod: newPod(lsr, nil, "cpu", "12", "memory", "12Gi"),
			want: `{"cpuset":"0-5,8-13","numaNodeResources":[{"node":0,"resources":{"cpu":"6","memory":"6Gi"}},{"node":1,"resources":{"cpu":"6","memory":"6Gi"}}]}`,
		},
		{
			name: "evenly as far as the fuller zone has room", node: newNode(labelNUMA, "Restricted", extension.LabelNodeNUMAAllocateStrategy, "DistributeEvenly"),
			pods: []*corev1.Pod{status(`{"numaNodeResources":[{"node":1,"resources":{"memory":"8Gi"}}]}`)}, pod: newPod(ls, nil, "memory", "12Gi"),
			want: `{"numaNodeResources":[{"node":0,"resources":{"memory":"10Gi"}},{"node":1,"resources":{"memory":"2Gi"}}]}`,
		},
		{
			name: "more than all zones have", node: newNode(labelNUMA, "BestEffort"), pod: newPod(ls, nil, "memory", "21Gi"),
			wantCode: finding.NUMAResourceUnsatisfied, wantText: "Unsatisfied NUMA memory",
		},
		{
			name: "more than all zones have left", node: newNode(labelNUMA, "Restricted"), pods: []*corev1.Pod{status(`{"cpuset":"0-9"}`)}, pod: newPod(ls, nil, "cpu", "7"),
			wantCode: finding.NUMAResourceInsufficient, wantText: "Insufficient NUMA cpu", wantMessage: "needs 7 cpu aligned by Restricted: NUMA node 0 has 0 of 8 left, NUMA node 1 has 6 of 8 left",
		},
		{
			name: "zones with pods across zones are kept out", node: newNode(), pods: []*corev1.Pod{status(`{"numaNodeResources":[{"node":0,"resources":{"cpu":"1"}},{"node":1,"resources":{"cpu":"1"}}]}`)},
			pod:      newPod(ls, map[string]string{extension.AnnotationNUMATopologySpec: `{"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Required"}`}, "cpu", "1"),
			wantCode: finding.NUMAUnaligned, wantText: "Unaligned NUMA Hint cause cpu prefer [] among [11]",
		},
		{
			name: "or avoided when that is only preferred", node: newNode(),
			pods: []*corev1.Pod{status(`{"cpuset":"8-9"}`), status(`{"numaNodeResources":[{"node":0,"resources":{"memory":"1Gi"}},{"node":2,"resources":{"cpu":"1"}}]}`)},
			pod:  newPod(ls, map[string]string{extension.AnnotationNUMATopologySpec: `{"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Preferred"}`}, "cpu", "1"),
			want: `{"numaNodeResources":[{"node":1,"resources":{"cpu":"1"}}]}`,
		},
		{
			name: "unbound pods of a zone leave fewer CPUs to own", node: newNode(labelNUMA, "SingleNUMANode"),
			pods: []*corev1.Pod{status(`{"numaNodeResources":[{"node":0,"resources":{"cpu":"5"}}]}`), status(`{"numaNodeResources":[{"node":1,"resources":{"cpu":"4500m"}}]}`)},
			pod:  newPod(lsr, nil, "cpu", "4"), wantCode: finding.NUMAUnaligned, wantText: "Unaligned NUMA Hint cause cpu prefer [] among [11]",
		},
		{
			name: "bound CPUs count amplified", node: newNode(ratioKey, `{"cpu":1.5}`), pods: []*corev1.Pod{status(`{"cpuset":"0-3"}`)}, request: 8000, pod: newPod(lsr, nil, "cpu", "10"),
			wantCode: finding.AmplifiedCPUInsufficient, wantText: "Insufficient amplified cpu", wantMessage: "takes 15000m CPU at ratio 1.50, 14000m of 24000m are left",
		},
		{name: "unbound ones do not", node: newNode(ratioKey, `{"cpu":1.5}`), pods: []*corev1.Pod{status(`{"cpuset":"0-3"}`)}, request: 8000, pod: newPod(ls, nil, "cpu", "14"), want: `{}`},
		{
			name: "an amplified zone holds no more bound CPUs than it has", node: newNode(ratioKey, `{"cpu":1.5}`, labelNUMA, "SingleNUMANode"), pod: newPod(lsr, nil, "cpu", "8"),
			want: `{"cpuset":"0-7","numaNodeResources":[{"node":0,"resources":{"cpu":"8"}}]}`,
		},
		{name: "ratios that cannot be read", node: newNode(ratioKey, `{"cpu":"much"}`), pod: newPod(ls, nil, "cpu", "1"), wantCode: finding.AmplificationInvalid, wantText: "node(s) invalid CPU amplification ratio"},
		{name: "most allocated zones first", node: newNode(), args: Args{NUMAScoringStrategy: &ScoringStrategy{Type: "MostAllocated"}}, pods: []*corev1.Pod{status(`{"cpuset":"8-9"}`)}, pod: newPod(lsr, nil, "cpu", "2"), want: `{"cpuset":"10-11"}`},
		{name: "least allocated zones first", node: newNode(), pods: []*corev1.Pod{status(`{"cpuset":"0-1"}`)}, pod: newPod(lsr, nil, "cpu", "2"), want: `{"cpuset":"8-9"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			SetDefaults(&test.args)
			reported := newTopology(2, 4)
			if test.bare {
				reported = nil
			}
			request, verdict := RequestOf(test.pod, &test.args)
			if !verdict.Passed() {
				t.Fatal(verdict.Reason())
			}
			trace := &Trace{}
			in := Input{
				Args: &test.args, Ledger: ledgerOf(t, Observe(test.node, reported), test.pods...), Request: request,
				AllocatableMilliCPU: 24000, RequestedMilliCPU: test.request,
			}
			hint, verdict := Filter(in, trace)
			if verdict.Code != test.wantCode || verdict.Reason() != test.wantText {
				t.Fatalf("verdict %s %q, want %s %q", verdict.Code, verdict.Reason(), test.wantCode, test.wantText)
			}
			message := trace.Message(verdict)
			if !strings.Contains(message, test.wantMessage) || message == "" {
				t.Errorf("message %q, want %q in it", message, test.wantMessage)
			}
			trace.Operands(verdict)
			if !verdict.Passed() {
				return
			}
			allocation, verdict := Allocate(in, hint, trace)
			got, err := json.Marshal(allocation.Status())
			if err != nil || string(got) != test.want {
				t.Errorf("allocated %s (%s), want %s", got, verdict.Reason(), test.want)
			}
		})
	}
}

func TestRequestOf(t *testing.T) {
	tests := []struct {
		name           string
		pod            *corev1.Pod
		wantBind       bool
		wantUnreadable string
		wantCode       finding.Code
	}{
		{name: "a LSE pod of the prod band is bound", pod: newPod(extension.QoSLSE, nil, "cpu", "2"), wantBind: true},
		{name: "a fraction of a CPU cannot be", pod: newPod(lsr, nil, "cpu", "2500m"), wantCode: finding.CPUsNotInteger},
		{name: "no cpu, nothing to bind", pod: newPod(lsr, nil, "memory", "1Gi")},
		{name: "a batch pod is not bound", pod: func() *corev1.Pod { p := newPod(lsr, nil, "cpu", "2"); p.Spec.Priority = new(int32(5500)); return p }()},
		{name: "a spec of a LS pod means nothing", pod: newPod(ls, spec(`nonsense`), "cpu", "2")},
		{name: "a broken spec", pod: newPod(lsr, spec(`nonsense`), "cpu", "2"), wantCode: finding.CPUSpecInvalid, wantUnreadable: extension.AnnotationResourceSpec},
		{name: "an unknown bind policy", pod: newPod(lsr, spec(`{"requiredCPUBindPolicy":"full"}`), "cpu", "2"), wantCode: finding.CPUSpecInvalid, wantUnreadable: `unknown CPU bind policy "full"`},
		{name: "an unknown exclusive policy", pod: newPod(lsr, spec(`{"preferredCPUExclusivePolicy":"all"}`), "cpu", "2"), wantCode: finding.CPUSpecInvalid, wantUnreadable: `unknown CPU exclusive policy "all"`},
		{name: "an unknown topology policy", pod: newPod(ls, aligned("all"), "cpu", "2"), wantCode: finding.CPUSpecInvalid, wantUnreadable: `unknown NUMA topology policy "all"`},
		{
			name: "an unknown exclusiveness", pod: newPod(ls, map[string]string{extension.AnnotationNUMATopologySpec: `{"singleNUMANodeExclusive":"yes"}`}, "cpu", "2"),
			wantCode: finding.CPUSpecInvalid, wantUnreadable: `unknown singleNUMANodeExclusive "yes"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, verdict := RequestOf(test.pod, DefaultArgs())
			if verdict.Code != test.wantCode || !strings.Contains(verdict.Reason(), test.wantUnreadable) {
				t.Fatalf("verdict %s %q", verdict.Code, verdict.Reason())
			}
			if got := CodeOf(verdict.Reason()); got != verdict.Code {
				t.Errorf("code %q of %q, want %q", got, verdict.Reason(), verdict.Code)
			}
			if verdict.Passed() && request.Bind != test.wantBind {
				t.Errorf("bind %v, want %v", request.Bind, test.wantBind)
			}
			if verdict.Passed() && request.Aligned() && !MayBind(test.pod) {
				t.Error("MayBind rules the pod out")
			}
		})
	}
}

func TestCodesOfTexts(t *testing.T) {
	for _, verdict := range []Verdict{
		{Code: finding.CPUBindPolicyUnsatisfied, Policy: extension.CPUBindPolicyFullPCPUs}, {Code: finding.NUMAResourceInsufficient, Resource: "cpu"},
		{Code: finding.NUMAResourceUnsatisfied, Resource: "example.com/foo"}, {Code: finding.NUMAUnaligned, Detail: ReasonUnaligned},
		{Code: finding.NUMAUnaligned, Detail: unaligned(map[string][]Hint{"cpu": {{Mask: 1, Preferred: true}}})},
	} {
		if got := CodeOf(verdict.Reason()); got != verdict.Code {
			t.Errorf("code %q of %q, want %q", got, verdict.Reason(), verdict.Code)
		}
	}
	for code, text := range reasons {
		if got := CodeOf(text); got != code || text == "" {
			t.Errorf("code %q of %q, want %q", got, text, code)
		}
	}
	for _, foreign := range []string{"", "Insufficient cpu", "Insufficient NUMA Scoped Devices", ReasonMissingZones + "x"} {
		if got := CodeOf(foreign); got != "" {
			t.Errorf("code %q of %q, want none", got, foreign)
		}
	}
}
