package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"koordinator.sh/koord/agent/koordlet"
	"koordinator.sh/koord/sandbox/cgrouptree"
)

const (
	kubepods   = parent + "/kubepods"
	bestEffort = kubepods + "/besteffort"
	service    = kubepods + "/burstable/podservice"
	batch      = bestEffort + "/podbatch"
	// lookEvery is how often the quota is looked at.
	lookEvery = 2 * time.Millisecond
	// waitTimeout is how long a step is waited for.
	waitTimeout = 5 * time.Second
	// room in percent of the machine is what best-effort pods have before a step, recovery how long that is waited for, and phase
	// bounds what is waited beyond that.
	room, recovery, phase = 80, time.Minute, time.Second
	// heldBack is the share of the former quota that best-effort pods have at most when a step was answered. A step is of one CPU,
	// which the budget shrinks by.
	heldBack = 0.8
)

// measure runs the agent and makes steps of load.
func measure(ctx context.Context, way way, steps int) (latencies []time.Duration, missed int, err error) {
	containers := []string{service + "/" + strings.Repeat("a", 64), batch + "/" + strings.Repeat("b", 64)}
	groups, err := cgrouptree.Open(cgrouptree.Mount, "cpu", "cpuacct", "cpuset", "memory", "unified")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, remove(ctx, groups)) }()
	for _, at := range containers {
		if err := groups.Make(at); err != nil {
			return nil, 0, err
		}
	}
	if err := weigh(groups); err != nil {
		return nil, 0, err
	}
	busy, err := startLoad(runtime.NumCPU(), groups, containers[1])
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, busy.end()) }()
	stepping, err := startLoad(1, groups, containers[0])
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, stepping.end()) }()
	stop, err := startAgent(ctx, way)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := busy.burn(); err != nil {
		return nil, 0, err
	}
	for len(latencies)+missed < steps {
		latency, answered, err := step(ctx, groups, stepping)
		switch {
		case err != nil:
			return nil, 0, err
		case answered:
			latencies = append(latencies, latency)
		default:
			missed++
		}
	}
	return latencies, missed, nil
}

// step waits until best-effort pods have room, makes the service use a CPU, and waits until they are held back.
func step(ctx context.Context, groups *cgrouptree.Tree, service *load) (latency time.Duration, answered bool, err error) {
	if err := service.rest(); err != nil {
		return 0, false, err
	}
	before, err := recovered(ctx, groups)
	if err != nil {
		return 0, false, err
	}
	began, err := service.burn()
	if err != nil {
		return 0, false, err
	}
	now := before
	for time.Since(began) < waitTimeout {
		if err := sleep(ctx, lookEvery); err != nil {
			return 0, false, err
		}
		if now, err = quota(groups, bestEffort); err != nil {
			return 0, false, err
		}
		if float64(now) <= heldBack*float64(before) {
			return time.Since(began), true, nil
		}
	}
	fmt.Fprintf(os.Stderr, "no response to a step: the quota was %d us, and is %d us after %s\n", before, now, waitTimeout)
	return 0, false, nil
}

// recovered waits until best-effort pods have most of the machine, and then a while that puts the step at any moment of the agent's
// period. It returns their quota.
func recovered(ctx context.Context, groups *cgrouptree.Tree) (int64, error) {
	most := int64(runtime.NumCPU()) * 100_000
	begun := time.Now()
	for {
		has, err := quota(groups, bestEffort)
		if err != nil {
			return 0, err
		}
		if has >= most*room/100 {
			break
		}
		if time.Since(begun) > recovery {
			return 0, fmt.Errorf("best-effort pods have %d us of %d a while after the service rests", has, most)
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return 0, err
		}
	}
	if err := sleep(ctx, rand.N(phase)); err != nil {
		return 0, err
	}
	return quota(groups, bestEffort)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// startAgent runs the agent until it is stopped, which gives back what it changed.
func startAgent(ctx context.Context, way way) (stop func() error, err error) {
	server, err := cluster(int64(runtime.NumCPU()))
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "koord-bench-suppression-")
	if err != nil {
		return nil, err
	}
	options := koordlet.NewOptions()
	options.Proc = directory + "/proc"
	if err := newStatistics(options.Proc); err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	options.RESTConfig, options.NodeName, options.StateDirectory = server.Config(), node, directory
	options.KubeletCgroupRoot, options.Alarm = "/"+parent, way.alarm
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- koordlet.Run(ctx, options) }()
	return func() error {
		cancel()
		err := <-ended
		if err != nil {
			err = fmt.Errorf("run the agent: %w", err)
		}
		return errors.Join(err, os.RemoveAll(directory))
	}, nil
}
