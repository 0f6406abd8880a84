package app

import (
	"errors"
	"fmt"
	"net"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// DefaultDiagnosticsPort of the server that explains decisions; kube-scheduler's own port is 10259.
const DefaultDiagnosticsPort = 10260

// Options are the flags of koord-scheduler: those of kube-scheduler and those of the diagnostics server.
type Options struct {
	*options.Options
	// DiagnosticsPort to listen on; 0 switches the server off.
	DiagnosticsPort int
	// DiagnosticsBindAddress to listen on.
	DiagnosticsBindAddress net.IP
	// DiagnosticsCertSecret is NAMESPACE/NAME of the Secret with the serving certificate.
	DiagnosticsCertSecret string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	opts := &Options{Options: options.NewOptions(), DiagnosticsPort: DefaultDiagnosticsPort, DiagnosticsBindAddress: net.IPv4zero}
	opts.SecureServing.ServerCert.PairName = "koord-scheduler"
	opts.SecureServing.MinTLSVersion = "VersionTLS13"
	opts.addFlags(opts.Flags)
	return opts
}

func (o *Options) addFlags(sets *cliflag.NamedFlagSets) {
	flags := sets.FlagSet("diagnostics")
	flags.IntVar(&o.DiagnosticsPort, "diagnostics-port", o.DiagnosticsPort, "The port on which scheduling decisions are explained, over HTTPS with authentication and authorization. 0 switches it off.")
	flags.IPVar(&o.DiagnosticsBindAddress, "diagnostics-bind-address", o.DiagnosticsBindAddress, "The IP address on which to listen for --diagnostics-port.")
	flags.StringVar(&o.DiagnosticsCertSecret, "diagnostics-cert-secret", o.DiagnosticsCertSecret, "The Secret, as NAMESPACE/NAME, with the serving certificate for --diagnostics-port. It is followed when it changes. Without it the certificate is self-signed.")
}

// Validate reports every flag that makes no sense.
func (o *Options) Validate() error {
	errs := o.Options.Validate()
	if o.DiagnosticsPort < 0 || o.DiagnosticsPort > 65535 {
		errs = append(errs, fmt.Errorf("--diagnostics-port %d is not between 0 and 65535", o.DiagnosticsPort))
	}
	if o.DiagnosticsPort != 0 && o.SecureServing != nil && o.DiagnosticsPort == o.SecureServing.BindPort {
		errs = append(errs, fmt.Errorf("--diagnostics-port and --secure-port are both %d", o.DiagnosticsPort))
	}
	if _, _, err := o.certSecret(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *Options) certSecret() (namespace, name string, err error) {
	if o.DiagnosticsCertSecret == "" {
		return "", "", nil
	}
	namespace, name, found := strings.Cut(o.DiagnosticsCertSecret, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("--diagnostics-cert-secret %q is not NAMESPACE/NAME", o.DiagnosticsCertSecret)
	}
	return namespace, name, nil
}
