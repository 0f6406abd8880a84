package koordlet

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/hooks/server"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// serveRetryInterval is how long the server of hooks waits after it could not serve.
const serveRetryInterval = 10 * time.Second

// HookOptions say how container runtimes reach the agent when they make containers.
type HookOptions struct {
	// NRI connects to the runtime's socket for plugins.
	NRI       bool
	NRISocket string
	// Endpoint is a Unix socket for koord-runtime-proxy; empty for none. Directory is where the proxy looks for registrations, and
	// Policy what it does while the agent is away.
	Endpoint, Directory, Policy string
}

// NewHookOptions returns the defaults.
func NewHookOptions() HookOptions {
	return HookOptions{NRI: true, NRISocket: "/var/run/nri/nri.sock", Directory: "/etc/runtime/hookserver.d", Policy: string(hookapi.Ignore)}
}

// AddFlags adds the flags of hooks.
func (o *HookOptions) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.NRI, "runtime-hooks-nri", o.NRI, "Apply values when containers are created, through the container runtime's NRI")
	flags.StringVar(&o.NRISocket, "runtime-hooks-nri-socket", o.NRISocket, "Socket of the container runtime for NRI plugins")
	flags.StringVar(&o.Endpoint, "runtime-hooks-addr", o.Endpoint, "Unix socket for koord-runtime-proxy, for runtimes without NRI; none by default")
	flags.StringVar(&o.Directory, "runtime-hooks-config-path", o.Directory, "Directory in which koordlet registers with koord-runtime-proxy")
	flags.StringVar(&o.Policy, "runtime-hooks-failure-policy", o.Policy, "What koord-runtime-proxy does while koordlet does not respond: Fail, Ignore or None")
}

// validate returns what is wrong.
func (o *HookOptions) validate() error {
	if o.Endpoint != "" && !filepath.IsAbs(o.Endpoint) {
		return fmt.Errorf("runtime-hooks-addr %q is not the absolute path of a socket", o.Endpoint)
	}
	switch hookapi.FailurePolicy(o.Policy) {
	case hookapi.Fail, hookapi.Ignore, hookapi.None:
		return nil
	}
	return fmt.Errorf("runtime-hooks-failure-policy %q is none of Fail, Ignore, None", o.Policy)
}

// newAdvisor returns what answers runtimes; nil when the agent writes nothing.
func (e *enforcement) newAdvisor() *hooks.Advisor {
	if e.options.ReadOnly {
		return nil
	}
	return hooks.NewAdvisor(hooks.Options{
		Executor: e.executor, Features: e.features, Clock: e.options.Clock, Observe: e.hookDurations.observe,
		Injection: hooks.Injection{
			GPUs: e.options.isOn(&nodefeature.GPUEnvInject), RDMA: e.options.isOn(&nodefeature.RDMADeviceInject), OOMScore: e.options.isOn(&nodefeature.OOMScoreAdj),
		},
		Snapshot: qos.NodeSnapshot{Period: e.options.SamplePeriod, Tree: e.tree, Proc: e.proc, Sys: e.sys, Layout: e.layout},
	})
}

// serveRuntimes runtimes until the context ends.
func (e *enforcement) serveRuntimes(ctx context.Context) {
	if e.advisor == nil {
		return
	}
	options := &e.options.Hooks
	var group sync.WaitGroup
	if options.NRI {
		group.Go(func() { connectNRI(ctx, e.options, e.advisor) })
	}
	if options.Endpoint != "" {
		group.Go(func() { e.serveHooks(ctx) })
	}
	group.Wait()
}

// serveHooks serves koord-runtime-proxy, again when that failed.
func (e *enforcement) serveHooks(ctx context.Context) {
	options := &e.options.Hooks
	var errors errorLog
	for {
		err := server.Run(ctx, server.Options{
			Advisor: e.advisor, Endpoint: options.Endpoint, Directory: options.Directory, Policy: hookapi.FailurePolicy(options.Policy),
		})
		errors.Report(ctx, err, e.options.Clock.Now(), "Failed to serve runtime hooks, will retry")
		select {
		case <-ctx.Done():
			return
		case <-e.options.Clock.After(serveRetryInterval):
		}
	}
}
