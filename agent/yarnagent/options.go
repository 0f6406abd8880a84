package yarnagent

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
)

// DefaultEndpoint is the socket that koordlet asks.
const DefaultEndpoint = "/var/run/yarn-copilot/yarn-copilot.sock"

// Capabilities are those of Linux that the agent needs as root: to read the environment of processes of other users, which is a file that
// only its owner may open, and to end them.
var Capabilities = []string{"DAC_READ_SEARCH", "KILL", "SYS_PTRACE"}

// Options of the agent.
type Options struct {
	// ServerEndpoint is the unix socket that is served.
	ServerEndpoint string
	// NodeManagerEndpoint is HOST:PORT of the NodeManager's web services.
	NodeManagerEndpoint string
	// CgroupRoot and Proc are where the machine's trees are mounted.
	CgroupRoot, Proc string
	// ContainerCgroupPath is the cgroup that containers are in, relative to a hierarchy.
	ContainerCgroupPath string
	// KubeletCgroupRoot is kubelet's --cgroup-root.
	KubeletCgroupRoot string
	// SyncMemoryCgroup moves containers that the NodeManager put into a CPU cgroup alone into the other hierarchies, too.
	SyncMemoryCgroup bool
	// VCoresPerCore is how many vcores of the NodeManager stand for one core, 0.01 to 100.
	VCoresPerCore float64
	// SyncCgroupPeriod is how often processes of containers are looked for, 1s to 10m.
	SyncCgroupPeriod time.Duration
	// KillGracePeriod is how long processes have to end after SIGTERM, at most 2s: koordlet waits 10s for a kill, SIGKILL included.
	KillGracePeriod time.Duration
	// Clock is real time.
	Clock clock.WithTicker
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		ServerEndpoint: DefaultEndpoint, NodeManagerEndpoint: "localhost:8042", CgroupRoot: "/sys/fs/cgroup", Proc: "/proc", KubeletCgroupRoot: "/",
		SyncMemoryCgroup: true, VCoresPerCore: 1, SyncCgroupPeriod: 10 * time.Second, KillGracePeriod: 250 * time.Millisecond, Clock: clock.RealClock{},
	}
}

// AddFlags adds the flags of the agent. Those that upstream's agent has have its names.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.ServerEndpoint, "server-endpoint", o.ServerEndpoint, "Unix socket to serve; koordlet's --copilot-sockets names it")
	flags.StringVar(&o.NodeManagerEndpoint, "node-manager-endpoint", o.NodeManagerEndpoint, "HOST:PORT of the NodeManager's web services")
	flags.StringVar(&o.CgroupRoot, "cgroup-root-dir", o.CgroupRoot, "Path of the host's /sys/fs/cgroup")
	flags.StringVar(&o.Proc, "proc", o.Proc, "Path of the host's /proc; processes are ended by the numbers in it")
	flags.StringVar(&o.ContainerCgroupPath, "yarn-container-cgroup-path", o.ContainerCgroupPath,
		"Cgroup that the containers are in, relative to a hierarchy; hadoop-yarn below that of best-effort pods by default")
	flags.StringVar(&o.KubeletCgroupRoot, "kubelet-cgroup-root", o.KubeletCgroupRoot, "Kubelet's own --cgroup-root")
	flags.BoolVar(&o.SyncMemoryCgroup, "sync-memory-cgroup", o.SyncMemoryCgroup,
		"Move containers that the NodeManager put into a CPU cgroup alone, as that of Hadoop 2 does, into the other hierarchies")
	flags.Float64Var(&o.VCoresPerCore, "vcores-per-core", o.VCoresPerCore,
		"How many vcores stand for one core: yarn.nodemanager.resource.pcores-vcores-multiplier of the cluster, 0.01 to 100")
	flags.DurationVar(&o.SyncCgroupPeriod, "sync-cgroup-period", o.SyncCgroupPeriod, "Interval between looking for processes of containers, 1s to 10m")
	flags.DurationVar(&o.KillGracePeriod, "kill-grace-period", o.KillGracePeriod, "How long the processes of a container have to end after SIGTERM, at most 2s")
}

// Validate returns all that is wrong.
func (o *Options) Validate() error {
	var problems []error
	if !filepath.IsAbs(o.ServerEndpoint) {
		problems = append(problems, fmt.Errorf("--server-endpoint %q must be an absolute path", o.ServerEndpoint))
	}
	if _, _, err := net.SplitHostPort(o.NodeManagerEndpoint); err != nil {
		problems = append(problems, fmt.Errorf("--node-manager-endpoint %q must be HOST:PORT: %w", o.NodeManagerEndpoint, err))
	}
	if !(o.VCoresPerCore >= 0.01 && o.VCoresPerCore <= 100) { // in this form also for NaN
		problems = append(problems, fmt.Errorf("--vcores-per-core %g must be between 0.01 and 100", o.VCoresPerCore))
	}
	if o.SyncCgroupPeriod < time.Second || o.SyncCgroupPeriod > 10*time.Minute {
		problems = append(problems, fmt.Errorf("--sync-cgroup-period %s must be between 1s and 10m", o.SyncCgroupPeriod))
	}
	if o.KillGracePeriod < 0 || o.KillGracePeriod > 2*time.Second {
		problems = append(problems, fmt.Errorf("--kill-grace-period %s must be between 0s and 2s", o.KillGracePeriod))
	}
	return errors.Join(problems...)
}

// containerCgroup is the cgroup that containers are in, which must be below that of best-effort pods.
func (o *Options) containerCgroup(layout cgroup.Layout) (string, error) {
	if o.ContainerCgroupPath == "" {
		return layout.HadoopYARN(), nil
	}
	at, err := layout.Foreign(o.ContainerCgroupPath)
	if err != nil {
		return "", fmt.Errorf("--yarn-container-cgroup-path: %w", err)
	}
	return at, nil
}
