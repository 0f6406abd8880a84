package nri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/hooks"
)

// Name and place of the plugin among others.
const (
	Name  = "koordlet_nri"
	Index = "00"
)

const (
	// A runtime that is away is tried again after a time that doubles from firstRetry to lastRetry.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// lastMoment is how long the library may take to end by itself when its connection has.
	lastMoment = time.Second
	// settled is how long a connection must have lasted for the next attempt to come soon again.
	settled = time.Minute
)

// Options of a connection.
type Options struct {
	Advisor *hooks.Advisor
	// Socket of the runtime.
	Socket string
	Clock  clock.WithTicker
	// Connected is called when the runtime has listed its pods and containers; may be nil.
	Connected func()
}

// Run keeps the plugin connected until the context ends.
func Run(ctx context.Context, options Options) {
	logger := klog.FromContext(ctx)
	retry, reported := firstRetry, ""
	for {
		began := options.Clock.Now()
		err := connect(ctx, options)
		if ctx.Err() != nil {
			return
		}
		if options.Clock.Since(began) >= settled {
			retry, reported = firstRetry, ""
		}
		if text := fmt.Sprint(err); text != reported {
			logger.Info("Not connected to the container runtime: containers get their values only after they start, will retry", "socket", options.Socket, "reason", text)
			reported = text
		}
		select {
		case <-ctx.Done():
			return
		case <-options.Clock.After(retry):
		}
		retry = min(2*retry, lastRetry)
	}
}

// connect returns when the connection has ended.
func connect(ctx context.Context, options Options) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", options.Socket)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	watched := &watched{Conn: connection, ended: ended}
	defer func() { _ = watched.Close() }() // it is gone in any case
	plugin, err := stub.New(newPlugin(options), stub.WithPluginName(Name), stub.WithPluginIdx(Index), stub.WithConnection(watched),
		stub.WithLogger(logger{klog.FromContext(ctx)}), stub.WithFailurePolicy(&api.FailurePolicy{KeepConnected: true}),
		stub.WithOnClose(func() {}))
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- plugin.Run(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	case <-ended:
	}
	select {
	case err := <-done:
		return err
	case <-options.Clock.After(lastMoment):
	}
	// The library waits for the runtime to configure the plugin even when the connection is closed.
	_ = watched.Close() // it may have ended
	if waiting, is := plugin.(configurable); is {
		go func() { _, _ = waiting.Configure(ctx, &api.ConfigureRequest{}) }() // only so that it waits no longer
	}
	select {
	case <-done:
	case <-options.Clock.After(lastMoment): // it is left
	}
	return errors.New("the container runtime closed the connection before the plugin was registered")
}

// configurable is what the runtime calls of a plugin.
type configurable interface {
	Configure(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error)
}
