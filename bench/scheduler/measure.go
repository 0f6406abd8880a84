package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"koordinator.sh/koord/bench/controlplane"
)

// result of one run.
type result struct {
	Workload  string `json:"workload"`
	Scheduler string `json:"scheduler"`
	Nodes     int    `json:"nodes"`
	Pods      int    `json:"pods"`
	// Idle is true when the pods were refused, and nothing happened after that for Seconds.
	Idle bool `json:"idle,omitempty"`
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

// measure runs one workload once, with one scheduler, on a dedicated control plane.
func measure(ctx context.Context, chosen settings, name string, s scheduler) (measured result, err error) {
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	c := &cluster{plane}
	w := workloads[name]
	if err := c.prepare(ctx, chosen, w); err != nil {
		return result{}, fmt.Errorf("prepare the cluster: %w", err)
	}
	running, err := s.start(ctx, plane.Home, plane.Sandbox.Directory()+"/kubeconfig")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	if w.refused {
		return c.leaveAlone(ctx, chosen, name, running)
	}
	return c.schedule(ctx, chosen, name, running)
}

// profiledSeconds is less than a run takes with 1,000 nodes and 3,000 pods.
const profiledSeconds = 6

// schedule creates the pods and waits until all are bound.
func (c *cluster) schedule(ctx context.Context, chosen settings, name string, running *schedulerProcess) (result, error) {
	if err := c.warmUp(ctx, running); err != nil {
		return result{}, fmt.Errorf("wait for the first pod: %w\n%s", err, running.Tail())
	}
	before, err := running.CPU()
	if err != nil {
		return result{}, err
	}
	bound := c.watchBound(ctx, chosen.pods)
	profiled := make(chan error, 1)
	if chosen.profiles != "" {
		go func() {
			seconds := profiledSeconds * max(1, chosen.nodes/1000)
			profiled <- running.profile(ctx, c.Config, fmt.Sprintf("profile?seconds=%d", seconds), filepath.Join(chosen.profiles, name+"-"+running.name+"-cpu.pprof"))
		}()
	} else {
		profiled <- nil
	}
	began := time.Now()
	if err := c.createPods(ctx, chosen, workloads[name], running.asks); err != nil {
		return result{}, fmt.Errorf("create the pods: %w", err)
	}
	if err := <-bound; err != nil {
		return result{}, fmt.Errorf("wait for the pods to be bound: %w\n%s", err, running.Tail())
	}
	took := time.Since(began)
	if err := <-profiled; err != nil {
		return result{}, err
	}
	if chosen.profiles != "" {
		if err := running.profile(ctx, c.Config, "heap?gc=1", filepath.Join(chosen.profiles, name+"-"+running.name+"-heap.pprof")); err != nil {
			return result{}, err
		}
	}
	after, err := running.CPU()
	if err != nil {
		return result{}, err
	}
	peak, err := running.PeakMiB()
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
