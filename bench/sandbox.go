package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/sandboxtest"
)

// smallSandbox measures a sandbox of 30 nodes, the one a newcomer starts.
func smallSandbox(ctx context.Context, s *sandboxtest.Sandbox, _ int) ([]figure, error) {
	figures, err := upAndLook(ctx, s, 30, 30*time.Second, 1536)
	if err != nil {
		return figures, err
	}
	return figures, s.Down(ctx)
}

// largeSandbox measures a large one, and the workbench's answers on it.
func largeSandbox(ctx context.Context, s *sandboxtest.Sandbox, nodes int) ([]figure, error) {
	if nodes == 0 {
		return nil, nil
	}
	figures, err := upAndLook(ctx, s, nodes, 3*time.Minute, 4096)
	if err != nil {
		return figures, err
	}
	if err := waitScheduled(ctx, s); err != nil {
		return figures, err
	}
	answers, err := askLarge(ctx, s, nodes)
	figures = append(figures, answers...)
	if err != nil {
		return figures, err
	}
	return figures, s.Down(ctx)
}

// upAndLook starts a sandbox and measures the time until batch resources are on all healthy nodes, and the memory of
// all processes together.
func upAndLook(ctx context.Context, s *sandboxtest.Sandbox, nodes int, limit time.Duration, limitMiB float64) ([]figure, error) {
	began := time.Now()
	if err := s.Up(ctx, "--nodes", fmt.Sprint(nodes)); err != nil {
		return nil, err
	}
	took := time.Since(began)
	status, err := control.NewClient(state.At(s.Directory())).Status(ctx)
	if err != nil {
		return nil, err
	}
	var memory int64
	for _, c := range status.Components {
		memory += c.MemoryBytes
	}
	name := fmt.Sprintf("sandbox up --nodes %d", nodes)
	return []figure{
		{name: name + ", until batch resources on all healthy nodes", value: took.Seconds(), unit: "s", limit: limit.Seconds()},
		{name: name + ", memory of all processes (PSS)", value: float64(memory) / (1 << 20), unit: "MiB", limit: limitMiB},
	}, nil
}

// settleTimeout bounds the wait until the scenario's pods are placed.
const settleTimeout = 10 * time.Minute

// waitScheduled waits until every pod that can run runs: the questions are asked of a cluster at work, not of one
// that is being filled.
func waitScheduled(ctx context.Context, s *sandboxtest.Sandbox) error {
	client, _, err := s.Clients()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		waiting, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Pending", ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("list pending pods: %w", err)
		}
		// The two that the scenario makes unschedulable.
		if len(waiting.Items) <= 2 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d pods are pending: %w", len(waiting.Items), ctx.Err())
		case <-tick.C:
		}
	}
}

// askLarge measures the workbench's two main questions.
func askLarge(ctx context.Context, s *sandboxtest.Sandbox, nodes int) ([]figure, error) {
	koordctl := s.Program("koordctl")
	top, err := median(5, func() (time.Duration, error) { return clock(ctx, s, koordctl, "top", "nodes") })
	if err != nil {
		return nil, err
	}
	topFigure := figure{
		name: fmt.Sprintf("top nodes, %d nodes, median of 5", nodes), value: top.Seconds(), unit: "s", limit: 1,
		note: "whole process, on a machine that also runs the sandbox",
	}
	explain, err := median(10, func() (time.Duration, error) { return explainPod(ctx, s, koordctl) })
	if err != nil {
		return []figure{topFigure}, err
	}
	return []figure{topFigure, {
		name: fmt.Sprintf("explain pod, %d nodes, in the scheduler, median of 10", nodes), value: float64(explain.Microseconds()) / 1000, unit: "ms", limit: 500,
		note: "all filters on all nodes, with the search for the smallest change",
	}}, nil
}

// explainPod returns how long the scheduler took to explain a pending pod.
func explainPod(ctx context.Context, s *sandboxtest.Sandbox, koordctl string) (time.Duration, error) {
	result, err := s.Run(ctx, "", koordctl, "explain", "pod", "monthly-report", "-n", "analytics", "-o", "json")
	if err != nil {
		return 0, err
	}
	var explanation diagnosticsv1alpha1.PodExplanation
	if err := json.Unmarshal([]byte(result.Stdout), &explanation); err != nil {
		return 0, fmt.Errorf("parse the explanation: %w: %s", err, result.Stderr)
	}
	if got := explanation.Status.Origin.Component; got != "koord-scheduler" {
		return 0, fmt.Errorf("the explanation came from %q, not from the scheduler", got)
	}
	return time.Duration(explanation.Status.Origin.DurationMicroseconds) * time.Microsecond, nil
}
