package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// leaveAlone creates pods that no node is for, waits until all have been refused, and measures what they cost while nothing happens
// that could help them. The scheduler tries each of them again after five minutes.
func (c *cluster) leaveAlone(ctx context.Context, chosen settings, name string, running *schedulerProcess) (result, error) {
	if err := c.createPods(ctx, chosen, workloads[name], running.asks); err != nil {
		return result{}, fmt.Errorf("create the pods: %w", err)
	}
	if err := c.awaitRefused(ctx, chosen.pods); err != nil {
		return result{}, fmt.Errorf("wait until the pods are refused: %w\n%s", err, running.Tail())
	}
	before, err := running.CPU()
	if err != nil {
		return result{}, err
	}
	profiled := make(chan error, 1)
	if chosen.profiles == "" {
		profiled <- nil
	} else {
		go func() {
			profiled <- running.profile(ctx, c.Config, fmt.Sprintf("profile?seconds=%d", int(chosen.idle.Seconds())), filepath.Join(chosen.profiles, name+"-"+running.name+"-cpu.pprof"))
		}()
	}
	timer := time.NewTimer(chosen.idle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return result{}, context.Cause(ctx)
	case <-timer.C:
	}
	if err := <-profiled; err != nil {
		return result{}, err
	}
	after, err := running.CPU()
	if err != nil {
		return result{}, err
	}
	peak, err := running.PeakMiB()
	return result{
		Workload: name, Scheduler: running.name, Nodes: chosen.nodes, Pods: chosen.pods, Idle: true,
		Seconds: chosen.idle.Seconds(), CPUSeconds: (after - before).Seconds(), PeakMiB: peak,
	}, err
}

// awaitRefused waits until the scheduler has refused so many pods.
func (c *cluster) awaitRefused(ctx context.Context, count int) error {
	var refused int
	err := wait.PollUntilContextTimeout(ctx, 2*time.Second, waitTimeout, false, func(ctx context.Context) (bool, error) {
		list, err := c.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: workloadLabel, ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		refused = 0
		for i := range list.Items {
			for _, condition := range list.Items[i].Status.Conditions {
				if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
					refused++
				}
			}
		}
		return refused == count, nil
	})
	if err != nil {
		return errors.Join(err, fmt.Errorf("%d of %d pods are refused", refused, count))
	}
	return nil
}
