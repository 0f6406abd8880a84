package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/bridge/exchange"
	"koordinator.sh/koord/bridge/slurm"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
	"koordinator.sh/koord/securedport"
)

// component is the name of the program in logs, leases and requests.
const component = "koord-bridge"

// DefaultSecurePort of koord-bridge.
const DefaultSecurePort = 10262

// How ResourceManagers are called.
const (
	protocolRPC  = "rpc"
	protocolREST = "rest"
)

// Options are the flags of koord-bridge.
type Options struct {
	// Kubeconfig to reach the API server; empty uses the service account inside a cluster.
	Kubeconfig string
	// LeaderElect lets one of several replicas work, by a lease in LeaseNamespace.
	LeaderElect    bool
	LeaseNamespace string
	// BindAddress and SecurePort serve health and metrics, over TLS.
	BindAddress net.IP
	SecurePort  int
	// CertSecret is NAMESPACE/NAME of the Secret with the serving certificate; empty for a self-signed one.
	CertSecret string
	// QPS and Burst bound requests to the API server.
	QPS   float32
	Burst int

	// YARNConfDir holds core-site.xml, yarn-site.xml and CLUSTER.yarn-site.xml; empty for no YARN.
	YARNConfDir string
	// YARNUser is the user that ResourceManagers are called as, and YARNTokenFile a file with a token for it.
	YARNUser, YARNTokenFile string
	// YARNProtocol is rpc or rest, and YARNCAFile verifies the web servers of rest; empty for the authorities of the system.
	YARNProtocol, YARNCAFile string

	// Slurm is true for a Slurm cluster, whose slurm.conf is at SlurmConf, where the default of Slurm's programs is not meant.
	Slurm     bool
	SlurmConf string
	// SlurmPartitionPrefix and the name of a node make the name of the partition that has this node alone.
	SlurmPartitionPrefix string

	// SharePercent of what is free belongs to the engine while nobody waits for it.
	SharePercent int64
	// OvercommitTimeout is how long containers beyond a capacity may run on.
	OvercommitTimeout time.Duration
	// SyncPeriod is how often engines are read.
	SyncPeriod time.Duration
	// SettlePeriod is how long a node must have offered less to pods before an engine gets the difference.
	SettlePeriod time.Duration
	// EngineTimeout bounds a request to an engine.
	EngineTimeout time.Duration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	user := os.Getenv("HADOOP_USER_NAME")
	if user == "" {
		user = "yarn"
	}
	return &Options{
		LeaderElect: true, LeaseNamespace: "koordinator-system", BindAddress: net.IPv4zero, SecurePort: DefaultSecurePort, QPS: 200, Burst: 400,
		YARNConfDir: os.Getenv("HADOOP_CONF_DIR"), YARNUser: user, YARNProtocol: protocolRPC, YARNTokenFile: os.Getenv("HADOOP_TOKEN_FILE_LOCATION"),
		SlurmConf: os.Getenv("SLURM_CONF"), SlurmPartitionPrefix: slurm.DefaultPartitionPrefix,
		SharePercent: 50, OvercommitTimeout: 30 * time.Second, SyncPeriod: time.Second, SettlePeriod: 300 * time.Millisecond, EngineTimeout: 5 * time.Second,
	}
}

