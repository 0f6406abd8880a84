package diagnostics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// agentAt serves one handler over TLS, and returns what its agent announces.
func agentAt(t *testing.T, handler http.HandlerFunc) *extension.AgentServing {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(server.Certificate().Raw)
	return &extension.AgentServing{Port: int32(number), CertificateSHA256: hex.EncodeToString(sum[:])}
}

func announced(t *testing.T, serving *extension.AgentServing) *topologyv1alpha1.NodeResourceTopology {
	t.Helper()
	topology := &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if err := extension.SetAgentServing(topology, serving); err != nil {
		t.Fatal(err)
	}
	return topology
}

func TestTheManagerAsksTheAgentOfANode(t *testing.T) {
	var token string
	answering := func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		question := &diagnosticsv1alpha1.NodeExplanation{}
		_ = json.NewDecoder(r.Body).Decode(question)
		question.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Component: r.Method + " " + r.URL.Path + " " + question.Spec.NodeName}
		_ = json.NewEncoder(w).Encode(question)
	}
	refusing := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Code: 403, Message: "you may not", Reason: metav1.StatusReasonForbidden})
	}
	redirecting := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://example.org", http.StatusFound)
	}
	tests := map[string]struct {
		handler   http.HandlerFunc
		edit      func(*extension.AgentServing)
		node      corev1.Node
		host      string
		wantError string
		wantToken bool
	}{
		"at the address of its Node": {handler: answering, node: at("127.0.0.1"), wantToken: true},
		"at a host for all nodes":    {handler: answering, host: "127.0.0.1", wantToken: true},
		"with another certificate, which is not told who asks": {
			handler: answering, host: "127.0.0.1", edit: func(s *extension.AgentServing) { s.CertificateSHA256 = strings.Repeat("0", 64) }, wantError: "does not match the one published in its NodeResourceTopology",
		},
		"without an address":        {handler: answering, wantError: "no InternalIP address"},
		"with a name for address":   {handler: answering, node: at("example.org"), wantError: "no InternalIP address"},
		"that refuses the manager":  {handler: refusing, host: "127.0.0.1", wantError: "you may not", wantToken: false},
		"that leads elsewhere":      {handler: redirecting, host: "127.0.0.1", wantError: "status 302", wantToken: false},
		"that announces no port":    {handler: answering, host: "127.0.0.1", edit: func(s *extension.AgentServing) { s.Port = 0 }, wantError: "has no port"},
		"with half a hash":          {handler: answering, host: "127.0.0.1", edit: func(s *extension.AgentServing) { s.CertificateSHA256 = "00" }, wantError: "has no port or no certificate"},
		"that says nothing":         {handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, host: "127.0.0.1", wantError: "the response is empty"},
		"that says what is no JSON": {handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, host: "127.0.0.1", wantError: "decode the response"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			token = ""
			serving := agentAt(t, tc.handler)
			if tc.edit != nil {
				tc.edit(serving)
			}
			tc.node.Name = "node-1"
			client, err := NewAgentClient(&rest.Config{Host: tokenServer(t), BearerToken: "of the manager", ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, nil, tc.host)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Ask(t.Context(), &tc.node, announced(t, serving), &diagnosticsv1alpha1.AgentQuestion{})
			switch {
			case tc.wantError != "":
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Errorf("error %v, want %q", err, tc.wantError)
				}
			case err != nil:
				t.Error(err)
			case answer.Component != "POST /explain/node node-1":
				t.Errorf("asked %q", answer.Component)
			}
			if (token == "Bearer for agents") != tc.wantToken || token == "Bearer of the manager" {
				t.Errorf("the agent was told %q", token)
			}
		})
	}
}

// tokenServer is an API server that makes tokens for agents, of the ServiceAccount that asks.
func tokenServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","status":{"userInfo":{"username":"system:serviceaccount:koordinator-system:koord-manager"}}}`))
	})
	mux.HandleFunc("POST /api/v1/namespaces/koordinator-system/serviceaccounts/koord-manager/token", func(w http.ResponseWriter, r *http.Request) {
		asked := &authenticationv1.TokenRequest{}
		_ = json.NewDecoder(r.Body).Decode(asked)
		if len(asked.Spec.Audiences) == 1 && asked.Spec.Audiences[0] == extension.AgentAudience {
			asked.Status.Token = "for agents"
		}
		asked.TypeMeta = metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(asked)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func at(address string) corev1.Node {
	return corev1.Node{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "127.0.0.2"}, {Type: corev1.NodeInternalIP, Address: address},
	}}}
}

