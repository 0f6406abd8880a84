package yarn

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// mostResponse bounds a response; a node is 3 KiB.
	mostResponse = 64 << 20
	// writers is how many nodes are changed at the same time, which takes a request for each.
	writers = 16
)

// RESTOptions of a RESTClient.
type RESTOptions struct {
	// User that the calls are made as, where ResourceManagers trust what clients say.
	User string
	// Authorities verify the web servers; nil for those of the system.
	Authorities *x509.CertPool
	// Timeout bounds one request.
	Timeout time.Duration
}

// RESTClient calls the active ResourceManager of a cluster by its REST API, which changes nodes since Hadoop 3.3. It may be used by several
// goroutines.
type RESTClient struct {
	managers []string
	user     string
	http     *http.Client

	mu     sync.Mutex
	active int
}

// NewRESTClient returns a client that connects when it is used, and must be closed.
func NewRESTClient(cluster Cluster, options RESTOptions) *RESTClient {
	out := &RESTClient{user: options.User, http: &http.Client{
		Timeout: options.Timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: options.Authorities, MinVersion: tls.VersionTLS12},
			MaxIdleConnsPerHost: writers, IdleConnTimeout: time.Minute,
		},
		// A standby redirects to where it takes the active one to be, which is not followed with somebody's name.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, at := range cluster.ResourceManagers {
		out.managers = append(out.managers, at.Web)
	}
	return out
}

// Close ends idle connections.
func (c *RESTClient) Close() { c.http.CloseIdleConnections() }

// Nodes reads the NodeManagers that run, and those that are being decommissioned, whose containers run on.
func (c *RESTClient) Nodes(ctx context.Context) ([]Node, error) {
	var answer struct {
		Nodes struct {
			Node []restNode `json:"node"`
		} `json:"nodes"`
	}
	if err := c.call(ctx, http.MethodGet, "nodes", url.Values{"states": {"RUNNING,UNHEALTHY,DECOMMISSIONING"}}, nil, &answer); err != nil {
		return nil, err
	}
	nodes := make([]Node, 0, len(answer.Nodes.Node))
	for _, one := range answer.Nodes.Node {
		node, err := one.node()
		if err != nil {
			return nil, fmt.Errorf("read the cluster's nodes: %w", err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// Update changes what may be allocated on nodes, one after the other. After an error, the others are changed all the same.
func (c *RESTClient) Update(ctx context.Context, changes []Change) error {
	errs := make([]error, len(changes))
	var group errgroup.Group
	group.SetLimit(writers)
	for i, change := range changes {
		group.Go(func() error {
			errs[i] = c.update(ctx, change)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs, all of them
	return errors.Join(errs...)
}

func (c *RESTClient) update(ctx context.Context, change Change) error {
	body, err := json.Marshal(map[string]any{
		"resource":          restResource{Memory: change.Capability.MiB, VCores: change.Capability.VCores},
		"overCommitTimeout": change.TimeoutMillis,
	})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "nodes/"+url.PathEscape(change.Node.String())+"/resource", nil, body, nil)
}

// Pending is what applications have asked for and not got.
func (c *RESTClient) Pending(ctx context.Context) (Resource, error) {
	var answer struct {
		Metrics struct {
			PendingMB     int64 `json:"pendingMB"`
			PendingVCores int64 `json:"pendingVirtualCores"`
		} `json:"clusterMetrics"`
	}
	err := c.call(ctx, http.MethodGet, "metrics", nil, nil, &answer)
	return Resource{VCores: answer.Metrics.PendingVCores, MiB: answer.Metrics.PendingMB}, err
}

// call asks the active ResourceManager, and the one that has become it where that one does not answer or is not active any more.
func (c *RESTClient) call(ctx context.Context, method, path string, query url.Values, body []byte, into any) error {
	c.mu.Lock()
	active := c.active
	c.mu.Unlock()
	err := c.ask(ctx, c.managers[active], method, path, query, body, into)
	if err == nil || len(c.managers) == 1 || ctx.Err() != nil || isRESTRefusal(err) {
		return err
	}
	found, findErr := c.find(ctx)
	if findErr != nil {
		return errors.Join(err, findErr)
	}
	if found == active {
		return err
	}
	return c.ask(ctx, c.managers[found], method, path, query, body, into)
}

// find finds the active ResourceManager.
func (c *RESTClient) find(ctx context.Context) (int, error) {
	var errs []error
	for i, manager := range c.managers {
		var answer struct {
			Info struct {
				HAState string `json:"haState"`
			} `json:"clusterInfo"`
		}
		err := c.ask(ctx, manager, http.MethodGet, "info", nil, nil, &answer)
		if err == nil && answer.Info.HAState == "ACTIVE" {
			c.mu.Lock()
			c.active = i
			c.mu.Unlock()
			return i, nil
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("find the active ResourceManager of %d: %w", len(c.managers), errors.Join(append(errs, errNoneActive)...))
}

// ask makes one request of one ResourceManager.
func (c *RESTClient) ask(ctx context.Context, manager, method, path string, query url.Values, body []byte, into any) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("user.name", c.user)
	target := manager + "/ws/v1/cluster/" + path
	request, err := http.NewRequestWithContext(ctx, method, target+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(response.Body, mostResponse+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, target, err)
	case len(content) > mostResponse:
		return fmt.Errorf("%s %s: the answer is larger than %d MiB", method, target, mostResponse>>20)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %w", method, target, &restError{status: response.StatusCode, message: exception(content)})
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	return nil
}

// restError is an answer that is not OK.
type restError struct {
	status  int
	message string
}

func (e *restError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%d %s: %s", e.status, http.StatusText(e.status), e.message), ": ")
}

// isRESTRefusal says whether the active ResourceManager refused a request, which no other would do otherwise. A standby redirects.
func isRESTRefusal(err error) bool {
	refused, is := errors.AsType[*restError](err)
	return is && refused.status >= http.StatusBadRequest && refused.status < http.StatusInternalServerError
}

// exception is the message of an answer with an exception; empty where it has none.
func exception(content []byte) string {
	var answer struct {
		Exception struct {
			Message string `json:"message"`
		} `json:"RemoteException"`
	}
	if json.Unmarshal(content, &answer) != nil {
		return ""
	}
	return fmt.Sprintf("%.500s", answer.Exception.Message)
}
