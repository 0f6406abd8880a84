package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
)

func TestTopologyPatchIsConditionalAndNamesOnlyWhatDiffers(t *testing.T) {
	in := topologyInput(t, machineNode(16))
	current, err := Topology(in)
	if err != nil {
		t.Fatal(err)
	}
	current.ResourceVersion = "7"
	in.Pods = []BoundPod{{QoS: extension.QoSLSR, CPUs: parsed(t, "0-7")}}
	wanted, err := Topology(in)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := topologyPatch(current, MergeTopology(current, wanted))
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"metadata": map[string]any{
		"resourceVersion": "7",
		"annotations":     map[string]any{extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"8-15"}]`},
	}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}
