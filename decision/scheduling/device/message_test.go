package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/numa"
)

func TestMessages(t *testing.T) {
	linked := eight().table(`{"2":[{"minors":[0,1],"allocationScore":1},{"minors":[2,3],"allocationScore":9,"ringBusBandwidth":"100Gi"},{"minors":[4,5],"allocationScore":9}]}`)
	busy := []Held{share(t, 0, 70), share(t, 1, 70), share(t, 2, 80), whole(t, gpuType, 3, 4, 5)}
	tests := map[string]struct {
		machine *machine
		held    []Held
		pod     *corev1.Pod
		zones   numa.Mask
		want    string
	}{
		"a share": {
			machine: eight().broken(gpuType, 6, 7), held: busy, pod: podOf("koordinator.sh/gpu", "50"),
			want: "6 of 8 GPUs have < 50% core free; 2 of 8 GPUs are not healthy; largest free share 30%",
		},
		"whole GPUs": {
			machine: eight().broken(gpuType, 7), held: busy, pod: podOf("nvidia.com/gpu", "2"),
			want: "6 of 8 GPUs have < 100% core free; 1 of 8 GPUs is not healthy; needs 2, 1 can serve",
		},
		"memory": {
			machine: eight(), held: []Held{whole(t, gpuType, 1, 2, 3, 4, 5, 6, 7), share(t, 0, 60)}, pod: podOf("koordinator.sh/gpu-memory", "32Gi"),
			want: "8 of 8 GPUs have < 32Gi memory free; largest free share 25.6Gi",
		},
		"too much memory":  {machine: eight(), pod: podOf("koordinator.sh/gpu-memory", "65Gi"), want: "8 of 8 GPUs have < 65Gi memory in all"},
		"no GPUs":          {machine: newMachine(), pod: podOf("nvidia.com/gpu", "1"), want: "the node has no GPUs"},
		"a selector":       {machine: withModel(eight(), 0, "A10"), held: []Held{whole(t, gpuType, 0)}, pod: hinted(podOf("nvidia.com/gpu", "1"), `{"gpu":{"selector":{"matchLabels":{"model":"A10"}}}}`), want: "7 of 8 GPUs are not selected; 1 of 8 GPUs has < 100% core free"},
		"one NUMA node":    {machine: eight(), pod: podOf("nvidia.com/gpu", "5"), zones: numa.MaskOf(0), want: "the pod may use NUMA nodes 0 only: 4 of 8 GPUs are in other NUMA nodes; needs 5, 4 can serve"},
		"an RDMA device":   {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1, 2, 3)}, pod: podOf("koordinator.sh/rdma", "100"), want: "4 of 4 RDMA devices have < 100% capacity free"},
		"functions":        {machine: withoutFunctions(), pod: hinted(podOf("koordinator.sh/rdma", "10"), `{"rdma":{"vfSelector":{}}}`), want: "4 of 4 RDMA devices have no virtual function that is selected"},
		"partitions":       {machine: linked, held: []Held{whole(t, gpuType, 4)}, pod: annotated(podOf("nvidia.com/gpu", "2"), extension.AnnotationGPUPartitionSpec, `{"allocatePolicy":"Restricted","ringBusBandwidth":"200Gi"}`), want: "none of 3 partitions of 2 GPUs is free: 0 with a GPU in use or not healthy, 2 with a ring that is too slow, 1 of a lower score"},
		"a partition size": {machine: linked, pod: annotated(podOf("nvidia.com/gpu", "3"), extension.AnnotationGPUPartitionSpec, `{}`), want: "the node has no partition of 3 GPUs, only of 2"},
		"a scope":          {machine: eight(), held: []Held{whole(t, gpuType, 0, 2, 4, 6)}, pod: hinted(podOf("nvidia.com/gpu", "2"), `{"gpu":{"requiredTopologyScope":"PCIe"}}`), want: "needs 2 GPUs on one PCIe switch; 4 can serve, at most 1 of them on one PCIe switch"},
		"jointly": {
			machine: eight(), held: []Held{whole(t, rdmaType, 0, 1), whole(t, gpuType, 4, 5, 6, 7)}, pod: joined(podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100"), samePCIe),
			want: "needs 1 GPU and 1 RDMA device on the same PCIe switches: pcie-0 has 2 GPUs and 0 RDMA devices, pcie-1 has 2 GPUs and 0 RDMA devices, pcie-2 has 0 GPUs and 1 RDMA device, pcie-3 has 0 GPUs and 1 RDMA device",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{}
			refusal := Fits(Input{Ledger: test.machine.ledger(test.held...), Request: mustParse(t, test.pod), Policy: defaults, Zones: test.zones}, trace)
			if refusal == nil {
				t.Fatal("it fits")
			}
			if diff := cmp.Diff(test.want, trace.Message(refusal)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if refusal.Phrase() == "" || finding.ClassOf(refusal.Code) == "" {
				t.Errorf("no phrase or class for %s", refusal.Code)
			}
			if distance := trace.Distance(refusal); distance < 0 || distance > 1 {
				t.Errorf("distance %v", distance)
			}
		})
	}
}

