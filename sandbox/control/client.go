package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/state"
)

// ErrNotRunning means that no supervisor answers for the sandbox.
var ErrNotRunning = errors.New("the sandbox is not running")

// maxAnswer bounds what a client reads of the supervisor's answer.
const maxAnswer = 4 << 20

// Client talks to a sandbox's supervisor.
type Client struct {
	http *http.Client
}

// answerTimeout bounds one question, so that a supervisor that hangs does not hang its users.
const answerTimeout = 10 * time.Second

// NewClient returns a client for the supervisor of the sandbox in dir. It does not connect yet.
func NewClient(dir state.Dir) *Client {
	path := SocketPath(dir)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if err := checkPrivate(filepath.Dir(path)); err != nil {
				return nil, err
			}
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", path)
		},
		DisableKeepAlives: true,
	}
	return &Client{http: &http.Client{Transport: transport, Timeout: answerTimeout}}
}

// Status asks the supervisor how the sandbox is. It returns ErrNotRunning if there is no response.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	var status Status
	if err := c.do(ctx, http.MethodGet, "/status", &status); err != nil {
		return nil, err
	}
	return &status, nil
}

// Stop asks the supervisor to stop everything and itself. It returns when the request is accepted.
func (c *Client) Stop(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/stop", nil)
}

func (c *Client) do(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://supervisor"+path, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	// The connection is reset by a supervisor that dies while it is asked.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return ErrNotRunning
	}
	if err != nil {
		return fmt.Errorf("call the supervisor of the sandbox: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read the response of the supervisor: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("call the supervisor of the sandbox: %s: %s", response.Status, body)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("parse the response of the supervisor: %w", err)
	}
	return nil
}
