package state

import (
	"fmt"
	"regexp"
)

// DefaultName is the name of the sandbox when none is given.
const DefaultName = "default"

// Limits of what a sandbox can be asked for.
const (
	// MaxNodes is the largest number of simulated nodes.
	MaxNodes = 5000
	// MaxSpeed is the fastest simulated time, in simulated seconds per second.
	MaxSpeed = 3600
)

// Spec is what the user asked a sandbox to be. It is written once at `up` and read by the supervisor.
type Spec struct {
	// Name of the sandbox; a DNS label of at most 40 characters.
	Name string `json:"name"`
	// Nodes is the number of simulated nodes, 0 to 5000.
	Nodes int `json:"nodes"`
	// Scenario names the workloads; empty for none.
	Scenario string `json:"scenario,omitempty"`
	// KubernetesOnly leaves out our scheduler, manager, descheduler and koordlets.
	KubernetesOnly bool `json:"kubernetesOnly,omitempty"`
	// Trace is a CSV file or a directory of them that drives the production load; empty for the built-in model.
	Trace string `json:"trace,omitempty"`
	// Seed of the simulation.
	Seed uint64 `json:"seed"`
	// Speed is simulated seconds per second, 1 to 3600; default 1.
	Speed float64 `json:"speed"`
	// APIServerPort to listen on; 0 picks a free one.
	APIServerPort int `json:"apiServerPort,omitempty"`
	// RealNode is the name of the node that this machine is, with pods that really run; empty for none.
	RealNode string `json:"realNode,omitempty"`
	// KubernetesBinaries is the directory with the kube-apiserver and kube-controller-manager to run, such as those of another
	// version of Kubernetes; empty for the sandbox's own.
	KubernetesBinaries string `json:"kubernetesBinaries,omitempty"`
	// Binaries is the directory with koord-scheduler, koord-manager and koord-descheduler.
	Binaries string `json:"binaries,omitempty"`
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// ValidateName returns an error for a name that no sandbox can have. What passes is also safe as a directory's name.
func ValidateName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("sandbox name %q must be a lower-case DNS label of at most 40 characters", name)
	}
	return nil
}

// Validate returns the first thing that is wrong with the spec.
func (s Spec) Validate() error {
	if err := ValidateName(s.Name); err != nil {
		return err
	}
	switch {
	case s.Nodes < 0 || s.Nodes > MaxNodes:
		return fmt.Errorf("nodes %d must be between 0 and %d", s.Nodes, MaxNodes)
	case !(s.Speed >= 1 && s.Speed <= MaxSpeed): // in this form also for NaN
		return fmt.Errorf("speed %g must be between 1 and %d simulated seconds per second", s.Speed, MaxSpeed)
	case s.APIServerPort < 0 || s.APIServerPort > 65535:
		return fmt.Errorf("API server port %d must be between 0 and 65535", s.APIServerPort)
	case s.KubernetesOnly && s.Scenario != "":
		return fmt.Errorf("scenario %q requires Koordinator: omit --kubernetes-only", s.Scenario)
	case s.KubernetesOnly && s.Trace != "":
		return fmt.Errorf("trace %q requires the simulated koordlets: omit --kubernetes-only", s.Trace)
	case s.RealNode != "" && s.KubernetesBinaries != "":
		return fmt.Errorf("programs of Kubernetes in %q: a real node requires the sandbox's own: omit --real-node", s.KubernetesBinaries)
	}
	return nil
}
