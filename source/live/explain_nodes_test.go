package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// batches answers questions about many nodes, without those that it does not know.
type batches struct {
	gone string

	mu sync.Mutex
	// sizes of the questions.
	sizes []int
}

func (b *batches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/nodeexplanationbatches") {
		livetest.Fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "each node is asked about on its own")
		return
	}
	question := &diagnosticsv1alpha1.NodeExplanationBatch{}
	_ = json.NewDecoder(r.Body).Decode(question)
	b.mu.Lock()
	b.sizes = append(b.sizes, len(question.Spec.NodeNames))
	b.mu.Unlock()
	for _, name := range question.Spec.NodeNames {
		if name != b.gone {
			question.Status.Nodes = append(question.Status.Nodes, diagnosticsv1alpha1.NodeExplanationStatus{
				Summary: "in a batch", Node: diagnosticsv1alpha1.NodeFacts{Name: name},
			})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(question)
}

func nodeNames(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("node-%04d", i)
	}
	return names
}

// answered are the nodes of answers, each with the finding or the summary that says who answered.
func answered(t *testing.T, answers []diagnosticsv1alpha1.NodeExplanation) []string {
	t.Helper()
	got := make([]string, 0, len(answers))
	for _, answer := range answers {
		by := answer.Status.Summary
		if len(answer.Status.Findings) > 0 {
			by = answer.Status.Findings[0].Code
		}
		if answer.Kind != "NodeExplanation" || answer.Name != answer.Spec.NodeName || answer.Spec.Agent == nil {
			t.Errorf("answer %+v is not that to a question about one node", answer)
		}
		got = append(got, answer.Spec.NodeName+" "+by)
	}
	return got
}

var evictionsOf = diagnosticsv1alpha1.NodeExplanationSpec{Agent: &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionEvictions}}}

func TestManyNodesAreAskedAboutInBatches(t *testing.T) {
	api := &batches{gone: "node-0201"}
	server := &livetest.Server{Diagnostics: api}
	server.Start(t)
	names := nodeNames(2*batchNodes + 1)
	answers, err := New(server.Config(""), Options{}).ExplainNodes(t.Context(), names, evictionsOf)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range names {
		if name != api.gone {
			want = append(want, name+" in a batch")
		}
	}
	if diff := cmp.Diff(want, answered(t, answers)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	total := 0
	for _, size := range api.sizes {
		if total += size; size > batchNodes {
			t.Errorf("%d nodes in one question", size)
		}
	}
	if len(api.sizes) != 3 || total != len(names) {
		t.Errorf("questions about %v nodes, want 3 about %d", api.sizes, len(names))
	}
}

func TestWhereBatchesAreNotAnsweredEachNodeIsAskedAbout(t *testing.T) {
	cluster := func() *livetest.Server {
		server := &livetest.Server{}
		for _, name := range nodeNames(3) {
			server.Nodes = append(server.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return server
	}
	// The last of the nodes that are asked about does not exist.
	want := func(code string) []string {
		return []string{"node-0000 " + code, "node-0001 " + code, "node-0002 " + code}
	}
	tests := map[string]struct {
		edit func(*livetest.Server)
		want []string
	}{
		"no diagnostics API":            {func(*livetest.Server) {}, want("KOORD0004")},
		"one that does not know of any": {func(s *livetest.Server) { s.Diagnostics = status(http.StatusNotFound, metav1.StatusReasonNotFound) }, want("KOORD0004")},
		"not permitted": {func(s *livetest.Server) {
			s.Diagnostics, s.Denied = &batches{}, []string{"create nodeexplanationbatches", "create nodeexplanations"}
		}, want("KOORD0002")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			tc.edit(server)
			server.Start(t)
			answers, err := New(server.Config(""), Options{}).ExplainNodes(t.Context(), nodeNames(4), evictionsOf)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, answered(t, answers)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoNodesHaveNoAnswers(t *testing.T) {
	server := &livetest.Server{}
	server.Start(t)
	answers, err := New(server.Config(""), Options{}).ExplainNodes(t.Context(), nil, evictionsOf)
	if err != nil || answers == nil || len(answers) != 0 {
		t.Errorf("%v, %v; want an empty list", answers, err)
	}
}
