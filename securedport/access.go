package securedport

import (
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	apiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/scheme"
)

// Access authenticates and authorizes the clients of the port.
type Access struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
	// clientCA verifies client certificates.
	clientCA dynamiccertificates.CAContentProvider
}

// Delegate has the cluster authenticate and authorize clients. It reads the authentication configuration of the cluster.
func Delegate(kubeconfig string) (*Access, error) {
	var serving apiserver.SecureServingInfo
	var authentication apiserver.AuthenticationInfo
	var authorization apiserver.AuthorizationInfo
	authenticating := apiserveroptions.NewDelegatingAuthenticationOptions()
	authenticating.RemoteKubeConfigFile = kubeconfig
	if err := authenticating.ApplyTo(&authentication, &serving, nil); err != nil {
		return nil, fmt.Errorf("delegate the authentication of clients: %w", err)
	}
	authorizing := apiserveroptions.NewDelegatingAuthorizationOptions()
	authorizing.RemoteKubeConfigFile = kubeconfig
	if err := authorizing.ApplyTo(&authorization); err != nil {
		return nil, fmt.Errorf("delegate the authorization of clients: %w", err)
	}
	return &Access{authenticator: authentication.Authenticator, authorizer: authorization.Authorizer, clientCA: serving.ClientCA}, nil
}

// protect serves authenticated and authorized requests only, with the filters of every Kubernetes server.
func (a *Access) protect(handler http.Handler) http.Handler {
	resolver := &apirequest.RequestInfoFactory{}
	handler = genericapifilters.WithAuthorization(handler, a.authorizer, scheme.Codecs)
	handler = genericapifilters.WithAuthentication(handler, a.authenticator, genericapifilters.Unauthorized(scheme.Codecs), nil, nil)
	handler = genericapifilters.WithRequestInfo(handler, resolver)
	handler = genericapifilters.WithCacheControl(handler)
	handler = genericfilters.WithHTTPLogging(handler)
	return genericfilters.WithPanicRecovery(handler, resolver)
}
