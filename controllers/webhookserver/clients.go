package webhookserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
)

// Where a cluster publishes by which certificate its API servers are known to the servers that they pass requests on to.
const (
	authenticationName = "extension-apiserver-authentication"
	authoritiesKey     = "requestheader-client-ca-file"
	namesKey           = "requestheader-allowed-names"
)

// Clients are those that may ask: API servers that show the client certificate by which they are known to aggregated API servers, such as
// front-proxy-client of kubeadm. An API server shows it to webhooks where its admission configuration says so.
type Clients struct {
	authorities *dynamiccertificates.ConfigMapCAController
	names       *headerrequest.RequestHeaderAuthRequestController
}

// NewClients follows the client authorities that the cluster publishes. Until they were read no client is allowed.
func NewClients(client kubernetes.Interface) (*Clients, error) {
	authorities, err := dynamiccertificates.NewDynamicCAFromConfigMapController("webhook-clients", metav1.NamespaceSystem, authenticationName, authoritiesKey, client)
	if err != nil {
		return nil, fmt.Errorf("watch the client CAs of the webhooks: %w", err)
	}
	// Headers are of no interest here: a client speaks for itself.
	names := headerrequest.NewRequestHeaderAuthRequestController(authenticationName, metav1.NamespaceSystem, client, namesKey, namesKey, namesKey, namesKey, namesKey)
	return &Clients{authorities: authorities, names: names}, nil
}

// run follows what the cluster publishes until the context ends.
func (c *Clients) run(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { c.authorities.Run(ctx, 1) })
	group.Go(func() { c.names.Run(ctx, 1) })
	group.Wait()
}

// require has clients show a certificate.
func (c *Clients) require(config *tls.Config) {
	if c == nil {
		return
	}
	config.ClientAuth, config.VerifyConnection = tls.RequireAnyClientCert, c.verify
}

// verify a client by what the cluster publishes now. Where it publishes no names, all whom its authorities verify may ask.
func (c *Clients) verify(state tls.ConnectionState) error {
	options, known := c.authorities.VerifyOptions()
	if !known || len(state.PeerCertificates) == 0 {
		return errors.New("the client presented no certificate, or the client CAs are not loaded yet")
	}
	options.KeyUsages, options.Intermediates = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(certificate)
	}
	client := state.PeerCertificates[0]
	if _, err := client.Verify(options); err != nil {
		return fmt.Errorf("verify the client's certificate: %w", err)
	}
	if names := c.names.AllowedClientNames(); len(names) > 0 && !slices.Contains(names, client.Subject.CommonName) {
		return fmt.Errorf("the client %q is not allowed", client.Subject.CommonName)
	}
	return nil
}