func TestWithoutAnAnnouncementThereIsNoAgent(t *testing.T) {
	client, err := NewAgentClient(&rest.Config{}, nil, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for name, topology := range map[string]*topologyv1alpha1.NodeResourceTopology{
		"no topology":     nil,
		"nothing in it":   {},
		"no JSON in it":   {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationAgentServing: "{"}}},
		"a port too high": announced(t, &extension.AgentServing{Port: 70000, CertificateSHA256: strings.Repeat("0", 64)}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := client.Ask(t.Context(), &corev1.Node{}, topology, &diagnosticsv1alpha1.AgentQuestion{}); err == nil {
				t.Error("somebody answered")
			}
		})
	}
}

func TestQuestionsToAgentsAreChecked(t *testing.T) {
	question := func(agent diagnosticsv1alpha1.AgentQuestion) *diagnosticsv1alpha1.NodeExplanation {
		return &diagnosticsv1alpha1.NodeExplanation{Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-1", Agent: &agent}}
	}
	tests := map[string]struct {
		question  diagnosticsv1alpha1.AgentQuestion
		wantError string
	}{
		"everything":              {diagnosticsv1alpha1.AgentQuestion{}, ""},
		"one section":             {diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{"audit"}}, ""},
		"containers":              {diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{"containers"}}, ""},
		"no such section":         {diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{"gpu"}}, "sections[0]"},
		"a pod of no namespace":   {diagnosticsv1alpha1.AgentQuestion{PodName: "web"}, "podNamespace"},
		"a namespace without pod": {diagnosticsv1alpha1.AgentQuestion{PodNamespace: "shop"}, "podName"},
		"too many candidates":     {diagnosticsv1alpha1.AgentQuestion{MaxCandidates: new(int32(1001))}, "maxCandidates"},
		"too many entries":        {diagnosticsv1alpha1.AgentQuestion{Audit: &diagnosticsv1alpha1.AuditQuestion{Size: new(int32(2049))}}, "audit.size"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := validateNodeQuestion(question(tc.question)).ToAggregate()
			if (err == nil) != (tc.wantError == "") || err != nil && !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("error %v, want %q", err, tc.wantError)
			}
		})
	}
}

// TestWhatIsSetForPodsTakesTheRightToGetThem asks as a user with permission to get the node, and of pods only web-1 in shop.
func TestWhatIsSetForPodsTakesTheRightToGetThem(t *testing.T) {
	allow := func(a authorizer.Attributes) bool {
		return a.GetResource() == "nodeexplanations" || a.GetResource() == "nodes" || a.GetResource() == "pods" && a.GetNamespace() == "shop" && a.GetName() == "web-1"
	}
	tests := map[string]struct {
		agent    string
		wantCode int
	}{
		"nothing of pods":       {`{"sections":["features"]}`, 201},
		"no section":            {`{}`, 201},
		"a pod that they get":   {`{"sections":["pods"],"podName":"web-1","podNamespace":"shop"}`, 201},
		"another pod":           {`{"sections":["pods"],"podName":"web-2","podNamespace":"shop"}`, 403},
		"all pods of the node":  {`{"sections":["pods"]}`, 403},
		"all pods and the rest": {`{"sections":["cpus","pods"]}`, 403},
		"what the agent did":    {`{"sections":["audit"]}`, 403},
	}
	server := newTestServer(t, &recorder{}, allow)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			question := `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"NodeExplanation","spec":{"nodeName":"node-1","agent":` + tc.agent + `}}`
			if code, body := send(t, server, http.MethodPost, nodesPath, "application/json", question); code != tc.wantCode {
				t.Errorf("status %d: %s; want %d", code, body, tc.wantCode)
			}
		})
	}
}
