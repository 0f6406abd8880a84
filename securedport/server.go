package securedport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	apiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

const (
	// shutdownTimeout is how long requests in flight may take after the server was asked to stop.
	shutdownTimeout = 5 * time.Second
	// readyTimeout bounds how long /readyz looks at the caches.
	readyTimeout = time.Second
)

// Server is the port. It serves on every replica, whether it leads or not.
type Server struct {
	serving *apiserver.SecureServingInfo
	// open is served to everybody, protected to clients that are authenticated and authorized.
	open, protected *http.ServeMux
	certificate     func() error
	// Bundle is the CA of the serving certificate, in PEM; nil before it was read.
	Bundle func() []byte
	// Ready are true when the process can do its work.
	Ready []func(context.Context) bool
}

// New listens, and serves once Start is called. A server that is never started must be closed.
func New(ctx context.Context, client kubernetes.Interface, options Options, access *Access) (*Server, error) {
	certificate, check, bundle, err := servingCertificate(client, options)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", options.address())
	if err != nil {
		return nil, fmt.Errorf("listen on the secured port: %w", err)
	}
	s := &Server{
		serving:     &apiserver.SecureServingInfo{Listener: listener, Cert: certificate, ClientCA: access.clientCA, MinTLSVersion: tls.VersionTLS13},
		open:        http.NewServeMux(),
		protected:   http.NewServeMux(),
		certificate: check,
		Bundle:      bundle,
	}
	for _, path := range []string{"/livez", "/healthz"} {
		s.open.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }) // a probe that went away needs none
	}
	s.open.HandleFunc("GET /readyz", s.serveReady)
	s.open.Handle("/", access.protect(s.protected))
	s.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	return s, nil
}

// Handle serves a path to clients that are authenticated and authorized for it.
func (s *Server) Handle(path string, handler http.Handler) { s.protected.Handle(path, handler) }

// ServeDebugging serves profiles, if enabled.
func (s *Server) ServeDebugging(enabled bool) {
	if !enabled {
		return
	}
	s.Handle("/debug/pprof/", http.HandlerFunc(pprof.Index))
	s.Handle("/debug/pprof/profile", http.HandlerFunc(pprof.Profile))
	s.Handle("/debug/pprof/symbol", http.HandlerFunc(pprof.Symbol))
	s.Handle("/debug/pprof/trace", http.HandlerFunc(pprof.Trace))
}

// serveReady says what is missing.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.checkReady(ctx); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok")) // a probe that went away needs none
}

func (s *Server) checkReady(ctx context.Context) error {
	if err := s.certificate(); err != nil {
		return err
	}
	for _, ready := range s.Ready {
		if !ready(ctx) {
			return errors.New("the caches have not synced")
		}
	}
	return nil
}

// NeedLeaderElection is false: standbys answer too.
func (*Server) NeedLeaderElection() bool { return false }

// Start serves until ctx ends, after requests in flight are answered.
func (s *Server) Start(ctx context.Context) error {
	stopped, listenerStopped, err := s.serving.Serve(s.open, shutdownTimeout, ctx.Done())
	if err != nil {
		return fmt.Errorf("serve on the secured port: %w", err)
	}
	<-listenerStopped
	<-stopped
	return nil
}

// Close stops listening. It may be called after Start.
func (s *Server) Close() error {
	if err := s.serving.Listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the secured port: %w", err)
	}
	return nil
}
