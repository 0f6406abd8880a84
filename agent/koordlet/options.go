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

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kubelet"
	"koordinator.sh/koord/agent/serving"
	"koordinator.sh/koord/decision/core/predict"
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
	// KubeletDirectory is kubelet's --root-dir, and KubeletConfiguration its configuration, config.yaml in there by default.
	KubeletDirectory, KubeletConfiguration string
	// AcceleratorDirectory has files in which other daemons list accelerators, and GPUReader is the program that reads NVIDIA's,
	// koord-nvml beside the agent by default.
	AcceleratorDirectory, GPUReader string
	// StateDirectory is made when it does not exist.
	StateDirectory string
	// SamplePeriod between readings, 100 ms to 1 min.
	SamplePeriod time.Duration
	// Predictor is the profile by which prodReclaimable is predicted, koordinator by default.
	Predictor string
	// Alarm has the agent act at once when services need more CPU, and not only when the next reading is due.
	Alarm bool
	// FeatureGates switch features on or off; those that are not named are as by default.
	FeatureGates map[string]bool
	// ReadOnly measures and reports, and writes no cgroup.
	ReadOnly bool
	// EvictInDanger lets features that evict for memory delete a pod against its PodDisruptionBudget, when the kernel is about to kill one
	// that it chooses itself. It needs permission to delete pods.
	EvictInDanger bool
	// CopilotSockets are those of agents of schedulers outside of Kubernetes, whose containers are evicted beside pods; none by default.
	CopilotSockets []string
	// Serving is the secured port. Its directory, name, API server and clock are those of the agent.
	Serving *serving.Options
	// Hooks say how container runtimes reach the agent.
	Hooks HookOptions
	// Clock is real time.
	Clock clock.WithTicker

	// layout of the machine's cgroups, which is found out at the start.
	layout cgroup.Layout
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		NodeName: os.Getenv("NODE_NAME"), Proc: "/proc", Sys: "/sys", Cgroup: "/sys/fs/cgroup", StateDirectory: DefaultStateDirectory,
		KubeletCgroupRoot: "/", KubeletDirectory: "/var/lib/kubelet", AcceleratorDirectory: "/var/run/koordlet/xpu-device-infos",
		SamplePeriod: DefaultSamplePeriod, Alarm: true, Predictor: compatible, Clock: clock.RealClock{}, Serving: serving.NewOptions(),
		Hooks: NewHookOptions(),
	}
}

// AddFlags adds the flags of the agent.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.NodeName, "node-name", o.NodeName, "Name of the node that koordlet runs on; the environment variable NODE_NAME by default")
	flags.StringVar(&o.Proc, "proc", o.Proc, "Path of the host's /proc")
	flags.StringVar(&o.Sys, "sys", o.Sys, "Path of the host's /sys")
	flags.StringVar(&o.Cgroup, "cgroup-root", o.Cgroup, "Path of the host's /sys/fs/cgroup")
	flags.StringVar(&o.KubeletCgroupRoot, "kubelet-cgroup-root", o.KubeletCgroupRoot, "Kubelet's own --cgroup-root")
	flags.StringVar(&o.KubeletDirectory, "kubelet-dir", o.KubeletDirectory, "Kubelet's own --root-dir")
	flags.StringVar(&o.KubeletConfiguration, "kubelet-config", o.KubeletConfiguration, "Kubelet's own --config; config.yaml of --kubelet-dir by default")
	flags.StringVar(&o.AcceleratorDirectory, "accelerator-dir", o.AcceleratorDirectory, "Directory of files in which other daemons list accelerators")
	flags.StringVar(&o.GPUReader, "gpu-reader", o.GPUReader, "Program that reads NVIDIA GPUs; by default koord-nvml in the same directory")
	flags.StringVar(&o.StateDirectory, "state-dir", o.StateDirectory, "Directory for state that must survive a restart")
	flags.DurationVar(&o.SamplePeriod, "sample-period", o.SamplePeriod, "Interval between samples of the node's usage, 100ms to 1m")
	flags.StringVar(&o.Predictor, "predictor", o.Predictor, "Profile that predicts what prod pods will not use; koordctl predict replay compares profiles")
	flags.BoolVar(&o.Alarm, "alarm", o.Alarm, "Hold best-effort pods back at once when services need more CPU, without waiting for the next sample")
	flags.Var(cliflag.NewMapStringBool(&o.FeatureGates), "feature-gates", "Feature gates, as NAME=true,NAME=false: "+strings.Join(gates(), ", "))
	flags.BoolVar(&o.ReadOnly, "read-only", o.ReadOnly, "Only measure and report, do not write cgroups")
	flags.BoolVar(&o.EvictInDanger, "evict-in-danger", o.EvictInDanger, "Delete a pod against its PodDisruptionBudget when memory is about to run out and budgets protect all candidates")
	flags.StringSliceVar(&o.CopilotSockets, "copilot-sockets", o.CopilotSockets, "Unix sockets of the agents of other schedulers, such as koord-yarn-agent, whose containers are evicted beside pods")
	o.Serving.AddFlags(flags)
	o.Hooks.AddFlags(flags)
}

// validate returns all that is wrong.
func (o *Options) validate() error {
	problems := []error{o.Serving.Validate(), o.Hooks.validate()}
	if o.RESTConfig == nil {
		problems = append(problems, errors.New("no API server is configured"))
	}
	if o.NodeName == "" {
		problems = append(problems, errors.New("node name is required: set --node-name or the environment variable NODE_NAME"))
	}
	if o.SamplePeriod < 100*time.Millisecond || o.SamplePeriod > time.Minute {
		problems = append(problems, fmt.Errorf("sample period %s must lie between 100ms and 1m", o.SamplePeriod))
	}
	if _, err := predict.ProfileNamed(o.Predictor); err != nil {
		problems = append(problems, err)
	}
	for i, socket := range o.CopilotSockets {
		if !filepath.IsAbs(socket) || slices.Contains(o.CopilotSockets[:i], socket) {
			problems = append(problems, fmt.Errorf("--copilot-sockets: %q must be an absolute path that is named once", socket))
		}
	}
	for name := range o.FeatureGates {
		if !slices.Contains(gates(), name) {
			problems = append(problems, fmt.Errorf("unknown feature gate %q, want one of %s", name, strings.Join(gates(), ", ")))
		}
	}
	return errors.Join(problems...)
}

func (o *Options) originalsFile() string { return filepath.Join(o.StateDirectory, "originals.json") }

func (o *Options) evictionsFile() string { return filepath.Join(o.StateDirectory, "evictions.json") }

func (o *Options) predictionFile() string { return filepath.Join(o.StateDirectory, "prediction.json") }

func (o *Options) kubeletState() string {
	return filepath.Join(o.KubeletDirectory, kubelet.StateFile)
}

func (o *Options) kubeletConfiguration() string {
	if o.KubeletConfiguration != "" {
		return o.KubeletConfiguration
	}
	return filepath.Join(o.KubeletDirectory, kubelet.ConfigurationFile)
}

func (o *Options) gpuReader() string {
	if o.GPUReader != "" {
		return o.GPUReader
	}
	own, err := os.Executable()
	if err != nil {
		return gpuReader
	}
	return filepath.Join(filepath.Dir(own), gpuReader)
}
