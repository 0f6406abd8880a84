package yarnagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

const (
	// readTimeout bounds reading a request, and writeTimeout answering it, killing included.
	readTimeout  = 5 * time.Second
	writeTimeout = time.Minute
	// stopTimeout is how long answers that are under way may take when the agent is stopped.
	stopTimeout = 10 * time.Second
)

// Run serves the socket until the context ends. Containers run on without the agent, in the cgroups that they are in.
func Run(ctx context.Context, options *Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	tree, err := files.NewReal(options.CgroupRoot)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // nothing is buffered
	proc, err := files.NewReal(options.Proc)
	if err != nil {
		return err
	}
	defer func() { _ = proc.Close() }() // nothing is written
	layout, err := cgroup.Probe(tree, options.KubeletCgroupRoot)
	if err != nil {
		return err
	}
	a, err := newAgent(options, tree, proc, layout)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, options.ServerEndpoint)
	if err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Started koord-yarn-agent", "socket", options.ServerEndpoint, "nodeManager", options.NodeManagerEndpoint, "cgroup", a.groups.above)
	return a.serve(ctx, listener)
}

// serve serves a listener, and synchronizes, until the context ends.
func (a *agent) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: a.handler(), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: mostRequestBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { a.run(ctx) })
	group.Go(func() {
		<-ctx.Done()
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer done()
		_ = server.Shutdown(stop) // answers that take longer are cut off
	})
	err := server.Serve(listener)
	cancel()
	group.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", listener.Addr(), err)
}

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
