package koordlet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
)

// Defaults of the options.
const (
	// DefaultSamplePeriod is the time between two readings of the machine.
	DefaultSamplePeriod = time.Second
	// DefaultQPS bounds the writes per second to the API server.
	DefaultQPS = 5
	// DefaultStateDirectory is where the agent keeps what must outlive it.
	DefaultStateDirectory = "/var/lib/koordlet"
	// auditEntries is how many writes the audit log remembers.
	auditEntries = 8192
)

// Options of the agent.
type Options struct {
	// RESTConfig reaches the API server.
	RESTConfig *rest.Config
	// NodeName is the node that this machine is; the environment's NODE_NAME by default.
	NodeName string
	// Proc, Sys and Cgroup are where the machine's trees are mounted.
	Proc, Sys, Cgroup string
	// KubeletCgroupRoot is kubelet's --cgroup-root.
	KubeletCgroupRoot string
	// StateDirectory is made when it does not exist.
	StateDirectory string
	// SamplePeriod between readings, 100 ms to 1 min.
	SamplePeriod time.Duration
	// FeatureGates switch features on or off; those that are not named are as by default.
	FeatureGates map[string]bool
	// ReadOnly measures and reports, and writes no cgroup.
	ReadOnly bool
	// Clock is real time.
	Clock clock.WithTicker
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		NodeName: os.Getenv("NODE_NAME"), Proc: "/proc", Sys: "/sys", Cgroup: "/sys/fs/cgroup", StateDirectory: DefaultStateDirectory,
		KubeletCgroupRoot: "/", SamplePeriod: DefaultSamplePeriod, Clock: clock.RealClock{},
	}
}

// AddFlags adds the flags of the agent.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.NodeName, "node-name", o.NodeName, "Node that this machine is; NODE_NAME of the environment by default")
	flags.StringVar(&o.Proc, "proc", o.Proc, "Where the host's /proc is")
	flags.StringVar(&o.Sys, "sys", o.Sys, "Where the host's /sys is")
	flags.StringVar(&o.Cgroup, "cgroup-root", o.Cgroup, "Where the host's /sys/fs/cgroup is")
	flags.StringVar(&o.KubeletCgroupRoot, "kubelet-cgroup-root", o.KubeletCgroupRoot, "Kubelet's own --cgroup-root")
	flags.StringVar(&o.StateDirectory, "state-dir", o.StateDirectory, "Directory for what must outlive the agent")
	flags.DurationVar(&o.SamplePeriod, "sample-period", o.SamplePeriod, "Time between readings of the machine, 100ms to 1m")
	flags.Var(cliflag.NewMapStringBool(&o.FeatureGates), "feature-gates", "Features to switch on or off, as NAME=true,NAME=false: "+strings.Join(gates(), ", "))
	flags.BoolVar(&o.ReadOnly, "read-only", o.ReadOnly, "Measure and report, and write no cgroup")
}

// validate returns all that is wrong.
func (o *Options) validate() error {
	var problems []error
	if o.RESTConfig == nil {
		problems = append(problems, errors.New("no API server is given"))
	}
	if o.NodeName == "" {
		problems = append(problems, errors.New("no node is named: set --node-name, or NODE_NAME of the environment"))
	}
	if o.SamplePeriod < 100*time.Millisecond || o.SamplePeriod > time.Minute {
		problems = append(problems, fmt.Errorf("sample period %s must lie between 100ms and 1m", o.SamplePeriod))
	}
	for name := range o.FeatureGates {
		if !slices.Contains(gates(), name) {
			problems = append(problems, fmt.Errorf("no feature is called %q: there are %s", name, strings.Join(gates(), ", ")))
		}
	}
	return errors.Join(problems...)
}

func (o *Options) originals() string { return filepath.Join(o.StateDirectory, "originals.json") }