func TestOperands(t *testing.T) {
	trace := &Trace{}
	in := Input{Ledger: eight().broken(gpuType, 2, 3, 4, 5, 6, 7).ledger(share(t, 0, 70), share(t, 0, 10), whole(t, gpuType, 1)), Request: mustParse(t, podOf("koordinator.sh/gpu", "50")), Policy: defaults}
	if Fits(in, trace) == nil {
		t.Fatal("it fits")
	}
	terms := trace.Operands()
	if len(terms) != 2 || len(terms[1].Parts) != 8 {
		t.Fatalf("operands %+v", terms)
	}
	want := diagnosticsv1alpha1.Term{
		Name: "gpu0", Operator: diagnosticsv1alpha1.Info, Value: 20, Unit: diagnosticsv1alpha1.Percent,
		Note: "core free; has < 50% core free; held by default/share-0-70, default/share-0-10",
	}
	if diff := cmp.Diff(want, terms[1].Parts[0]); diff != "" {
		t.Errorf("first device (-want +got):\n%s", diff)
	}
	if terms[0].Value != 1 || terms[0].Note != "each 50% core and 50% memory" {
		t.Errorf("needed %+v", terms[0])
	}
}

// TestEveryRefusalHasAPhrase walks all refusals that can be made.
func TestEveryRefusalHasAPhrase(t *testing.T) {
	all := []Refusal{refusals.noTable, refusals.noSize, refusals.partition, refusals.noTree, refusals.joint, refusals.numaZones, refusals.noIsolation, refusals.noTemplate, *unsharable(&labelFacts{}), *invalid(invalidRequest("?"))}
	for k := range kinds {
		all = append(all, refusals.missing[k], refusals.insufficient[k], refusals.missingFunctions[k], refusals.functions[k], refusals.scope[k])
	}
	for i := range all {
		if refusalPhrases[all[i].Code] == nil {
			t.Errorf("%s has no phrase", all[i].Code)
		}
	}
}

func TestCodesOfTexts(t *testing.T) {
	for refusal := range refusals.all {
		if got := CodeOf(refusal.Reason); got != refusal.Code || got == "" {
			t.Errorf("code %q of %q, want %q", got, refusal.Reason, refusal.Code)
		}
	}
	other := unsharable(&labelFacts{model: "A10", vendor: "nvidia"})
	if got := CodeOf(other.Reason); got != other.Code {
		t.Errorf("code %q of %q, want %q", got, other.Reason, other.Code)
	}
	for _, foreign := range []string{"", "Insufficient cpu", "Insufficient NUMA cpu"} {
		if got := CodeOf(foreign); got != "" {
			t.Errorf("code %q of %q, want none", got, foreign)
		}
	}
}
