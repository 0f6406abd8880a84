package runtimeproxy

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
)

// Mode is what the runtime speaks.
type Mode string

const (
	// Containerd stands for every runtime that speaks CRI.
	Containerd Mode = "Containerd"
	// docker is what configurations of other proxies have for dockerd; it is refused.
	docker Mode = "Docker"
)

// refuse explains why a mode cannot be used, and what can be instead; nil for one that can.
func (m Mode) refuse() error {
	switch {
	case m == Containerd:
		return nil
	case strings.EqualFold(string(m), string(docker)):
		return finding.Wrap(fmt.Errorf("backend-runtime-mode %q: dockerd does not support CRI", m), finding.InvalidArgument,
			"run cri-dockerd, which kubelet requires for Docker, and use --backend-runtime-mode=Containerd --remote-runtime-service-endpoint=/var/run/cri-dockerd.sock")
	}
	return finding.Wrap(fmt.Errorf("backend-runtime-mode %.40q must be Containerd", m), finding.InvalidArgument,
		"omit --backend-runtime-mode: the default is for all CRI runtimes")
}

// Bounds of HookTimeout.
const (
	leastTimeout = 10 * time.Millisecond
	mostTimeout  = time.Minute
)

// Options of a Proxy.
type Options struct {
	// Endpoint is the Unix socket that kubelet is configured with, RuntimeEndpoint the runtime's.
	Endpoint, RuntimeEndpoint string
	Mode                      Mode
	// SkipKey and SkipValue are a label of pods that no server of hooks is asked about.
	SkipKey, SkipValue string
	// HookDirectory has the registrations.
	HookDirectory string
	// HookTimeout is how long one server of hooks may take for one answer, 10 ms to 1 min.
	HookTimeout time.Duration
	// StateDirectory keeps what is known of pods over a restart. It holds environments of containers, which may be secret: it
	// belongs in memory, where /run is.
	StateDirectory string
	// MetricsAddress on a loopback interface; empty for none.
	MetricsAddress string
	// Clock is real time.
	Clock clock.WithTicker
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		Endpoint:        "/var/run/koord-runtimeproxy/runtimeproxy.sock",
		RuntimeEndpoint: "/var/run/containerd/containerd.sock", Mode: Containerd,
		SkipKey: "runtimeproxy.koordinator.sh/skip-hookserver", SkipValue: "true", HookDirectory: "/etc/runtime/hookserver.d",
		HookTimeout: 5 * time.Second, StateDirectory: "/var/run/koord-runtimeproxy/state", Clock: clock.RealClock{},
	}
}

// AddFlags adds the flags of the proxy.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Endpoint, "koord-runtimeproxy-endpoint", o.Endpoint, "Unix socket that kubelet connects to")
	flags.StringVar(&o.RuntimeEndpoint, "remote-runtime-service-endpoint", o.RuntimeEndpoint, "Unix socket of the container runtime")
	flags.StringVar((*string)(&o.Mode), "backend-runtime-mode", string(o.Mode), "Protocol of the container runtime; only Containerd (CRI) is supported")
	flags.StringVar(&o.SkipKey, "runtime-hook-server-key", o.SkipKey, "Label key of pods that hooks are not called for")
	flags.StringVar(&o.SkipValue, "runtime-hook-server-val", o.SkipValue, "Label value of pods that hooks are not called for")
	flags.StringVar(&o.HookDirectory, "runtime-hook-server-directory", o.HookDirectory, "Directory with the registrations of hook servers")
	flags.DurationVar(&o.HookTimeout, "runtime-hook-timeout", o.HookTimeout, "Timeout of a call to a hook server, 10ms to 1m")
	flags.StringVar(&o.StateDirectory, "state-dir", o.StateDirectory, "Directory of the checkpoint of pods and containers; it may contain secrets")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "Loopback address and port for /metrics; empty disables it")
}

// validate returns all that is wrong, and drops the scheme of endpoints.
func (o *Options) validate() error {
	var problems []error
	for _, endpoint := range []*string{&o.Endpoint, &o.RuntimeEndpoint} {
		*endpoint = strings.TrimPrefix(*endpoint, "unix://")
		if !filepath.IsAbs(*endpoint) {
			problems = append(problems, fmt.Errorf("endpoint %q must be the absolute path of a socket", *endpoint))
		}
	}
	if o.Endpoint == o.RuntimeEndpoint {
		problems = append(problems, fmt.Errorf("endpoint %q is already used by the container runtime", o.Endpoint))
	}
	for _, directory := range []string{o.HookDirectory, o.StateDirectory} {
		if !filepath.IsAbs(directory) {
			problems = append(problems, fmt.Errorf("directory %q must be an absolute path", directory))
		}
	}
	problems = append(problems, o.Mode.refuse())
	if o.HookTimeout < leastTimeout || o.HookTimeout > mostTimeout {
		problems = append(problems, fmt.Errorf("runtime-hook-timeout %s must be between %s and %s", o.HookTimeout, leastTimeout, mostTimeout))
	}
	if o.MetricsAddress != "" {
		host, _, err := net.SplitHostPort(o.MetricsAddress)
		if err != nil {
			problems = append(problems, fmt.Errorf("metrics-bind-address: %w", err))
		} else if address := net.ParseIP(host); host != "localhost" && (address == nil || !address.IsLoopback()) {
			problems = append(problems, fmt.Errorf("metrics-bind-address %q must be a loopback address", o.MetricsAddress))
		}
	}
	return errors.Join(problems...)
}

func (o *Options) checkpoint() string { return filepath.Join(o.StateDirectory, "pods.json") }
