package diagnostics

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/extension"
)

// agentTokenLife is how long a token for agents is valid: the shortest that the API server makes.
const agentTokenLife = 10 * time.Minute

// agentTokens are tokens that agents alone accept. A node that is broken into learns what its agent is sent, and with the manager's
// own token could do all that the manager may. Safe for concurrent use.
type agentTokens struct {
	client kubernetes.Interface
	clock  clock.PassiveClock

	mu      sync.Mutex
	token   string
	renewAt time.Time
}

// newAgentTokens returns nil for a config that sends no token, such as one with a client certificate, whose key stays here.
func newAgentTokens(config *rest.Config, passive clock.PassiveClock) (*agentTokens, error) {
	if config.BearerToken == "" && config.BearerTokenFile == "" {
		return nil, nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create the client for tokens: %w", err)
	}
	return &agentTokens{client: client, clock: passive}, nil
}

// get returns a token that is valid for a while.
func (a *agentTokens) get(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" && a.clock.Now().Before(a.renewAt) {
		return a.token, nil
	}
	self, err := a.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get the identity of koord-manager: %w", err)
	}
	namespace, name, err := serviceaccount.SplitUsername(self.Status.UserInfo.Username)
	if err != nil {
		return "", fmt.Errorf("koord-manager runs as %q, not as a ServiceAccount; it cannot request tokens for koordlet", self.Status.UserInfo.Username)
	}
	asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{extension.AgentAudience}, ExpirationSeconds: new(int64(agentTokenLife / time.Second)),
	}}
	made, err := a.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, asked, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for koordlet: %w", err)
	}
	a.token, a.renewAt = made.Status.Token, a.clock.Now().Add(agentTokenLife/2)
	return a.token, nil
}
