package diagnostics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const batchesPath = "/apis/diagnostics.koordinator.sh/v1alpha1/nodeexplanationbatches"

func batchOf(t *testing.T, spec diagnosticsv1alpha1.NodeExplanationBatchSpec) string {
	t.Helper()
	data, err := json.Marshal(&diagnosticsv1alpha1.NodeExplanationBatch{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "NodeExplanationBatch"}, Spec: spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func numbered(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return names
}

func TestABatchIsAnsweredInTheOrderOfItsNodes(t *testing.T) {
	explainer := &recorder{gone: "node-7"}
	names := numbered(maxBatchNodes)
	code, data := send(t, newTestServer(t, explainer, everything), http.MethodPost, batchesPath, "application/json",
		batchOf(t, diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: names, Resources: []string{"batch-cpu"}}))
	if code != http.StatusCreated {
		t.Fatalf("status %d: %s", code, data)
	}
	var got []string
	for _, status := range decode[diagnosticsv1alpha1.NodeExplanationBatch](t, data).Status.Nodes {
		got = append(got, status.Node.Name)
		if status.Origin.Instance != "manager-1" || status.Origin.EvaluatedAt.IsZero() {
			t.Errorf("node %s: origin %+v, want that of the manager", status.Node.Name, status.Origin)
		}
	}
	if diff := cmp.Diff(slices.Delete(slices.Clone(names), 7, 8), got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if slices.Sort(explainer.nodes); len(slices.Compact(explainer.nodes)) != len(names) {
		t.Errorf("asked about %v", explainer.nodes)
	}
}

func TestABatchThatCannotBeAskedIsRefused(t *testing.T) {
	agent := func(sections ...diagnosticsv1alpha1.AgentSection) diagnosticsv1alpha1.NodeExplanationBatchSpec {
		return diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: numbered(2), Agent: &diagnosticsv1alpha1.AgentQuestion{Sections: sections}}
	}
	onePod := agent()
	onePod.Agent.PodNamespace, onePod.Agent.PodName = "shop", "web-1"
	tests := map[string]struct {
		spec     diagnosticsv1alpha1.NodeExplanationBatchSpec
		denied   string
		wantCode int
		wantText string
	}{
		"no node":                       {wantCode: 422, wantText: "spec.nodeNames: Required"},
		"too many nodes":                {spec: diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: numbered(maxBatchNodes + 1)}, wantCode: 422, wantText: "must have at most 200"},
		"a node twice":                  {spec: diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: []string{"n", "n"}}, wantCode: 422, wantText: "spec.nodeNames[1]: Duplicate"},
		"a path for a node":             {spec: diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: []string{"../n"}}, wantCode: 422, wantText: "spec.nodeNames[0]"},
		"an unknown resource":           {spec: diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: numbered(1), Resources: []string{"gold"}}, wantCode: 422, wantText: "spec.resources[0]"},
		"the audit logs":                {spec: agent("evictions", "audit"), wantCode: 422, wantText: "spec.agent.sections[1]: Forbidden"},
		"what is set for pods":          {spec: agent("pods"), wantCode: 422, wantText: "spec.agent.sections[0]: Forbidden"},
		"what is set for one pod":       {spec: onePod, wantCode: 422, wantText: "spec.agent.podName: Forbidden"},
		"what agents tell of all nodes": {spec: agent("evictions", "cpus"), wantCode: 201, wantText: "cannot send requests to koordlet"},
		"no right to ask":               {spec: agent(), denied: "create nodeexplanationbatches", wantCode: 403, wantText: "cannot create resource"},
		"no right to get any node":      {spec: agent(), denied: "get nodes", wantCode: 403, wantText: `\"alice\" cannot get resource \"nodes\"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			explainer := &recorder{}
			server := newTestServer(t, explainer, func(a authorizer.Attributes) bool { return a.GetVerb()+" "+a.GetResource() != tc.denied })
			code, data := send(t, server, http.MethodPost, batchesPath, "application/json", batchOf(t, tc.spec))
			if code != tc.wantCode || !strings.Contains(string(data), tc.wantText) {
				t.Errorf("status %d: %s; want %d, %q", code, data, tc.wantCode, tc.wantText)
			}
			if code != http.StatusCreated && len(explainer.nodes) > 0 {
				t.Error("the question was asked all the same")
			}
		})
	}
}

// TestTheRightToGetOneNodeIsNotThatToGetAny asks as a user with permission to get exactly the nodes that are named.
func TestTheRightToGetOneNodeIsNotThatToGetAny(t *testing.T) {
	server := newTestServer(t, &recorder{}, func(a authorizer.Attributes) bool {
		return a.GetResource() == "nodeexplanationbatches" || a.GetResource() == "nodes" && strings.HasPrefix(a.GetName(), "node-")
	})
	code, data := send(t, server, http.MethodPost, batchesPath, "application/json", batchOf(t, diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: numbered(2)}))
	if code != http.StatusForbidden {
		t.Errorf("status %d: %s; want %d", code, data, http.StatusForbidden)
	}
}

func TestABatchRendersAsATableOfItsNodes(t *testing.T) {
	_, data := send(t, newTestServer(t, &recorder{}, everything), http.MethodPost, batchesPath, "application/json;as=Table;v=v1;g=meta.k8s.io",
		batchOf(t, diagnosticsv1alpha1.NodeExplanationBatchSpec{NodeNames: numbered(2)}))
	table := decode[metav1.Table](t, data)
	if len(table.Rows) != 2 {
		t.Fatalf("not a table of two rows: %s", data)
	}
	if diff := cmp.Diff([]any{"node-1", "Fresh", "8 cores are reclaimed"}, table.Rows[1].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}
