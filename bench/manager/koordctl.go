package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// commandRuns is how often each command is run.
const commandRuns = 5

// commandRun is one run of koordctl, as a whole process.
type commandRun struct {
	wall, cpu time.Duration
	// printed is what went to standard output.
	printed []byte
}

// koordctl runs a command as the administrator. An exit code other than the expected one is an error.
func (f *fleet) koordctl(ctx context.Context, expected int, args ...string) (commandRun, error) {
	cmd := exec.CommandContext(ctx, f.Sandbox.Program("koordctl"), args...)
	cmd.Env = f.Sandbox.Environ()
	var output, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problems
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	line := "koordctl " + strings.Join(args, " ")
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return commandRun{}, fmt.Errorf("%s: %w", line, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != expected {
		return commandRun{}, fmt.Errorf("%s: exit code %d, want %d\n%.2000s%.2000s", line, code, expected, output.Bytes(), problems.Bytes())
	}
	return commandRun{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), output.Bytes()}, nil
}

// commandFigures are those of several runs of koordctl: how long one takes, and the CPU time of everything that is busy with it.
type commandFigures struct {
	seconds, cpu, manager, controlPlane []float64
	// printed by the last run.
	printed []byte
}

// commands runs a command several times.
func (f *fleet) commands(ctx context.Context, expected int, args ...string) (commandFigures, error) {
	var all commandFigures
	for range commandRuns {
		before, err := f.manager.usage(ctx)
		if err != nil {
			return all, err
		}
		run, err := f.koordctl(ctx, expected, args...)
		if err != nil {
			return all, err
		}
		after, err := f.manager.usage(ctx)
		if err != nil {
			return all, err
		}
		used := after.minus(before)
		all.seconds, all.cpu = append(all.seconds, run.wall.Seconds()), append(all.cpu, run.cpu.Seconds())
		all.manager, all.controlPlane = append(all.manager, used.cpu.Seconds()), append(all.controlPlane, used.controlPlane.Seconds())
		all.printed = run.printed
	}
	return all, nil
}

// figures of a command that must take no longer than a number of seconds, unless that is 0.
func (c *commandFigures) figures(name string, seconds float64) []figure {
	whole := measurement(fmt.Sprintf("%s, median of %d", name, commandRuns), median(c.seconds), "s", "whole process, on a machine that also runs the API server")
	if seconds > 0 {
		whole = atMost(seconds, whole)
	}
	return []figure{
		whole,
		measurement("the same, CPU time of koordctl", median(c.cpu), "s", ""),
		measurement("the same, CPU time of koord-manager", median(c.manager), "s", ""),
		measurement("the same, CPU time of the API server and etcd", median(c.controlPlane), "s", ""),
	}
}
