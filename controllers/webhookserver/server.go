package webhookserver

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Options of the server.
type Options struct {
	// Host and Port to listen on.
	Host string
	Port int
	// Certificate returns the serving certificate; required.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Clients that may ask; nil lets everybody ask.
	Clients *Clients
}

// server bounds what its hooks are asked.
type server struct {
	webhook.Server
	limiter *limiter
	clients *Clients
}

// New returns a server that does not listen before it is started. It speaks TLS 1.3 only, which every API server does.
func New(o Options) webhook.Server {
	register()
	return &server{limiter: newLimiter(maxInFlight, maxPerSource), clients: o.Clients, Server: webhook.NewServer(webhook.Options{
		Host: o.Host, Port: o.Port,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.GetCertificate, c.MinVersion = o.Certificate, tls.VersionTLS13
			o.Clients.require(c)
		}},
	})}
}

// Register serves a hook at a path, within the limits.
func (s *server) Register(path string, hook http.Handler) {
	s.Server.Register(path, s.limiter.bound(hook))
}

// Start serves until the context ends.
func (s *server) Start(ctx context.Context) error {
	if s.clients == nil {
		return s.Server.Start(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.clients.run(ctx) })
	err := s.Server.Start(ctx)
	cancel()
	group.Wait()
	return err
}
