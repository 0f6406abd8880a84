package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// result of one run.
type result struct {
	Workload  string `json:"workload"`
	Scheduler string `json:"scheduler"`
	Nodes     int    `json:"nodes"`
	Pods      int    `json:"pods"`
	// Seconds from the first pod created to the last one bound.
	Seconds float64 `json:"seconds"`
	// CPUSeconds that the scheduler used in that time.
	CPUSeconds float64 `json:"cpuSeconds"`
	// PeakMiB is the scheduler's largest resident set.
	PeakMiB float64 `json:"peakMiB"`
}

func (r result) podsPerSecond() float64 { return float64(r.Pods) / r.Seconds }

// cpuPerThousand is the CPU time for 1,000 pods, in seconds.
func (r result) cpuPerThousand() float64 { return r.CPUSeconds * 1000 / float64(r.Pods) }

// measure runs one workload once, with one scheduler, on a control plane of its own.
func measure(ctx context.Context, chosen settings, name string, s scheduler) (measured result, err error) {
	home, err := os.MkdirTemp("", "koord-bench-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	sandbox, err := sandboxtest.New("bench", home)
	if err != nil {
		return result{}, err
	}
	if err := sandbox.Up(ctx, "--kubernetes-only", "--nodes", "0"); err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, sandbox.Down(context.WithoutCancel(ctx))) }()
	c, err := connect(sandbox)
	if err != nil {
		return result{}, err
	}
	if err := pauseControllers(ctx, sandbox); err != nil {
		return result{}, err
	}
	w := workloads[name]
	if err := c.prepare(ctx, chosen, w); err != nil {
		return result{}, fmt.Errorf("prepare the cluster: %w", err)
	}
	running, err := s.start(ctx, home, sandbox.Directory()+"/kubeconfig")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, running.stop()) }()
	return c.schedule(ctx, chosen, name, running)
}

// profiledSeconds is less than any run of a useful size takes.
const profiledSeconds = 6

// schedule creates the pods and waits until all are bound.
func (c *cluster) schedule(ctx context.Context, chosen settings, name string, running *process) (result, error) {
	if err := c.warmUp(ctx, running); err != nil {
		return result{}, fmt.Errorf("wait for the first pod: %w\n%s", err, running.tail())
	}
	before, err := running.cpu()
	if err != nil {
		return result{}, err
	}
	bound := c.watchBound(ctx, chosen.pods)
	profiled := make(chan error, 1)
	if chosen.profiles != "" {
		go func() {
			file := filepath.Join(chosen.profiles, name+"-"+running.name+".pprof")
			profiled <- running.profile(ctx, c.config, profiledSeconds, file)
		}()
	} else {
		profiled <- nil
	}
	began := time.Now()
	if err := c.createPods(ctx, chosen, workloads[name], running.asks); err != nil {
		return result{}, fmt.Errorf("create the pods: %w", err)
	}
	if err := <-bound; err != nil {
		return result{}, fmt.Errorf("wait for the pods to be bound: %w\n%s", err, running.tail())
	}
	took := time.Since(began)
	if err := <-profiled; err != nil {
		return result{}, err
	}
	after, err := running.cpu()
	if err != nil {
		return result{}, err
	}
	peak, err := running.peakMiB()
	if err != nil {
		return result{}, err
	}
	if err := c.verify(ctx); err != nil {
		return result{}, fmt.Errorf("check the placements: %w", err)
	}
	return result{
		Workload: name, Scheduler: running.name, Nodes: chosen.nodes, Pods: chosen.pods,
		Seconds: took.Seconds(), CPUSeconds: (after - before).Seconds(), PeakMiB: peak,
	}, nil
}

// pauseControllers stops kube-controller-manager where it is, once it has made what a namespace needs for pods: it would
// take nodes without a kubelet for dead after 50 s, and its work is none of the scheduler's.
func pauseControllers(ctx context.Context, sandbox *sandboxtest.Sandbox) error {
	answer, err := sandbox.Koordctl(ctx, "sandbox", "status", "--name", sandbox.Name, "-o", "json")
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
	for _, component := range status.Components {
		if component.Name == "kube-controller-manager" {
			return syscall.Kill(component.PID, syscall.SIGSTOP)
		}
	}
	return errors.New("the sandbox has no kube-controller-manager")
}
