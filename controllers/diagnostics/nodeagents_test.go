package diagnostics

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// counting is an API server's reader that counts what is asked of it.
type counting struct {
	client.Reader
	gets int
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.gets++
	return c.Reader.Get(ctx, key, object, options...)
}

func readerOf(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, slov1alpha1.AddToScheme, topologyv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	byNode := func(object client.Object) []string { return []string{object.(*corev1.Pod).Spec.NodeName} }
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&corev1.Pod{}, "node", byNode).Build()
}

// TestTheAPIServerIsAskedOfNodesWhoseAgentIsSilent: where agents answer is in the cache, the rest of a NodeResourceTopology is not.
func TestTheAPIServerIsAskedOfNodesWhoseAgentIsSilent(t *testing.T) {
	answering := func(w http.ResponseWriter, r *http.Request) {
		question := &diagnosticsv1alpha1.NodeExplanation{}
		_ = json.NewDecoder(r.Body).Decode(question)
		question.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Component: "koordlet"}
		_ = json.NewEncoder(w).Encode(question)
	}
	silent := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	tests := map[string]struct {
		handler       http.HandlerFunc
		wantComponent string
		wantGets      int
		wantFinding   string
	}{
		"an agent that answers":         {handler: answering, wantComponent: "koordlet"},
		"an agent that does not":        {handler: silent, wantComponent: Component, wantGets: 1, wantFinding: "status 503"},
		"no agent has announced itself": {wantComponent: Component, wantFinding: "no NodeResourceTopology"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
			objects := []client.Object{node}
			if tc.handler != nil {
				objects = append(objects, announced(t, agentAt(t, tc.handler)))
			}
			server := &counting{Reader: readerOf(t, objects...)}
			agents, err := NewAgentClient(&rest.Config{}, server, "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			asked := &NodeAgents{Client: agents, Reader: readerOf(t, objects...), PodIndex: "node", Clock: clocktesting.NewFakePassiveClock(noon)}
			var status diagnosticsv1alpha1.NodeExplanationStatus
			question := &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionEvictions}}
			if err := asked.Explain(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-1", Agent: question}, &status); err != nil {
				t.Fatal(err)
			}
			if status.Agent == nil || status.Agent.Component != tc.wantComponent || server.gets != tc.wantGets {
				t.Errorf("answered %+v after %d reads from the API server, want by %s after %d", status.Agent, server.gets, tc.wantComponent, tc.wantGets)
			}
			found := ""
			for _, f := range status.Findings {
				found += f.Message
			}
			if (found == "") != (tc.wantFinding == "") || !strings.Contains(found, tc.wantFinding) {
				t.Errorf("found %q, want %q", found, tc.wantFinding)
			}
		})
	}
}
