package diagnostics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/grants"
)

// Bounds of a question to the scheduler.
const (
	schedulerTimeout     = 30 * time.Second
	schedulerDialTimeout = 3 * time.Second
	maxAnswerBytes       = 64 << 20
	explainPath          = "/explain/pod"
)

// SchedulerClient asks koord-scheduler. It goes through every address that the endpoint's name resolves to until the leader
// answers, because only the leader knows what has been assumed and reserved; the address of the last leader is asked first.
// When no leader answers, a standby's answer, which says that it is one, is better than none. Safe for concurrent use.
type SchedulerClient struct {
	config   *rest.Config
	endpoint *url.URL
	// bundle returns the certificates that verify the scheduler, in PEM.
	bundle func() []byte
	lookup func(ctx context.Context, host string) ([]string, error)

	mutex   sync.Mutex
	trusted []byte
	clients map[string]*http.Client
	last    string
}

// NewSchedulerClient returns a client for the endpoint, an https URL of host and port. It authenticates with the
// credentials of config, and trusts the certificates that bundle returns at the time of a question.
func NewSchedulerClient(config *rest.Config, endpoint string, bundle func() []byte) (*SchedulerClient, error) {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("parse scheduler endpoint %q: %w", endpoint, err)
	}
	if parsed.Scheme != "https" || parsed.Hostname() == "" {
		return nil, fmt.Errorf("scheduler endpoint %q must have the form https://HOST:PORT", endpoint)
	}
	if parsed.Port() == "" {
		parsed.Host = net.JoinHostPort(parsed.Hostname(), "443")
	}
	return &SchedulerClient{
		config:   config,
		endpoint: parsed.JoinPath(explainPath),
		bundle:   bundle,
		lookup:   net.DefaultResolver.LookupHost,
		clients:  map[string]*http.Client{},
	}, nil
}

// ExplainPod forwards the question, on behalf of the user of the request: the scheduler looks for changes that this one may make. A scheduler that cannot be reached, does not lead or refuses the manager yields 503
// with the code SchedulerUnavailable; what it says about the question itself, such as 404, is passed on.
func (c *SchedulerClient) ExplainPod(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	ctx, cancel := context.WithTimeout(ctx, schedulerTimeout)
	defer cancel()
	question = question.DeepCopy()
	question.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("PodExplanation"))
	body, err := json.Marshal(question)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("encode the request: %w", err))
	}
	addresses, err := c.addresses(ctx)
	if err != nil {
		return nil, schedulerUnavailable(err)
	}
	return c.askAll(ctx, addresses, body)
}

// askAll returns the leader's answer or, failing that, a standby's.
func (c *SchedulerClient) askAll(ctx context.Context, addresses []string, body []byte) (*diagnosticsv1alpha1.PodExplanation, error) {
	var fallback *diagnosticsv1alpha1.PodExplanation
	var refusals []error
	for i, address := range addresses {
		answer, err := c.askInTime(ctx, len(addresses)-i, address, body)
		var refusal *refusal
		switch {
		case errors.As(err, &refusal):
			refusals = append(refusals, refusal)
		case err != nil:
			return nil, err
		case answer.Status.Origin.Leader:
			c.remember(address)
			return answer, nil
		default:
			fallback = answer
		}
		if ctx.Err() != nil {
			break
		}
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, schedulerUnavailable(errors.Join(refusals...))
}

// refusal is the failure of one address, after which another may still answer.
type refusal struct {
	address string
	err     error
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %v", r.address, r.err) }

func (r *refusal) Unwrap() error { return r.err }

// askInTime asks one address, for an equal share of the time that it and the addresses after it have: one that hangs
// leaves time for the others.
func (c *SchedulerClient) askInTime(ctx context.Context, sharers int, address string, body []byte) (*diagnosticsv1alpha1.PodExplanation, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(sharers))
		defer cancel()
	}
	return c.ask(ctx, address, body)
}

