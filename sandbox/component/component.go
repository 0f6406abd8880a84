// Package component says which processes a sandbox consists of, with which arguments, and how to tell that each is
// ready. It starts nothing.
package component

import (
	"fmt"
	"path/filepath"
	"strconv"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

// Names of the components, in order of start.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Kwok              = "kwok"
	Koordlets         = "koordlets"
	Manager           = "koord-manager"
	Scheduler         = "koord-scheduler"
	Descheduler       = "koord-descheduler"
	Containerd        = "containerd"
	Kubelet           = "kubelet"
	KubeScheduler     = "kube-scheduler"
	// Koordlet runs in pods only.
	Koordlet = "koordlet"
)

// Component is one process of a sandbox.
type Component struct {
	// Name of the component, also of its log file.
	Name string
	// Program is the executable; empty for the sandbox's own, which takes the component's name as its first argument.
	Program string
	// Args of the program.
	Args []string
	// Env is added to the environment, KEY=VALUE.
	Env []string
	// Private makes it run in the mount namespace of the real node.
	Private bool
	// Ready says how to tell that the component works.
	Ready Probe
}

// Probe is a request that succeeds once a component works.
type Probe struct {
	// URL to get; when it is empty, the process counts as ready once it has stayed up for a second.
	URL string
	// CAFile the server's certificate must be signed by; empty when the server signs its own on a loopback port.
	CAFile string
	// Client certificate to present.
	Client pki.Pair
}

// Plan is what the components' arguments are made of.
type Plan struct {
	Spec   state.Spec
	Dir    state.Dir
	Ports  state.Ports
	Bundle *pki.Bundle
	// RealNode is nil for a sandbox without one.
	RealNode *RealNode
}

// All returns the sandbox's components, in order of start.
func (p Plan) All() []Component {
	components := []Component{p.etcd(), p.apiServer(), p.controllerManager()}
	if p.Spec.Nodes > 0 {
		components = append(components, p.kwok())
	}
	if p.RealNode != nil {
		components = append(components, p.containerd(), p.kubelet())
	}
	if p.Spec.KubernetesOnly {
		return components
	}
	if p.RealNode != nil {
		// The system runs in pods there, and kube-scheduler binds those.
		return append(components, p.kubeScheduler(), p.koordlets())
	}
	return append(components, p.manager(), p.scheduler(), p.descheduler(), p.koordlets())
}

// Diagnostics asks whether the API server reaches koord-manager, which explains.
func (p Plan) Diagnostics() Probe {
	path := "/apis/" + diagnosticsv1alpha1.GroupVersion.String()
	return Probe{URL: loopbackURL(p.Ports.APIServer, path), CAFile: p.Bundle.CAFile, Client: p.Bundle.Client("admin")}
}

func (p Plan) program(name string) string { return filepath.Join(p.Spec.Binaries, name) }

// kubernetes is the executable of a program of Kubernetes; empty for the sandbox's own.
func (p Plan) kubernetes(name string) string {
	if p.Spec.KubernetesBinaries == "" {
		return ""
	}
	return filepath.Join(p.Spec.KubernetesBinaries, name)
}

func (p Plan) kubeconfig(name string) string { return pki.KubeconfigFile(p.Dir, name) }

func loopbackURL(port int, path string) string {
	return fmt.Sprintf("https://127.0.0.1:%d%s", port, path)
}

// Percentages by which what a process uses may grow before it collects garbage.
const (
	// thrifty returns memory sooner than Go's 100: the sandbox shares a laptop with its user.
	thrifty = 75
	// ample is for the API server and etcd, which everything else waits for: at 75 percent they spend more than a quarter of their
	// CPU time under load on collecting garbage, at 200 a sixth. A sandbox with 30 nodes takes a quarter more memory than at 200.
	ample = 400
)

// memory bounds what a process uses. Close to the limit it collects more often than the percentage says.
func memory(percent int, limit string) []string {
	return []string{"GOGC=" + strconv.Itoa(percent), "GOMEMLIMIT=" + limit}
}
