package copilot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"
)

const (
	// mostBytes of an answer are read.
	mostBytes = 32 << 20
	// listTimeout bounds reading the containers, and killTimeout ending one, which waits for its processes.
	listTimeout = 5 * time.Second
	killTimeout = 5 * time.Second
	// mostErrorBytes of an error are shown.
	mostErrorBytes = 256
)

// ErrNotFound is wrapped by errors about a container that the agent does not have.
var ErrNotFound = fmt.Errorf("the container was not found: %w", fs.ErrNotExist)

// ErrUnanswered is wrapped by errors of an agent that did not answer, or not in time.
var ErrUnanswered = errors.New("the agent did not answer")

// Client calls one agent. It may be used by several goroutines.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient returns a client of the agent at a socket, which is connected to with each call.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{socket: socket, http: &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true, ResponseHeaderTimeout: killTimeout},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Information asks the agent what it is of.
func (c *Client) Information(ctx context.Context) (Information, error) {
	var out Information
	err := c.call(ctx, listTimeout, http.MethodGet, PathInformation, nil, &out)
	if err == nil {
		err = ValidName(out.Name)
	}
	if err != nil {
		return Information{}, fmt.Errorf("ask the agent at %s for its name: %w", c.socket, err)
	}
	return out, nil
}

// Containers lists all containers of the agent.
func (c *Client) Containers(ctx context.Context) ([]Container, error) {
	var out ContainerList
	if err := c.call(ctx, listTimeout, http.MethodGet, PathContainers, nil, &out); err != nil {
		return nil, fmt.Errorf("list the containers of the agent at %s: %w", c.socket, err)
	}
	return out.Containers, nil
}

// Kill ends a container. The error wraps ErrNotFound when the agent has it no more.
func (c *Client) Kill(ctx context.Context, id string) error {
	if err := c.call(ctx, killTimeout, http.MethodPost, PathKillContainer, KillRequest{ContainerID: id}, nil); err != nil {
		return fmt.Errorf("kill container %.64q by the agent at %s: %w", id, c.socket, err)
	}
	return nil
}

// KillByResource ends containers until they release some resources, and returns those.
func (c *Client) KillByResource(ctx context.Context, request KillRequest) ([]Container, error) {
	var out ContainerList
	if err := c.call(ctx, killTimeout, http.MethodPost, PathKillContainersByResource, request, &out); err != nil {
		return nil, fmt.Errorf("kill containers by the agent at %s: %w", c.socket, err)
	}
	return out.Containers, nil
}

// call sends a request with a body, if any, and reads the answer into a value, if any.
func (c *Client) call(ctx context.Context, timeout time.Duration, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://agent"+path, &content)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	err = read(response, into)
	return errors.Join(err, response.Body.Close())
}

// read reads an answer of bounded size.
func read(response *http.Response, into any) error {
	switch {
	case response.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case response.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(response.Body, mostErrorBytes)) // what there is of it
		return fmt.Errorf("the agent answered %d: %q", response.StatusCode, bytes.TrimSpace(text))
	case into == nil:
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	switch {
	case err != nil:
		return err
	case len(content) > mostBytes:
		return fmt.Errorf("the answer is longer than %d bytes", mostBytes)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
