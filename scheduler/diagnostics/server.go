package diagnostics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	apiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/scheduler/services"
)

// shutdownTimeout is how long requests in flight may take after the server was asked to stop.
const shutdownTimeout = 5 * time.Second

// Options of the server.
type Options struct {
	// BindAddress and Port to listen on. Port 0 switches the server off.
	BindAddress net.IP
	Port        int
	// CertSecret is the namespace and name of the Secret with the serving certificate; empty for a self-signed one.
	CertNamespace, CertName string
	// Authentication and Authorization of clients, delegated to the cluster.
	Authentication *apiserveroptions.DelegatingAuthenticationOptions
	Authorization  *apiserveroptions.DelegatingAuthorizationOptions
	// Services answers what is below services.Base; nil for nothing.
	Services http.Handler
	// Objects explains objects of plugins, by their kind in lower case.
	Objects map[string]ObjectExplainer
	// Client reads the Secret.
	Client kubernetes.Interface
}

// Server serves explanations.
type Server struct {
	handler  http.Handler
	serving  *apiserver.SecureServingInfo
	provider *certificate.SecretProvider
}

// NewServer listens, and answers once Run is called. The listener is closed when Run returns; a caller that never runs
// the server closes it with Close.
func NewServer(options Options, explainer Explainer, ready func() bool) (*Server, error) {
	secure := apiserveroptions.NewSecureServingOptions()
	secure.MinTLSVersion = "VersionTLS13"
	secure.BindAddress, secure.BindPort = options.BindAddress, options.Port
	secure.ServerCert.CertDirectory, secure.ServerCert.PairName = "", "koord-scheduler-diagnostics"
	server := &Server{}
	if options.CertName != "" {
		server.provider = certificate.NewSecretProvider(options.Client, options.CertNamespace, options.CertName)
	} else if err := secure.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, fmt.Errorf("make a self-signed certificate for diagnostics: %w", err)
	}
	if err := secure.ApplyTo(&server.serving); err != nil {
		return nil, fmt.Errorf("listen for diagnostics on port %d: %w", options.Port, err)
	}
	if server.provider != nil {
		server.serving.Cert = server.provider
	}
	authentication, authorization := apiserver.AuthenticationInfo{}, apiserver.AuthorizationInfo{}
	if err := options.Authentication.ApplyTo(&authentication, server.serving, nil); err != nil {
		server.Close()
		return nil, fmt.Errorf("set up the authentication of diagnostics clients: %w", err)
	}
	if err := options.Authorization.ApplyTo(&authorization); err != nil {
		server.Close()
		return nil, fmt.Errorf("set up the authorization of diagnostics clients: %w", err)
	}
	server.handler = protect(beside(newHandler(explainer, options.Objects, ready, authorization.Authorizer), options.Services), authentication.Authenticator, authorization.Authorizer)
	return server, nil
}

// Close stops listening.
func (s *Server) Close() {
	if s.serving != nil && s.serving.Listener != nil {
		_ = s.serving.Listener.Close()
	}
}

// beside serves what is below services.Base from one handler, and everything else from the other.
func beside(handler, below http.Handler) http.Handler {
	if below == nil {
		return handler
	}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.Handle(services.Base, below)
	return mux
}

// protect serves authenticated and authorized requests only, with the filters of every Kubernetes server.
func protect(handler http.Handler, authentication authenticator.Request, authorization authorizer.Authorizer) http.Handler {
	resolver := &apirequest.RequestInfoFactory{}
	handler = genericapifilters.WithAuthorization(handler, authorizeServices(authorization), scheme.Codecs)
	handler = genericapifilters.WithAuthentication(handler, authentication, genericapifilters.Unauthorized(scheme.Codecs), nil, nil)
	handler = genericapifilters.WithRequestInfo(handler, resolver)
	handler = genericapifilters.WithCacheControl(handler)
	handler = genericfilters.WithHTTPLogging(handler)
	return genericfilters.WithPanicRecovery(handler, resolver)
}

// Run serves until the context ends, then lets answers in the making finish. With a certificate from a Secret it waits
// for the Secret first.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	if s.provider != nil {
		if err := s.provider.WaitForSecret(ctx); err != nil {
			return err
		}
		following, stop := context.WithCancel(ctx)
		var follower sync.WaitGroup
		defer follower.Wait()
		defer stop()
		follower.Go(func() { s.provider.Run(following, 1) })
	}
	stopped, listenerStopped, err := s.serving.Serve(s.handler, shutdownTimeout, ctx.Done())
	if err != nil {
		return fmt.Errorf("serve diagnostics: %w", err)
	}
	klog.FromContext(ctx).V(1).Info("Serving diagnostics", "address", s.serving.Listener.Addr().String())
	<-listenerStopped
	<-stopped
	return nil
}

// Address the server listens on.
func (s *Server) Address() net.Addr { return s.serving.Listener.Addr() }
