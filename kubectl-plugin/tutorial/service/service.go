package service

import (
	"context"
	_ "embed" // the manifest
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

//go:embed service.yaml
var manifest string

// Low is how many requests per second a service gets that needs little, of 5 ms of CPU time each.
const Low = 50

// StartWithin is how long pods may take to run, on a machine that is busy with other things.
const StartWithin = 5 * time.Minute

// Service is a service in a pod on the node, and the node that it runs on.
type Service struct {
	// Namespace of the tutorial.
	Namespace string
	// High is how many requests per second the service gets when it needs more.
	High float64
	// LeastPercent of the node's CPU is left to batch pods in any case.
	LeastPercent int
	// Yields has batch pods yield each CPU to whatever else wants it (cpu.idle).
	Yields bool
	// Offer is the batch-cpu of the node when it was last looked at, in thousandths of a core.
	Offer int64
	// Full is true where other programs kept the machine so busy that the offer could not follow.
	Full bool
	// AloneLow and AloneHigh are what was measured without an engine.
	AloneLow, AloneHigh Situation

	target string
	// other is what else runs on the machine, in percent of its CPU.
	other int
}

// Start starts the service, and returns when it runs.
func (s *Service) Start(ctx context.Context, t *tutorial.Session) error {
	if err := t.Apply(ctx, strings.ReplaceAll(manifest, "NAMESPACE", s.Namespace)); err != nil {
		return err
	}
	return t.Await(ctx, "the service to run", StartWithin, func(ctx context.Context) error {
		var pod corev1.Pod
		if err := t.Ask(ctx, &pod, "get", "pod", "-n", s.Namespace, "web", "-o", "json"); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return fmt.Errorf("pod %q is %s", pod.Name, pod.Status.Phase)
		}
		s.target = "http://" + pod.Status.PodIP + ":8080/"
		return nil
	})
}

// UnderLoad does something while requests are sent to the service at a rate.
func (s *Service) UnderLoad(ctx context.Context, rate float64, do func(context.Context) error) error {
	sending, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = workload.Send(sending, s.target, rate, time.Hour) // it ends when it is cancelled; what is measured is sent later
	}()
	err := do(ctx)
	cancel()
	<-ended
	return err
}
