package diagnostics

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// Bounds of a question to an agent.
const (
	agentTimeout        = 5 * time.Second
	agentDialTimeout    = 2 * time.Second
	maxAgentAnswerBytes = 8 << 20
	agentPath           = "/explain/node"
	// agentsTogether are asked at the same time, each on its node, and sharedHostTogether where all are on one host: the simulated
	// agents of a sandbox, which answer 4 questions at a time and let 32 wait.
	agentsTogether, sharedHostTogether = 128, 16
)

// AgentClient queries the agents of nodes. An agent publishes in its NodeResourceTopology, which only it may write, the port on which
// it answers and its certificate; its address is the Node's. No authority has to sign certificates for nodes, and the agent needs no
// further permissions. Safe for concurrent use.
type AgentClient struct {
	config *rest.Config
	reader client.Reader
	host   string
	// slots for the agents that are asked at the same time.
	slots chan struct{}
	// tokens for agents; nil for a config that sends none.
	tokens *agentTokens
}

// NewAgentClient returns a client that authenticates with the client certificate of config or, in place of its token, with one that
// only agents accept. The reader reads NodeResourceTopologies. A
// host that is not empty is where the agents of all nodes are, in place of the addresses of their Nodes.
func NewAgentClient(config *rest.Config, reader client.Reader, host string) (*AgentClient, error) {
	tokens, err := newAgentTokens(config, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	together := agentsTogether
	if host != "" {
		together = sharedHostTogether
	}
	return &AgentClient{config: config, reader: reader, host: host, slots: make(chan struct{}, together), tokens: tokens}, nil
}

// Ask forwards the question to the agent of a node. The error says in one sentence why there is no answer.
func (c *AgentClient) Ask(ctx context.Context, node *corev1.Node, topology *topologyv1alpha1.NodeResourceTopology, question *diagnosticsv1alpha1.AgentQuestion) (*diagnosticsv1alpha1.AgentExplanation, error) {
	serving, err := servingOf(topology)
	if err != nil {
		return nil, err
	}
	host := c.host
	if host == "" {
		if host = addressOf(node); host == "" {
			return nil, errors.New("the node has no InternalIP address")
		}
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, agentTimeout)
	defer cancel()
	asked := &diagnosticsv1alpha1.NodeExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: nodeKind.Kind},
		Spec:     diagnosticsv1alpha1.NodeExplanationSpec{NodeName: node.Name, Agent: question},
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return c.post(ctx, net.JoinHostPort(host, strconv.Itoa(int(serving.Port))), serving.CertificateSHA256, body)
}

// Topology reads the NodeResourceTopology of a node; nil when there is none.
func (c *AgentClient) Topology(ctx context.Context, node string) (*topologyv1alpha1.NodeResourceTopology, error) {
	return topologyOf(ctx, c.reader, node)
}

// topologyOf reads the NodeResourceTopology of a node; nil when there is none, or no such kind.
func topologyOf(ctx context.Context, reader client.Reader, node string) (*topologyv1alpha1.NodeResourceTopology, error) {
	topology := &topologyv1alpha1.NodeResourceTopology{}
	switch err := reader.Get(ctx, types.NamespacedName{Name: node}, topology, uncopied); {
	case err == nil:
		return topology, nil
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return nil, nil
	default:
		return nil, err
	}
}

// servingOf reads where an agent says that it answers.
func servingOf(topology *topologyv1alpha1.NodeResourceTopology) (*extension.AgentServing, error) {
	if topology == nil {
		return nil, errors.New("the node has no NodeResourceTopology; check that koordlet is running on it")
	}
	serving, err := extension.GetAgentServing(topology.Annotations)
	switch {
	case err != nil:
		return nil, err
	case serving == nil:
		return nil, errors.New("koordlet does not publish its secure port: it is a build without this API, or --secure-port is 0")
	case serving.Port < 1 || serving.Port > 65535 || len(serving.CertificateSHA256) != hex.EncodedLen(sha256.Size):
		return nil, fmt.Errorf("annotation %q has no port or no certificate", extension.AnnotationAgentServing)
	}
	return serving, nil
}

// addressOf a node that is reached within the cluster.
func addressOf(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP && net.ParseIP(address.Address) != nil {
			return address.Address
		}
	}
	return ""
}

// post sends a question to an address; only the owner of the certificate can read it.
func (c *AgentClient) post(ctx context.Context, address, fingerprint string, body []byte) (*diagnosticsv1alpha1.AgentExplanation, error) {
	transport, err := c.transport(ctx, fingerprint)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+agentPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := (&http.Client{Transport: transport, CheckRedirect: noRedirects}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAgentAnswerBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the response: %w", err)
	case len(data) > maxAgentAnswerBytes:
		return nil, fmt.Errorf("the response is larger than %d bytes", maxAgentAnswerBytes)
	}
	return readAgentAnswer(response.StatusCode, data)
}

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func readAgentAnswer(code int, data []byte) (*diagnosticsv1alpha1.AgentExplanation, error) {
	if code != http.StatusOK {
		var status metav1.Status
		if err := json.Unmarshal(data, &status); err == nil && status.Kind == "Status" {
			return nil, &apierrors.StatusError{ErrStatus: status}
		}
		return nil, fmt.Errorf("status %d: %.200q", code, data)
	}
	var answer diagnosticsv1alpha1.NodeExplanation
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("decode the response: %w", err)
	}
	if answer.Status.Agent == nil {
		return nil, errors.New("the response is empty")
	}
	return answer.Status.Agent, nil
}

// transport for one question: questions are rare, and thousands of agents can be asked. It takes one certificate alone.
func (c *AgentClient) transport(ctx context.Context, fingerprint string) (http.RoundTripper, error) {
	config := rest.CopyConfig(c.config)
	if c.tokens != nil {
		token, err := c.tokens.get(ctx)
		if err != nil {
			return nil, err
		}
		config.BearerToken, config.BearerTokenFile = token, ""
	}
	config.TLSClientConfig.CAData, config.TLSClientConfig.CAFile, config.TLSClientConfig.ServerName = nil, "", ""
	config.TLSClientConfig.Insecure = true // the certificate is verified below, against the one that the agent announced
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare TLS: %w", err)
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	}
	tlsConfig.MinVersion = tls.VersionTLS13
	tlsConfig.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("koordlet presented no certificate")
		}
		leaf := state.PeerCertificates[0]
		if sum := sha256.Sum256(leaf.Raw); hex.EncodeToString(sum[:]) != fingerprint {
			return errors.New("koordlet's certificate does not match the one published in its NodeResourceTopology")
		}
		if now := time.Now(); now.After(leaf.NotAfter) {
			return fmt.Errorf("koordlet's certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
		}
		return nil
	}
	return rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig: tlsConfig, TLSHandshakeTimeout: agentDialTimeout, DisableKeepAlives: true,
		DialContext: (&net.Dialer{Timeout: agentDialTimeout}).DialContext,
	})
}
