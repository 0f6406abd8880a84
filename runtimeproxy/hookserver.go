package runtimeproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// Times between attempts to reach a server of hooks.
const (
	firstAttempt = 50 * time.Millisecond
	lastAttempt  = 2 * time.Second
	// A server that let a call time out is not asked for a while, which doubles.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// hookServer is one that was registered. All methods may be called at the same time.
type hookServer struct {
	name string
	hookapi.Registration
	connection *grpc.ClientConn
	client     *hookapi.Client
	clock      clock.PassiveClock
	metrics    *metrics

	mu sync.Mutex
	// pause after the latest time-out, and until when it lasts; zero while the server answers.
	pause  time.Duration
	paused time.Time
}

func newHookServer(name string, registration hookapi.Registration, clock clock.PassiveClock, metrics *metrics) (*hookServer, error) {
	connection, err := grpc.NewClient("unix:"+registration.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstAttempt, Multiplier: 2, Jitter: 0.1, MaxDelay: lastAttempt},
			MinConnectTimeout: lastAttempt,
		}))
	if err != nil {
		return nil, fmt.Errorf("connect to %q: %w", registration.Endpoint, err)
	}
	connection.Connect()
	return &hookServer{
		name: name, Registration: registration, connection: connection, client: hookapi.NewClient(connection), clock: clock, metrics: metrics,
	}, nil
}

func (s *hookServer) close() {
	_ = s.connection.Close() // it fails only when it was closed before
}

func (s *hookServer) same(registration hookapi.Registration) bool {
	return s.Endpoint == registration.Endpoint && s.Policy == registration.Policy && slices.Equal(s.Hooks, registration.Hooks)
}

// pod asks about a sandbox.
func (s *hookServer) pod(ctx context.Context, timeout time.Duration, hook hookapi.Hook, request *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
	return ask(ctx, s, timeout, hook, request, s.client.Pod)
}

// container asks about a container.
func (s *hookServer) container(ctx context.Context, timeout time.Duration, hook hookapi.Hook, request *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
	return ask(ctx, s, timeout, hook, request, s.client.Container)
}

// ask calls a server that is not paused. Its answer is nil when the server failed and its policy is to go on.
func ask[Request, Response any](
	ctx context.Context, s *hookServer, timeout time.Duration, hook hookapi.Hook, request Request,
	call func(context.Context, hookapi.Hook, Request) (*Response, error),
) (*Response, error) {
	finish := s.metrics.ask(s.name, hook)
	if s.isPaused() {
		return fail[Response](s, hook, finish, status.Error(codes.Unavailable, "the hook server timed out; it is not called until it recovers"))
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := call(bounded, hook, request)
	s.learn(ctx, err)
	if err != nil {
		return fail[Response](s, hook, finish, err)
	}
	finish("")
	return response, nil
}

// fail applies the policy.
func fail[Response any](s *hookServer, hook hookapi.Hook, finish func(string), err error) (*Response, error) {
	finish(status.Code(err).String())
	if s.Policy == hookapi.Fail {
		return nil, status.Errorf(status.Code(err), "hook %s of %s: %v", hook, s.name, status.Convert(err).Message())
	}
	return nil, nil
}

func (s *hookServer) isPaused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Now().Before(s.paused)
}

// learn pauses a server that let a call time out while the caller would have waited longer.
func (s *hookServer) learn(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.pause, s.paused = 0, time.Time{}
	case status.Code(err) == codes.DeadlineExceeded && ctx.Err() == nil:
		s.pause = min(max(2*s.pause, firstPause), lastPause)
		s.paused = s.clock.Now().Add(s.pause)
	}
}
