package app

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/securedport"
)

// DefaultSecurePort of koord-descheduler; those of koord-scheduler are 10259 and 10260.
const DefaultSecurePort = 10261

// Options are the flags of koord-descheduler.
type Options struct {
	// ConfigFile holds a DeschedulerConfiguration.
	ConfigFile string
	// Kubeconfig to reach the API server; empty uses that of the configuration, or the service account inside a cluster.
	Kubeconfig string
	// LeaderElect lets one of several replicas work, if the configuration does not switch that off.
	LeaderElect bool
	// DryRun evicts nothing, whatever the configuration says.
	DryRun bool
	// BindAddress and SecurePort serve health, metrics and diagnostics, over TLS.
	BindAddress net.IP
	SecurePort  int
	// CertSecret is NAMESPACE/NAME of the Secret with the serving certificate; empty for a self-signed one.
	CertSecret string
	// SchedulerEndpoint is the URL of koord-scheduler's diagnostics port, which confirms planned moves; empty asks nothing.
	SchedulerEndpoint string
	// SchedulerCAFile is the CA file for it; empty uses the CA in the Secret of the serving certificate.
	SchedulerCAFile string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{LeaderElect: true, BindAddress: net.IPv4zero, SecurePort: DefaultSecurePort}
}

// AddFlags registers the options as flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.ConfigFile, "config", o.ConfigFile, "Path to a DeschedulerConfiguration (descheduler/v1alpha2)")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Path to a kubeconfig; empty uses clientConnection.kubeconfig of the configuration, or the in-cluster configuration")
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect,
		"Deschedule only while holding the lease; false, here or in the configuration, is for a single replica")
	flags.BoolVar(&o.DryRun, "dry-run", o.DryRun, "Log and count what would be evicted, and evict nothing; as dryRun in the configuration")
	flags.IPVar(&o.BindAddress, "bind-address", o.BindAddress, "Address for --secure-port")
	flags.IntVar(&o.SecurePort, "secure-port", o.SecurePort,
		"Port for health, metrics and diagnostics, over HTTPS; all but health with authentication and authorization")
	flags.StringVar(&o.CertSecret, "cert-secret", o.CertSecret,
		"Secret, as NAMESPACE/NAME, with the serving certificate; changes are followed. Empty uses a self-signed certificate")
	flags.StringVar(&o.SchedulerEndpoint, "scheduler-endpoint", o.SchedulerEndpoint,
		"URL of koord-scheduler's diagnostics port, which confirms the moves that LoadAwareRebalancing plans; without it, schedulerReview Required moves nothing")
	flags.StringVar(&o.SchedulerCAFile, "scheduler-ca-file", o.SchedulerCAFile, "CA file for koord-scheduler; empty uses the CA in --cert-secret")
}

// Validate reports everything that is wrong at once.
func (o *Options) Validate() error {
	var errs []error
	if o.ConfigFile == "" {
		errs = append(errs, errors.New("--config must name a file with a DeschedulerConfiguration"))
	}
	if o.BindAddress == nil {
		errs = append(errs, errors.New("--bind-address must be an IP address"))
	}
	if o.SecurePort < 1 || o.SecurePort > 65535 {
		errs = append(errs, fmt.Errorf("--secure-port %d must be between 1 and 65535", o.SecurePort))
	}
	if _, _, err := o.port().Secret(); err != nil {
		errs = append(errs, err)
	}
	if o.SchedulerEndpoint != "" && o.SchedulerCAFile == "" && o.CertSecret == "" {
		errs = append(errs, errors.New("--scheduler-endpoint needs --scheduler-ca-file, or --cert-secret of which it uses the CA"))
	}
	return errors.Join(errs...)
}

// port is the secured port.
func (o *Options) port() securedport.Options {
	return securedport.Options{Component: component, BindAddress: o.BindAddress, Port: o.SecurePort, CertSecret: o.CertSecret}
}