func (c *SchedulerClient) ask(ctx context.Context, address string, body []byte) (*diagnosticsv1alpha1.PodExplanation, error) {
	client, err := c.client(address)
	if err != nil {
		return nil, &refusal{address, err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &refusal{address, err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if caller, known := apirequest.UserFrom(ctx); known {
		if err := grants.SetCaller(request.Header, caller); err != nil {
			return nil, &refusal{address, err}
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, &refusal{address, err}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, &refusal{address, fmt.Errorf("read the response: %w", err)}
	}
	if len(data) > maxAnswerBytes {
		return nil, &refusal{address, fmt.Errorf("the response is larger than %d bytes", maxAnswerBytes)}
	}
	return readAnswer(address, response.StatusCode, data)
}

// readAnswer separates an answer, and an error about the question, which is final, from an error of the instance.
func readAnswer(address string, code int, data []byte) (*diagnosticsv1alpha1.PodExplanation, error) {
	if code >= 200 && code < 300 {
		var answer diagnosticsv1alpha1.PodExplanation
		if err := json.Unmarshal(data, &answer); err != nil {
			return nil, &refusal{address, fmt.Errorf("decode the response: %w", err)}
		}
		return &answer, nil
	}
	var status metav1.Status
	if err := json.Unmarshal(data, &status); err != nil || status.Kind != "Status" {
		return nil, &refusal{address, fmt.Errorf("status %d: %.200q", code, data)}
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable, http.StatusInternalServerError:
		return nil, &refusal{address, fmt.Errorf("status %d: %s", code, status.Message)}
	default:
		return nil, &apierrors.StatusError{ErrStatus: status}
	}
}

// addresses resolves the endpoint to HOST:PORT pairs, the one that answered last in front.
func (c *SchedulerClient) addresses(ctx context.Context) ([]string, error) {
	hosts := []string{c.endpoint.Hostname()}
	if net.ParseIP(hosts[0]) == nil {
		found, err := c.lookup(ctx, hosts[0])
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no address", hosts[0])
		}
		hosts = found
	}
	addresses := make([]string, len(hosts))
	for i, host := range hosts {
		addresses[i] = net.JoinHostPort(host, c.endpoint.Port())
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if i := slices.Index(addresses, c.last); i > 0 {
		addresses[0], addresses[i] = addresses[i], addresses[0]
	}
	for address, client := range c.clients {
		if !slices.Contains(addresses, address) {
			client.CloseIdleConnections()
			delete(c.clients, address)
		}
	}
	return addresses, nil
}

func (c *SchedulerClient) remember(address string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.last = address
}

// client returns the client of one address. All are replaced when the trusted certificates change.
func (c *SchedulerClient) client(address string) (*http.Client, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	bundle := c.bundle()
	if len(bundle) == 0 {
		return nil, errors.New("the CA certificates for koord-scheduler are not available yet")
	}
	if !bytes.Equal(bundle, c.trusted) {
		for _, client := range c.clients {
			client.CloseIdleConnections()
		}
		clear(c.clients)
		c.trusted = bundle
	}
	if client, ok := c.clients[address]; ok {
		return client, nil
	}
	client, err := newClient(c.config, bundle, address)
	if err == nil {
		c.clients[address] = client
	}
	return client, err
}

// newClient returns a client that connects to the address whatever host a URL names; certificates are verified against
// that host.
func newClient(config *rest.Config, bundle []byte, address string) (*http.Client, error) {
	config = rest.CopyConfig(config)
	config.TLSClientConfig.CAData = bundle
	config.TLSClientConfig.CAFile = ""
	config.TLSClientConfig.Insecure = false
	config.TLSClientConfig.ServerName = ""
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare TLS: %w", err)
	}
	dialer := &net.Dialer{Timeout: schedulerDialTimeout}
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: schedulerDialTimeout,
		IdleConnTimeout:     30 * time.Second,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("prepare credentials: %w", err)
	}
	return &http.Client{Transport: transport}, nil
}
