package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

const (
	// renewInterval is how often it is looked whether the certificate is due, or its file has changed.
	renewInterval = time.Minute
	// shutdownTimeout is how long answers in the making may take after the agent was stopped.
	shutdownTimeout = 5 * time.Second
	// Times that a client may take: to send its headers, a whole question, and until it asks again.
	headerTimeout, readTimeout, idleTimeout = 10 * time.Second, 30 * time.Second, 90 * time.Second
)

// Server is the secured port of an agent. Its methods may be called at the same time.
type Server struct {
	options  Options
	listener net.Listener

	mu          sync.Mutex
	certificate *tls.Certificate
}

// Listen opens the port and has the certificate at hand. Run closes it; a caller that never runs the server calls Close.
func Listen(ctx context.Context, options Options) (*Server, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{options: options}
	if err := s.renew(); err != nil {
		return nil, err
	}
	address := net.JoinHostPort(options.BindAddress.String(), strconv.Itoa(max(options.SecurePort, 0)))
	var err error
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
		return nil, fmt.Errorf("listen on the secured port: %w", err)
	}
	return s, nil
}

// renew loads the certificate of the files, or the agent's own, and replaces one that is due.
func (s *Server) renew() error {
	var next *tls.Certificate
	var err error
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.options.CertFile != "":
		var pair tls.Certificate
		pair, err = tls.LoadX509KeyPair(s.options.CertFile, s.options.KeyFile)
		next = &pair
	case s.options.Directory != "":
		next, err = kept(s.options.Directory, s.options.Name, s.options.Clock.Now())
		if err != nil { // a disk that is full or read-only
			next, err = s.unkept()
		}
	case s.certificate == nil || due(s.certificate.Leaf, s.options.Clock.Now()):
		next, err = inMemory(s.options.Name, s.options.Clock.Now())
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("load the serving certificate: %w", err)
	}
	s.certificate = next
	return nil
}

// unkept is the certificate that was served before, or one in memory. The lock is held.
func (s *Server) unkept() (*tls.Certificate, error) {
	now := s.options.Clock.Now()
	if s.certificate != nil && !due(s.certificate.Leaf, now) {
		return s.certificate, nil
	}
	return inMemory(s.options.Name, now)
}

// Port that the server listens on.
func (s *Server) Port() int32 {
	if address, ok := s.listener.Addr().(*net.TCPAddr); ok {
		return int32(address.Port)
	}
	return 0
}

// Fingerprint of the certificate that is served.
func (s *Server) Fingerprint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Fingerprint(s.certificate.Leaf)
}

// Close stops listening.
func (s *Server) Close() { _ = s.listener.Close() }

// Run serves what is open to everybody, and the rest to those whom the cluster lets in, until the context ends. The cluster need
// not answer yet: health is served at once, and everything else is refused until clients can be authenticated.
func (s *Server) Run(ctx context.Context, open, secured http.Handler) error {
	logger := klog.FromContext(ctx)
	gate := newGate(secured)
	server := &http.Server{
		Handler: s.handler(open, gate), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog:    klog.NewStandardLogger("WARNING"),
		BaseContext: func(net.Listener) context.Context { return klog.NewContext(ctx, logger) },
	}
	var group sync.WaitGroup
	defer group.Wait()
	running, stop := context.WithCancel(ctx)
	defer stop()
	group.Go(func() { gate.open(running, s.options.RESTConfig, s.options.Clock) })
	group.Go(func() { s.followCertificate(running) })
	group.Go(func() {
		<-running.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(closing); err != nil {
			_ = server.Close() // those who still listen are cut off
		}
	})
	err := server.Serve(tls.NewListener(s.listener, s.tlsConfig(gate)))
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the secured port: %w", err)
}

// followCertificate renews the certificate when it is time. Why it cannot be is logged when that changes.
func (s *Server) followCertificate(ctx context.Context) {
	ticker := s.options.Clock.NewTicker(renewInterval)
	defer ticker.Stop()
	told := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			problem := ""
			if err := s.renew(); err != nil {
				if problem = err.Error(); problem != told {
					klog.FromContext(ctx).Error(err, "Failed to load the serving certificate, keeping the previous one")
				}
			}
			told = problem
		}
	}
}

func (s *Server) tlsConfig(gate *gate) *tls.Config {
	base := &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		// A certificate of a client is looked at by the authenticator, which knows whom the cluster trusts.
		ClientAuth: tls.RequestClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.certificate, nil
		},
	}
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		named := base.Clone()
		named.GetConfigForClient = nil
		named.ClientCAs = gate.authorities() // so that the client knows which of its certificates to send
		return named, nil
	}
	return base
}
