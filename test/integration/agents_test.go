package integration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// agentServing is where the agent of a node says that it answers.
func agentServing(t *testing.T, node string) *extension.AgentServing {
	t.Helper()
	topologies := dynamicClient.Resource(topologyv1alpha1.GroupVersion.WithResource("noderesourcetopologies"))
	deadline := time.Now().Add(patience)
	for {
		topology, err := topologies.Get(t.Context(), node, metav1.GetOptions{})
		if err == nil {
			if serving, err := extension.GetAgentServing(topology.GetAnnotations()); err == nil && serving != nil {
				return serving
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the agent of %s does not say where it answers: %v", node, err)
		}
	}
}

// askAgent posts a question to the port of a node's agent, as the manager does, with a token of one's own.
func askAgent(t *testing.T, serving *extension.AgentServing, path, token string) int {
	t.Helper()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // the certificate is compared with the announced one
		VerifyConnection: func(state tls.ConnectionState) error {
			if sum := sha256.Sum256(state.PeerCertificates[0].Raw); hex.EncodeToString(sum[:]) != serving.CertificateSHA256 {
				return errors.New("the certificate is not the announced one")
			}
			return nil
		},
	}}}
	body := []byte(`{"spec":{"nodeName":"sim-0001","agent":{"sections":["suppression"]}}}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d%s", serving.Port, path), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// tokenOf makes a ServiceAccount in its own namespace, and returns a token of it and its user name.
func tokenOf(t *testing.T, name string) (token, user string) {
	t.Helper()
	accounts := client.CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accounts.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	made, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Status.Token, "system:serviceaccount:default:" + name
}

func TestAgentsAnswerThroughTheManager(t *testing.T) {
	agentServing(t, "sim-0001")
	result := koordctl(t, 0, "explain", "node", "sim-0001", "features", "suppress", "cpus", "-o", "json")
	var answer diagnosticsv1alpha1.NodeExplanation
	if err := json.Unmarshal([]byte(result.Stdout), &answer); err != nil {
		t.Fatal(err)
	}
	agent := answer.Status.Agent
	if agent == nil || agent.Component != "simulated-koordlet" || agent.Suppression == nil || agent.CPUs == nil || len(agent.Features) == 0 {
		t.Fatalf("the agent did not respond:\n%s%s", result.Stdout, result.Stderr)
	}
	if agent.Suppression.Enabled == nil || *agent.Suppression.Enabled && (agent.Suppression.Budget == nil || len(agent.Suppression.Budget.Terms) == 0) {
		t.Errorf("a budget without its terms: %+v", agent.Suppression)
	}
	result = koordctl(t, 0, "forecast", "evictions", "node/sim-0001")
	if !strings.Contains(result.Stdout, "simulated-koordlet") || !strings.Contains(result.Stdout, "BEMemoryEvict") {
		t.Errorf("the forecast lacks the agent or a trigger:\n%s", result.Stdout)
	}
}

// TestTheAgentsOfAllNodesAreAskedByOneQuestion asks as somebody with the role that the chart ships.
func TestTheAgentsOfAllNodesAreAskedByOneQuestion(t *testing.T) {
	grantRoles(t)
	agentServing(t, "sim-0001")
	result := koordctl(t, 0, asUser(clusterViewer, "forecast", "evictions", "-o", "json", "-v=6")...)
	if questions := strings.Count(result.Stderr, "/nodeexplanationbatches"); questions != 1 || strings.Contains(result.Stderr, "/nodeexplanations") {
		t.Errorf("%d questions about many nodes, want one and none about a single node:\n%s", questions, result.Stderr)
	}
	var list diagnosticsv1alpha1.NodeExplanationList
	if err := json.Unmarshal([]byte(result.Stdout), &list); err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, item := range list.Items {
		if item.Status.Agent != nil && item.Status.Agent.Component == "simulated-koordlet" && item.Status.Agent.Evictions != nil {
			answered++
		}
	}
	if missing := len(list.Items) - answered; answered == 0 || missing > 3 { // some of the sandbox's agents are faulty on purpose
		t.Errorf("%d of %d agents answered", answered, len(list.Items))
	}
}

func TestAnAgentThatHasStoppedIsMadeUpFor(t *testing.T) {
	result := koordctl(t, 0, "explain", "node", "sim-0013", "suppress") // the sandbox's node that stopped reporting
	for _, want := range []string{"koordlet did not respond", "KOORD0009", "has stopped"} {
		if !strings.Contains(result.Stdout, want) {
			t.Errorf("the answer lacks %q:\n%s", want, result.Stdout)
		}
	}
}

func TestAgentsLetNobodyInWithoutRights(t *testing.T) {
	serving := agentServing(t, "sim-0001")
	if code := askAgent(t, serving, "/explain/node", ""); code != http.StatusUnauthorized {
		t.Errorf("nobody gets status %d, want 401", code)
	}
	if code := askAgent(t, serving, "/explain/node", "made up"); code != http.StatusUnauthorized {
		t.Errorf("a token that is made up gets status %d, want 401", code)
	}
	stranger, _ := tokenOf(t, "agent-stranger")
	if code := askAgent(t, serving, "/explain/node", stranger); code != http.StatusForbidden {
		t.Errorf("a stranger gets status %d, want 403", code)
	}
	asker, user := tokenOf(t, "agent-asker")
	rule := rbacv1.PolicyRule{NonResourceURLs: []string{"/explain/node"}, Verbs: []string{"post"}}
	grantURL(t, "agent-asker", user, rule)
	deadline := time.Now().Add(patience)
	for code := 0; code != http.StatusOK; code = askAgent(t, serving, "/explain/node", asker) {
		if time.Now().After(deadline) {
			t.Fatalf("who may ask gets status %d, want 200", code)
		}
	}
	if code := askAgent(t, serving, "/metrics", asker); code != http.StatusForbidden {
		t.Errorf("who may ask gets status %d of metrics, want 403", code)
	}
}

// grantURL lets a user use a path that is no resource.
func grantURL(t *testing.T, name, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	roles, bindings := client.RbacV1().ClusterRoles(), client.RbacV1().ClusterRoleBindings()
	meta := metav1.ObjectMeta{Name: "it-" + name}
	if _, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_ = bindings.Delete(ctx, meta.Name, metav1.DeleteOptions{})
		_ = roles.Delete(ctx, meta.Name, metav1.DeleteOptions{})
	})
}
