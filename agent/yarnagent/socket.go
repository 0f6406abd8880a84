package yarnagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// listen opens the socket, which only root may use. One that an agent before this one left is replaced, and one that still answers is not.
func listen(ctx context.Context, socket string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of --server-endpoint: %w", err)
	}
	if open, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket); err == nil {
		_ = open.Close() // nothing was sent
		return nil, fmt.Errorf("listen on %s: another agent serves it", socket)
	}
	if left, err := os.Lstat(socket); err == nil && left.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("listen on %s: it is no socket", socket)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace %s: %w", socket, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", socket, err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("restrict %s: %w", socket, err), listener.Close())
	}
	return listener, nil
}
