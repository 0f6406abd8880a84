package main

import (
	"context"
	"time"

	"github.com/prometheus/procfs"

	"koordinator.sh/koord/bench/node"
	"koordinator.sh/koord/bench/process"
)

// cost of the agent.
type cost struct {
	pods  int
	cores float64
	// memoryMiB is the resident set at the end, and grewMiB by how much it grew since the beginning.
	memoryMiB, grewMiB float64
}

func measure(ctx context.Context, n *node.Node, o options) (cost, error) {
	if err := pass(ctx, o.settle); err != nil {
		return cost{}, err
	}
	pid, err := n.Agent()
	if err != nil {
		return cost{}, err
	}
	before, err := process.CPUOf(pid)
	if err != nil {
		return cost{}, err
	}
	memory, err := residentMiB(pid)
	if err != nil {
		return cost{}, err
	}
	began := time.Now()
	if err := pass(ctx, o.duration); err != nil {
		return cost{}, err
	}
	after, err := process.CPUOf(pid)
	if err != nil {
		return cost{}, err
	}
	took := time.Since(began)
	now, err := residentMiB(pid)
	return cost{cores: (after - before).Seconds() / took.Seconds(), memoryMiB: now, grewMiB: now - memory}, err
}

func residentMiB(pid int) (float64, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	status, err := proc.NewStatus()
	return float64(status.VmRSS) / (1 << 20), err
}

func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
