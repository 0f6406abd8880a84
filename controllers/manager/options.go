package manager

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/api/configuration"
)

// leaseName is the lease by which the replicas agree on a leader.
const leaseName = "koordinator-manager"

// Options are the flags of koord-manager.
type Options struct {
	// Kubeconfig to reach the API server; empty inside a cluster.
	Kubeconfig string
	// KubeAPIQPS and KubeAPIBurst bound the requests to the API server.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// ConfigNamespace and SLOConfigName name the configuration. Certificates and the lease lie in the same namespace.
	ConfigNamespace string
	SLOConfigName   string
	// LeaderElect lets replicas agree on one that runs the controllers.
	LeaderElect bool
	// MetricsBindAddress serves /metrics, over TLS and to authorized clients only when MetricsSecure; 0 disables it.
	MetricsBindAddress string
	MetricsSecure      bool
	// HealthProbeBindAddress serves /healthz and /readyz over HTTP; 0 disables it.
	HealthProbeBindAddress string
	// DiagnosticsBindAddress and DiagnosticsPort serve the diagnostics API.
	DiagnosticsBindAddress net.IP
	DiagnosticsPort        int
	// SchedulerEndpoint is where koord-scheduler answers questions about pods.
	SchedulerEndpoint string
	// SchedulerCAFile verifies it; empty takes the bundle of its serving certificate's Secret.
	SchedulerCAFile string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		KubeAPIQPS:             200,
		KubeAPIBurst:           400,
		ConfigNamespace:        configuration.DefaultNamespace,
		SLOConfigName:          configuration.DefaultConfigMapName,
		LeaderElect:            true,
		MetricsBindAddress:     ":8080",
		MetricsSecure:          true,
		HealthProbeBindAddress: ":8000",
		DiagnosticsBindAddress: net.IPv4zero,
		DiagnosticsPort:        8443,
		SchedulerEndpoint:      "https://koord-scheduler." + configuration.DefaultNamespace + ".svc:10260",
	}
}

// AddFlags registers the options as flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Kubeconfig to reach the API server; empty inside a cluster")
	flags.Float32Var(&o.KubeAPIQPS, "kube-api-qps", o.KubeAPIQPS, "Requests a second to the API server")
	flags.IntVar(&o.KubeAPIBurst, "kube-api-burst", o.KubeAPIBurst, "Requests to the API server that may exceed the rate for a moment")
	flags.StringVar(&o.ConfigNamespace, "config-namespace", o.ConfigNamespace, "Namespace of the configuration, the certificates and the lease")
	flags.StringVar(&o.SLOConfigName, "slo-config-name", o.SLOConfigName, "Name of the ConfigMap with the configuration")
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "Run the controllers on one replica only, chosen by lease "+leaseName)
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "Address of /metrics; 0 disables it")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", o.MetricsSecure, "Serve /metrics over TLS, and only to clients that may get it")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", o.HealthProbeBindAddress, "Address of /healthz and /readyz; 0 disables it")
	flags.IPVar(&o.DiagnosticsBindAddress, "diagnostics-bind-address", o.DiagnosticsBindAddress, "Address of the diagnostics API")
	flags.IntVar(&o.DiagnosticsPort, "diagnostics-port", o.DiagnosticsPort, "Port of the diagnostics API")
	flags.StringVar(&o.SchedulerEndpoint, "scheduler-endpoint", o.SchedulerEndpoint, "URL where koord-scheduler answers questions about pods")
	flags.StringVar(&o.SchedulerCAFile, "scheduler-ca-file", o.SchedulerCAFile, "Certificates that verify koord-scheduler; empty takes them from its Secret")
}

// Validate reports everything that is wrong at once.
func (o *Options) Validate() error {
	var errs []error
	if !(o.KubeAPIQPS > 0) || o.KubeAPIBurst < 1 {
		errs = append(errs, fmt.Errorf("--kube-api-qps %g and --kube-api-burst %d must be positive", o.KubeAPIQPS, o.KubeAPIBurst))
	}
	if o.ConfigNamespace == "" || o.SLOConfigName == "" {
		errs = append(errs, errors.New("--config-namespace and --slo-config-name must not be empty"))
	}
	if o.DiagnosticsPort < 1 || o.DiagnosticsPort > 65535 {
		errs = append(errs, fmt.Errorf("--diagnostics-port %d must be between 1 and 65535", o.DiagnosticsPort))
	}
	return errors.Join(errs...)
}
