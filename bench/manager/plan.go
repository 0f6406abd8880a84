package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// planRuns is how often a plan is made.
const planRuns = 5

// plan measures how long it takes a person to see what a change would do.
func (f *fleet) plan(ctx context.Context) ([]figure, error) {
	var seconds, cpu []float64
	for range planRuns {
		wall, used, err := f.planOnce(ctx)
		if err != nil {
			return nil, err
		}
		seconds, cpu = append(seconds, wall.Seconds()), append(cpu, used.Seconds())
	}
	name := fmt.Sprintf("koordctl config plan, %d nodes with %d pods each, median of %d", f.chosen.nodes, f.chosen.podsPerNode, planRuns)
	return []figure{
		atMost(3, told(name, median(seconds), "s", "whole process, on a machine that also runs the API server")),
		told("the same, CPU time of koordctl", median(cpu), "s", ""),
	}, nil
}

func (f *fleet) planOnce(ctx context.Context) (wall, cpu time.Duration, err error) {
	cmd := exec.CommandContext(ctx, f.Sandbox.Program("koordctl"), "config", "plan", "colocation-config.cpuReclaimThresholdPercent=80")
	cmd.Env = f.Sandbox.Environ()
	began := time.Now()
	output, err := cmd.CombinedOutput()
	wall = time.Since(began)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, 0, fmt.Errorf("koordctl config plan: %w", err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 { // 1: the change would do something
		return 0, 0, fmt.Errorf("koordctl config plan: exit code %d, want 1\n%s", code, output)
	}
	return wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
