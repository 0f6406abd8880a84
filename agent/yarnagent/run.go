package yarnagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
