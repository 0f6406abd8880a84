package serving

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// DefaultPort is the one that Koordinator's own node agent has.
const DefaultPort = 9316

// Options of the secured port.
type Options struct {
	// BindAddress and SecurePort to listen on. Port 0 serves nothing; -1 lets the system choose one.
	BindAddress net.IP
	SecurePort  int
	// CertFile and KeyFile are the serving certificate and its key; both empty for one that the agent makes itself and keeps. They
	// are read again when they change.
	CertFile, KeyFile string
	// Profiling serves pprof to users with permission to get /debug/pprof.
	Profiling bool

	// Directory keeps the certificate that the agent makes; empty keeps it in memory.
	Directory string
	// Name of the node, for the certificate.
	Name string
	// RESTConfig of the API server that authenticates and authorizes clients.
	RESTConfig *rest.Config
	// Clock is real time.
	Clock clock.WithTicker
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{BindAddress: net.IPv4zero, SecurePort: DefaultPort, Clock: clock.RealClock{}}
}

// AddFlags adds the flags of the port.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.IPVar(&o.BindAddress, "bind-address", o.BindAddress, "Address that the secured port listens on")
	flags.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "Port for metrics, the audit log and explanations, over TLS and to authorized clients only; 0 serves none, -1 uses any free port")
	flags.StringVar(&o.CertFile, "tls-cert-file", o.CertFile, "Serving certificate; by default koordlet creates one in the state directory")
	flags.StringVar(&o.KeyFile, "tls-private-key-file", o.KeyFile, "Key of the serving certificate")
	flags.BoolVar(&o.Profiling, "profiling", o.Profiling, "Serve profiles below /debug/pprof to authorized clients")
}

// Validate returns all that is wrong.
func (o *Options) Validate() error {
	var problems []error
	if o.SecurePort < -1 || o.SecurePort > 65535 {
		problems = append(problems, fmt.Errorf("--secure-port %d must be between -1 and 65535", o.SecurePort))
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		problems = append(problems, errors.New("--tls-cert-file and --tls-private-key-file must be set together"))
	}
	return errors.Join(problems...)
}
