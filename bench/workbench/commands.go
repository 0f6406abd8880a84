package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"koordinator.sh/koord/bench/controlplane"
)

// cost is what one run of a command took.
type cost struct {
	wall, cpu time.Duration
	// peak resident memory in MiB.
	peak float64
}

// commands measures koordctl's commands, and kubectl's beside them, which take turns.
func commands(ctx context.Context, plane *controlplane.ControlPlane, chosen settings) error {
	lines := [][]string{
		{chosen.kubectl, "top", "nodes"},
		{chosen.koordctl, "top", "nodes"},
		{chosen.koordctl, "top", "nodes", "-o", "json"},
		{chosen.kubectl, "get", "pods", "-A"},
		{chosen.koordctl, "top", "pods", "-A"},
		{chosen.koordctl, "why", "pod/" + waitingPod, "-n", namespace},
		{chosen.koordctl, "why", "node/" + nodeName(0)},
		{chosen.koordctl, "why", "quota/" + quotaName, "-n", namespace},
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return !chosen.measures(shown(chosen, line)) })
	if len(lines) == 0 {
		return nil
	}
	costs, err := turns(ctx, plane, chosen.runs, lines)
	if err != nil {
		return err
	}
	reference := median(costs[0])
	fmt.Printf("| command, median of %d | wall time | CPU time | peak memory | of kubectl top nodes: wall | memory |\n| --- | ---: | ---: | ---: | ---: | ---: |\n", chosen.runs)
	for i, line := range lines {
		of := median(costs[i])
		fmt.Printf("| `%s` | %.2f s | %.2f s | %.0f MiB | %.2f | %.2f |\n", shown(chosen, line), of.wall.Seconds(), of.cpu.Seconds(), of.peak,
			of.wall.Seconds()/reference.wall.Seconds(), of.peak/reference.peak)
	}
	return nil
}

// turns runs each command some times, one after the other.
func turns(ctx context.Context, plane *controlplane.ControlPlane, runs int, lines [][]string) ([][]cost, error) {
	costs := make([][]cost, len(lines))
	for run := range runs + 1 {
		for i, line := range lines {
			one, err := costOf(ctx, plane, line)
			if err != nil {
				return nil, err
			}
			if run > 0 { // the first reads the program from disk
				costs[i] = append(costs[i], one)
			}
		}
	}
	return costs, nil
}

// shown is a command line without the folder of its program.
func shown(chosen settings, line []string) string {
	name := "kubectl"
	if line[0] == chosen.koordctl {
		name = "koordctl"
	}
	return name + " " + strings.Join(line[1:], " ")
}

func costOf(ctx context.Context, plane *controlplane.ControlPlane, line []string) (cost, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = plane.Sandbox.Environ()
	var errors strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &errors
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, errors.String())
	}
	of := cost{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, known := cmd.ProcessState.SysUsage().(*syscall.Rusage); known {
		of.peak = float64(usage.Maxrss) / 1024 // KiB on Linux
	}
	return of, nil
}

// median of each figure on its own.
func median(costs []cost) cost {
	middle := func(figure func(cost) float64) float64 {
		values := make([]float64, len(costs))
		for i, one := range costs {
			values[i] = figure(one)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return cost{
		wall: time.Duration(middle(func(c cost) float64 { return float64(c.wall) })),
		cpu:  time.Duration(middle(func(c cost) float64 { return float64(c.cpu) })),
		peak: middle(func(c cost) float64 { return c.peak }),
	}
}
