package state

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are the loopback ports of a sandbox's components. They are kept between runs, so that a kubeconfig stays good.
type Ports struct {
	APIServer            int `json:"apiServer"`
	EtcdClient           int `json:"etcdClient"`
	EtcdPeer             int `json:"etcdPeer"`
	ControllerManager    int `json:"controllerManager"`
	Scheduler            int `json:"scheduler"`
	SchedulerDiagnostics int `json:"schedulerDiagnostics"`
	ManagerMetrics       int `json:"managerMetrics"`
	ManagerHealth        int `json:"managerHealth"`
	ManagerDiagnostics   int `json:"managerDiagnostics"`
	ManagerWebhooks      int `json:"managerWebhooks"`
	Kubelet              int `json:"kubelet"`
	KubeletHealth        int `json:"kubeletHealth"`
	ContainerdMetrics    int `json:"containerdMetrics"`
	KubeScheduler        int `json:"kubeScheduler"`
	Descheduler          int `json:"descheduler"`
}

func (p *Ports) all() []*int {
	return []*int{
		&p.APIServer, &p.EtcdClient, &p.EtcdPeer, &p.ControllerManager, &p.Scheduler, &p.SchedulerDiagnostics,
		&p.ManagerMetrics, &p.ManagerHealth, &p.ManagerDiagnostics, &p.ManagerWebhooks,
		&p.Kubelet, &p.KubeletHealth, &p.ContainerdMetrics, &p.KubeScheduler, &p.Descheduler,
	}
}

// EnsurePorts returns the sandbox's ports: those of the last run where they are still free, new ones otherwise, and
// stores them. A wanted API server port (not 0) that is taken is an error, because the user asked for it.
func (d Dir) EnsurePorts(wantAPIServer int) (Ports, error) {
	var ports Ports
	if err := readJSON(d.portsFile(), &ports); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Ports{}, err
	}
	if wantAPIServer != 0 {
		ports.APIServer = wantAPIServer
	}
	listeners := make([]net.Listener, 0, len(ports.all()))
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close() // only held so that no port is picked twice
		}
	}()
	for _, port := range ports.all() {
		listener, err := claim(*port, wantAPIServer != 0 && port == &ports.APIServer)
		if err != nil {
			return Ports{}, err
		}
		listeners = append(listeners, listener)
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	if err := writeJSON(d.portsFile(), ports); err != nil {
		return Ports{}, err
	}
	return ports, nil
}

// ReadPorts returns the ports of the last run.
func (d Dir) ReadPorts() (Ports, error) {
	var ports Ports
	err := readJSON(d.portsFile(), &ports)
	return ports, err
}

// PortTakenError means that a port the user asked for is in use.
type PortTakenError struct {
	Port int
	Err  error
}

// Error names the port.
func (e *PortTakenError) Error() string { return fmt.Sprintf("listen on port %d: %v", e.Port, e.Err) }

// Unwrap returns the listener's error.
func (e *PortTakenError) Unwrap() error { return e.Err }

// New ports are sought from firstPort on and below lastPort: kernels take those of outgoing connections, of which there are many while
// a sandbox starts, from further up, and so does Kubernetes those of services.
const (
	firstPort = 15000
	lastPort  = 30000
	attempts  = 200
)

func claim(port int, required bool) (net.Listener, error) {
	var err error
	if port != 0 {
		var listener net.Listener
		if listener, err = listen(port); err == nil {
			return listener, nil
		}
	}
	if required {
		return nil, &PortTakenError{Port: port, Err: err}
	}
	for range attempts {
		if listener, err := listen(firstPort + rand.IntN(lastPort-firstPort)); err == nil {
			return listener, nil
		}
	}
	listener, err := listen(0)
	if err != nil {
		return nil, fmt.Errorf("find a free loopback port: %w", err)
	}
	return listener, nil
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
