package schedulerclient

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
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/grants"
)

// Paths of the scheduler's port.
const (
	explainPath = "/explain/pod"
	reviewPath  = "/review/placements"
	quotaPath   = "/explain/quota"
)

// Bounds of a question to the scheduler.
const (
	timeout        = 30 * time.Second
	dialTimeout    = 3 * time.Second
	maxAnswerBytes = 64 << 20
)

// Client asks koord-scheduler. It goes through every address that the endpoint's name resolves to until the leader
// answers, because only the leader knows what has been assumed and reserved; the address of the last leader is asked first.
// When no leader answers, a standby's answer, which says that it is one, is better than none. Safe for concurrent use.
type Client struct {
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

// New returns a client for the endpoint, an https URL of host and port. It authenticates with the
// credentials of config, and trusts the certificates that bundle returns at the time of a question.
func New(config *rest.Config, endpoint string, bundle func() []byte) (*Client, error) {
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
	return &Client{
		config:   config,
		endpoint: parsed,
		bundle:   bundle,
		lookup:   net.DefaultResolver.LookupHost,
		clients:  map[string]*http.Client{},
	}, nil
}

// ExplainPod forwards the question, on behalf of the user of the request: the scheduler looks for changes that this one may make. A
// scheduler that cannot be reached, does not lead or refuses the caller yields 503 with the code SchedulerUnavailable; what it says about
// the question itself, such as 404, is passed on.
func (c *Client) ExplainPod(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error) {
	question = question.DeepCopy()
	question.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("PodExplanation"))
	return ask(ctx, c, explainPath, question, func(answer *diagnosticsv1alpha1.PodExplanation) bool { return answer.Status.Origin.Leader })
}

// ReviewPlacements forwards the question; errors are as those of ExplainPod.
func (c *Client) ReviewPlacements(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
	question = question.DeepCopy()
	question.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("PlacementReview"))
	return ask(ctx, c, reviewPath, question, func(answer *diagnosticsv1alpha1.PlacementReview) bool { return answer.Status.Origin.Leader })
}

// ExplainQuota asks about an ElasticQuota; errors are as those of ExplainPod. Every replica watches all that the answer is made of.
func (c *Client) ExplainQuota(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaExplanation, error) {
	question := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	question.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind("QuotaExplanation"))
	return ask(ctx, c, quotaPath, question, func(*diagnosticsv1alpha1.QuotaExplanation) bool { return true })
}

// ask returns the leader's answer or, failing that, a standby's. Leads is true for an answer of the leader.
func ask[T any](ctx context.Context, c *Client, path string, question any, leads func(*T) bool) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := json.Marshal(question)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("encode the request: %w", err))
	}
	addresses, err := c.addresses(ctx)
	if err != nil {
		return nil, Unavailable(err)
	}
	var fallback *T
	var refusals []error
	for i, address := range addresses {
		answer, err := askInTime[T](ctx, c, len(addresses)-i, address, path, body)
		var refusal *refusal
		switch {
		case errors.As(err, &refusal):
			refusals = append(refusals, refusal)
		case err != nil:
			return nil, err
		case leads(answer):
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
	return nil, Unavailable(errors.Join(refusals...))
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
func askInTime[T any](ctx context.Context, c *Client, sharers int, address, path string, body []byte) (*T, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(sharers))
		defer cancel()
	}
	code, data, err := c.post(ctx, address, path, body)
	if err != nil {
		return nil, &refusal{address, err}
	}
	if code >= 200 && code < 300 {
		answer := new(T)
		if err := json.Unmarshal(data, answer); err != nil {
			return nil, &refusal{address, fmt.Errorf("decode the response: %w", err)}
		}
		return answer, nil
	}
	return nil, errorOf(address, code, data)
}

// post sends the question to one address, and returns the code and the body of the response.
func (c *Client) post(ctx context.Context, address, path string, body []byte) (int, []byte, error) {
	client, err := c.client(address)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if caller, known := apirequest.UserFrom(ctx); known {
		if err := grants.SetCaller(request.Header, caller); err != nil {
			return 0, nil, err
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return 0, nil, fmt.Errorf("read the response: %w", err)
	}
	if len(data) > maxAnswerBytes {
		return 0, nil, fmt.Errorf("the response is larger than %d bytes", maxAnswerBytes)
	}
	return response.StatusCode, data, nil
}

// errorOf separates an error about the question, which is final, from one of the instance.
func errorOf(address string, code int, data []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(data, &status); err != nil || status.Kind != "Status" {
		return &refusal{address, fmt.Errorf("status %d: %.200q", code, data)}
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable, http.StatusInternalServerError:
		return &refusal{address, fmt.Errorf("status %d: %s", code, status.Message)}
	default:
		return &apierrors.StatusError{ErrStatus: status}
	}
}