// AddFlags registers the options as flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path to a kubeconfig; empty uses the in-cluster configuration")
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "Work only while holding the lease; false is for a single replica")
	flags.StringVar(&o.LeaseNamespace, "lease-namespace", o.LeaseNamespace, "Namespace of the lease")
	flags.IPVar(&o.BindAddress, "bind-address", o.BindAddress, "Address for --secure-port")
	flags.IntVar(&o.SecurePort, "secure-port", o.SecurePort,
		"Port for health and metrics, over HTTPS; metrics with authentication and authorization. 0 is any free port")
	flags.StringVar(&o.CertSecret, "cert-secret", o.CertSecret,
		"Secret, as NAMESPACE/NAME, with the serving certificate; changes are followed. Empty uses a self-signed certificate")
	flags.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Requests a second to the API server")
	flags.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Requests to the API server at once")
	flags.StringVar(&o.YARNConfDir, "yarn-conf-dir", o.YARNConfDir,
		"Directory with core-site.xml, yarn-site.xml and, for further clusters, CLUSTER.yarn-site.xml; $HADOOP_CONF_DIR by default")
	flags.StringVar(&o.YARNUser, "yarn-user", o.YARNUser, "User that ResourceManagers are called as; it must be in yarn.admin.acl. $HADOOP_USER_NAME by default")
	flags.StringVar(&o.YARNTokenFile, "yarn-token-file", o.YARNTokenFile,
		"File with a delegation token for the ResourceManagers' client service; $HADOOP_TOKEN_FILE_LOCATION by default")
	flags.StringVar(&o.YARNProtocol, "yarn-protocol", o.YARNProtocol,
		"How ResourceManagers are called: rpc, or rest for their REST API, which changes nodes since Hadoop 3.3 and takes no tokens")
	flags.StringVar(&o.YARNCAFile, "yarn-ca-file", o.YARNCAFile, "PEM file with the authorities that verify ResourceManagers with yarn.http.policy HTTPS_ONLY; those of the system by default")
	flags.BoolVar(&o.Slurm, "slurm", o.Slurm, "Share nodes with a Slurm cluster, by its programs scontrol, squeue and scancel")
	flags.StringVar(&o.SlurmConf, "slurm-conf", o.SlurmConf, "Path of slurm.conf; $SLURM_CONF by default, and without it what Slurm's programs use")
	flags.StringVar(&o.SlurmPartitionPrefix, "slurm-partition-prefix", o.SlurmPartitionPrefix,
		"Begins the names of the partitions that have one node each; the name of the node in Slurm follows")
	flags.Int64Var(&o.SharePercent, "share-percent", o.SharePercent,
		"Percent of what is free on a node that the engine gets while nobody waits for it; otherwise the side that does gets it")
	flags.DurationVar(&o.OvercommitTimeout, "overcommit-timeout", o.OvercommitTimeout, "How long containers beyond a capacity that shrank may run on")
	flags.DurationVar(&o.SyncPeriod, "sync-period", o.SyncPeriod, "How often engines are read; changes in Kubernetes are told at once")
	flags.DurationVar(&o.SettlePeriod, "settle-period", o.SettlePeriod,
		"How long a node must have offered less to pods before an engine gets the difference; longer than a scheduler takes to bind a pod")
	flags.DurationVar(&o.EngineTimeout, "engine-timeout", o.EngineTimeout, "How long a request to an engine may take")
}

// Validate reports everything that is wrong at once.
func (o *Options) Validate() error {
	var errs []error
	if o.YARNConfDir == "" && !o.Slurm {
		errs = append(errs, errors.New("--yarn-conf-dir must name a directory with yarn-site.xml, or --slurm must be set"))
	}
	if o.YARNProtocol != protocolRPC && o.YARNProtocol != protocolREST {
		errs = append(errs, fmt.Errorf("--yarn-protocol %q must be %s or %s", o.YARNProtocol, protocolRPC, protocolREST))
	}
	if o.Slurm && o.SlurmPartitionPrefix == "" {
		errs = append(errs, errors.New("--slurm-partition-prefix must not be empty"))
	}
	if o.BindAddress == nil {
		errs = append(errs, errors.New("--bind-address must be an IP address"))
	}
	if o.SecurePort < 0 || o.SecurePort > 65535 {
		errs = append(errs, fmt.Errorf("--secure-port %d must be between 0 and 65535", o.SecurePort))
	}
	if o.SharePercent < 0 || o.SharePercent > 100 {
		errs = append(errs, fmt.Errorf("--share-percent %d must be between 0 and 100", o.SharePercent))
	}
	if o.OvercommitTimeout < time.Second {
		errs = append(errs, fmt.Errorf("--overcommit-timeout %v must be at least 1s: work would be ended at once", o.OvercommitTimeout))
	}
	for name, value := range map[string]time.Duration{"sync-period": o.SyncPeriod, "settle-period": o.SettlePeriod, "engine-timeout": o.EngineTimeout} {
		if value < 10*time.Millisecond {
			errs = append(errs, fmt.Errorf("--%s %v must be at least 10ms", name, value))
		}
	}
	if _, _, err := o.port().Secret(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *Options) port() securedport.Options {
	return securedport.Options{Component: component, BindAddress: o.BindAddress, Port: o.SecurePort, CertSecret: o.CertSecret}
}

const (
	// gather is how long changes in Kubernetes are gathered before a round.
	gather = 50 * time.Millisecond
	// confirmRounds is how many times SyncPeriod a capacity may take to be confirmed.
	confirmRounds = 5
	// hysteresisPercent and patience keep small changes from being told each second.
	hysteresisPercent = 5
	patience          = 10 * time.Second
)

// settings of the exchange.
func (o *Options) settings() exchange.Settings {
	return exchange.Settings{
		Args: thirdparty.Args{
			SharePercent: o.SharePercent, Settle: o.SettlePeriod, Confirm: max(confirmRounds*o.SyncPeriod, o.EngineTimeout+o.SyncPeriod),
			HysteresisPercent: hysteresisPercent, Patience: patience, Interval: o.SyncPeriod,
		},
		Deadline: o.OvercommitTimeout, Period: o.SyncPeriod, Gather: gather,
	}
}
