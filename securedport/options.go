// Package securedport is the port of a component that serves health, metrics and diagnostics over TLS: health to everybody, the rest to
// clients that the cluster authenticates and authorizes.
package securedport

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/outage"
)

// Options of a port.
type Options struct {
	// Component is the name of the program, in its self-signed certificate.
	Component string
	// BindAddress and Port are where it listens.
	BindAddress net.IP
	Port        int
	// CertSecret is NAMESPACE/NAME of the Secret with the serving certificate; empty for a self-signed one.
	CertSecret string
}

// Secret is the namespace and name of the Secret with the serving certificate; empty for a self-signed one.
func (o Options) Secret() (namespace, name string, err error) {
	if o.CertSecret == "" {
		return "", "", nil
	}
	namespace, name, found := strings.Cut(o.CertSecret, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("--cert-secret %q must be NAMESPACE/NAME", o.CertSecret)
	}
	return namespace, name, nil
}

// address to listen on.
func (o Options) address() string {
	return net.JoinHostPort(o.BindAddress.String(), strconv.Itoa(o.Port))
}

// AwaitAPIServer returns how clients are authenticated and authorized, once the API server answers. Meanwhile the port says that the
// process lives and is not ready.
func AwaitAPIServer(ctx context.Context, client kubernetes.Interface, options Options, kubeconfig string) (*Access, error) {
	listener, err := outage.ListenTLS(ctx, options.address(), options.Component)
	if err != nil {
		return nil, err
	}
	probes := outage.Serve(listener)
	defer probes.Close()
	if err := outage.Await(ctx, client.Discovery().RESTClient(), probes.Failed); err != nil {
		return nil, err
	}
	var found *Access
	err = outage.Until(ctx, probes.Failed, func() (err error) {
		found, err = Delegate(kubeconfig)
		return err
	})
	return found, err
}
