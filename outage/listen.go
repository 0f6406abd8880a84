package outage

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	certutil "k8s.io/client-go/util/cert"
)

// ListenTLS opens an address for the probes of a component that serves them over TLS. Probes do not verify the certificate, which is of
// this listener only.
func ListenTLS(ctx context.Context, address, name string) (net.Listener, error) {
	certificate, key, err := certutil.GenerateSelfSignedCertKey(name, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for probes: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for probes: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for probes: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}), nil
}
