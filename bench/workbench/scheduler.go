package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/sandbox/component"
)

// scheduled measures what koord-scheduler answers, which runs only for that.
func scheduled(ctx context.Context, plane *controlplane.ControlPlane, ports koordmanager.Ports, chosen settings) (err error) {
	lines := [][]string{
		{chosen.koordctl, "why", "pod/" + waitingPod, "-n", namespace},
		{chosen.koordctl, "why", "quota/" + quotaName, "-n", namespace},
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return !chosen.measures(shown(chosen, line)) })
	if chosen.scheduler == "" || len(lines) == 0 {
		return nil
	}
	fmt.Fprintln(os.Stderr, "starting koord-scheduler")
	scheduler, err := startScheduler(ctx, plane, ports, chosen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scheduler.Stop()) }()
	costs, err := turns(ctx, plane, chosen.runs, lines)
	if err != nil {
		return err
	}
	for i, line := range lines {
		of := median(costs[i])
		fmt.Printf("| `%s`, with koord-scheduler | %.2f s | %.2f s | %.0f MiB | | |\n", shown(chosen, line), of.wall.Seconds(), of.cpu.Seconds(), of.peak)
	}
	return nil
}

// startScheduler runs koord-scheduler until it explains the pod that waits.
func startScheduler(ctx context.Context, plane *controlplane.ControlPlane, ports koordmanager.Ports, chosen settings) (*process.Process, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(plane.Sandbox.Directory(), "kubeconfig")
	scheduler, err := process.Start(ctx, "koord-scheduler", filepath.Join(plane.Home, "koord-scheduler.log"), chosen.scheduler,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig, "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", ports.Scheduler), "--diagnostics-cert-secret="+component.SchedulerCertSecret)
	if err != nil {
		return nil, err
	}
	question := &diagnosticsv1alpha1.PodExplanation{Spec: diagnosticsv1alpha1.PodExplanationSpec{PodName: waitingPod}}
	question.APIVersion, question.Kind, question.Namespace = diagnosticsv1alpha1.GroupVersion.String(), "PodExplanation", namespace
	err = wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		return explained(ctx, plane, question), nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("wait until koord-scheduler explains a pod: %w\n%s", err, scheduler.Tail()), scheduler.Stop())
	}
	return scheduler, nil
}

// explained is true once a question has an answer of the scheduler.
func explained(ctx context.Context, plane *controlplane.ControlPlane, question *diagnosticsv1alpha1.PodExplanation) bool {
	body, err := json.Marshal(question)
	if err != nil {
		return false
	}
	path := "/apis/" + diagnosticsv1alpha1.GroupVersion.String() + "/namespaces/" + question.Namespace + "/podexplanations"
	raw, err := plane.Client.Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).DoRaw(ctx)
	var answer diagnosticsv1alpha1.PodExplanation
	return err == nil && json.Unmarshal(raw, &answer) == nil && answer.Status.Verdict != ""
}
