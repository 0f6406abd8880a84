package runtimeproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/runtimeproxy/peer"
)

const (
	// A runtime that is away is tried again after a time that doubles from firstRedial to lastRedial.
	firstRedial = 20 * time.Millisecond
	lastRedial  = time.Second
	// relearnEvery is how often what is known is compared with what the runtime has.
	relearnEvery = 5 * time.Minute
	// grace is how long calls that are under way may take when the proxy ends.
	grace = 5 * time.Second
	// streamWindow and connectionWindow are how many bytes either peer may send before it has to wait, of a call and of all
	// calls. With windows that are set, gRPC does not measure the way by a ping for each message, which on a socket of the same
	// machine finds out nothing and is a tenth of what the proxy works for a call.
	streamWindow, connectionWindow = 4 << 20, 16 << 20
)

// Proxy of one container runtime. All methods may be called at the same time.
type Proxy struct {
	options  *Options
	backend  *grpc.ClientConn
	runtime  runtimeapi.RuntimeServiceClient
	registry *registry
	store    *store
	metrics  *metrics
	gatherer prometheus.Gatherer
}

// New returns a Proxy that does nothing before Run. The runtime may be away.
func New(options *Options) (*Proxy, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("start koord-runtime-proxy: %w", err)
	}
	backend, err := grpc.NewClient("unix:"+options.RuntimeEndpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithIdleTimeout(0),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(largestMessage), grpc.MaxCallSendMsgSize(largestMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstRedial, Multiplier: 2, Jitter: 0.1, MaxDelay: lastRedial},
			MinConnectTimeout: lastRedial,
		}))
	if err != nil {
		return nil, fmt.Errorf("start koord-runtime-proxy: connect to %q: %w", options.RuntimeEndpoint, err)
	}
	p := &Proxy{options: options, backend: backend, runtime: runtimeapi.NewRuntimeServiceClient(backend), store: newStore(options.checkpoint())}
	registry := prometheus.NewRegistry()
	p.metrics, p.gatherer = newMetrics(registry, p.store), registry
	p.registry = newRegistry(options.HookDirectory, options.Clock, p.metrics)
	return p, nil
}

// Run passes calls until the context ends. It returns an error when it cannot listen, or can no longer.
func (p *Proxy) Run(ctx context.Context) error {
	defer func() { _ = p.backend.Close() }() // it fails only when it was closed before
	if err := p.makeDirectories(); err != nil {
		return fmt.Errorf("start koord-runtime-proxy: %w", err)
	}
	if err := p.store.load(); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to load the checkpoint; reading pods and containers from the container runtime")
	}
	p.registry.look(ctx)
	listener, err := peer.Listen(p.options.Endpoint)
	if err != nil {
		return fmt.Errorf("start koord-runtime-proxy: %w", err)
	}
	// What calls need outlives them: those that are under way at the end ask hooks, and what they do is kept.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { p.registry.run(background) })
	group.Go(func() { p.store.run(background, p.options.Clock) })
	if p.options.MetricsAddress != "" {
		if err := p.serveMetrics(background, &group); err != nil {
			return fmt.Errorf("start koord-runtime-proxy: %w", errors.Join(err, listener.Close()))
		}
	}
	klog.FromContext(ctx).Info("Started koord-runtime-proxy", "endpoint", p.options.Endpoint, "runtime", p.options.RuntimeEndpoint, "mode", p.options.Mode)
	group.Go(func() { p.learn(background) })
	return p.serve(ctx, listener)
}

func (p *Proxy) makeDirectories() error {
	return errors.Join(os.MkdirAll(filepath.Dir(p.options.Endpoint), 0o755), os.MkdirAll(p.options.StateDirectory, 0o700))
}

// serve passes calls of CRI.
func (p *Proxy) serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer(grpc.Creds(peer.Credentials()), grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(p.handle),
		grpc.MaxRecvMsgSize(largestMessage), grpc.MaxSendMsgSize(largestMessage),
		grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connectionWindow))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %q: %w", p.options.Endpoint, err)
	case <-ctx.Done():
	}
	// Calls that follow events never end by themselves.
	timer := time.AfterFunc(grace, server.Stop)
	server.GracefulStop()
	timer.Stop()
	<-served
	return nil
}

// learn asks the runtime what there is, soon again when it does not respond, and after a while when it does: what others told the
// runtime did not come by here.
func (p *Proxy) learn(ctx context.Context) {
	retry := firstRedial
	for {
		wait := relearnEvery
		if err := p.rebuild(ctx); err == nil {
			retry = firstRedial
		} else {
			if retry == lastRedial {
				klog.FromContext(ctx).V(2).Info("Failed to list pods and containers of the container runtime, will retry", "err", err)
			}
			wait, retry = retry, min(2*retry, lastRedial)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.options.Clock.After(wait):
		}
	}
}

// serveMetrics serves /metrics until the context ends.
func (p *Proxy) serveMetrics(ctx context.Context, group *sync.WaitGroup) error {
	listener, err := net.Listen("tcp", p.options.MetricsAddress)
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.gatherer, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: grace}
	group.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.FromContext(ctx).Error(err, "Failed to serve metrics")
		}
	})
	group.Go(func() {
		<-ctx.Done()
		_ = server.Close() // nothing is lost
	})
	return nil
}
