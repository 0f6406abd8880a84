// Package controlplane starts control planes for benchmarks: an API server with the project's kinds, etcd, and nothing that
// works on the objects in it.
package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/test/sandboxtest"
)

// ControlPlane is a running one. Its methods are safe for concurrent use, but for Stop.
type ControlPlane struct {
	// Client speaks protobuf and Dynamic JSON, as the administrator.
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	// Config is that of Dynamic.
	Config *rest.Config
	// Sandbox is what it runs in.
	Sandbox *sandboxtest.Sandbox
	// Home is a separate directory, which is removed with it.
	Home string

	// pids of the sandbox's processes by name.
	pids map[string]int
}

// Start starts a control plane without nodes. Stop must be called.
func Start(ctx context.Context) (plane *ControlPlane, err error) {
	home, err := os.MkdirTemp("", "koord-bench-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(home))
		}
	}()
	sandbox, err := sandboxtest.New("bench", home)
	if err != nil {
		return nil, err
	}
	if err := sandbox.Up(ctx, "--kubernetes-only", "--nodes", "0"); err != nil {
		return nil, err
	}
	plane = &ControlPlane{Sandbox: sandbox, Home: home}
	if err := plane.takeOver(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Down(context.WithoutCancel(ctx)))
	}
	return plane, nil
}

// takeOver makes a sandbox that has started a bare control plane.
func (c *ControlPlane) takeOver(ctx context.Context) error {
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.findProcesses(ctx); err != nil {
		return err
	}
	return c.pauseControllers()
}

// Stop ends the control plane and deletes its data.
func (c *ControlPlane) Stop(ctx context.Context) error {
	return errors.Join(c.Sandbox.Down(ctx), os.RemoveAll(c.Home))
}

// InstallKinds installs the chart without components: its kinds, priority classes and configuration.
func (c *ControlPlane) InstallKinds(ctx context.Context) error {
	answer, err := c.Sandbox.Koordctl(ctx, "install", "--set", "workloads.enabled=false")
	if err == nil && answer.Code != 0 {
		err = fmt.Errorf("koordctl install: exit code %d\n%s%s", answer.Code, answer.Stdout, answer.Stderr)
	}
	return err
}

func (c *ControlPlane) connect() error {
	config, err := c.Sandbox.Config()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 5000, 5000
	c.Config = rest.CopyConfig(config)
	if c.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	c.Client, err = kubernetes.NewForConfig(config)
	return err
}

// CPU is the processor time that the API server and etcd have used so far.
func (c *ControlPlane) CPU() (time.Duration, error) {
	var total time.Duration
	for _, name := range []string{"etcd", "kube-apiserver"} {
		used, err := process.CPUOf(c.pids[name])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		total += used
	}
	return total, nil
}

// findProcesses looks the sandbox's processes up.
func (c *ControlPlane) findProcesses(ctx context.Context) error {
	answer, err := c.Sandbox.Koordctl(ctx, "sandbox", "status", "--name", c.Sandbox.Name, "-o", "json")
	if err != nil {
		return err
	}
	var status struct {
		Components []struct {
			Name string `json:"name"`
			PID  int    `json:"pid"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(answer.Stdout), &status); err != nil {
		return fmt.Errorf("read the status of the sandbox: %w\n%s%s", err, answer.Stdout, answer.Stderr)
	}
	c.pids = map[string]int{}
	for _, component := range status.Components {
		c.pids[component.Name] = component.PID
	}
	return nil
}

// pauseControllers stops kube-controller-manager where it is, once it has made what a namespace needs for pods: it would
// take nodes without a kubelet for dead after 50 s, and its work is not what is measured.
func (c *ControlPlane) pauseControllers() error {
	pid := c.pids["kube-controller-manager"]
	if pid == 0 {
		return errors.New("the sandbox has no kube-controller-manager")
	}
	return syscall.Kill(pid, syscall.SIGSTOP)
}
