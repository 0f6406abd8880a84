package yarnagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const (
	// lookInterval is how often a cgroup is looked at for processes that were told to end, and endWithin how long they may take after
	// SIGKILL.
	lookInterval = 20 * time.Millisecond
	endWithin    = 2 * time.Second
)

// errNoContainer is for an ID of no container that runs.
var errNoContainer = errors.New("no container of that ID runs")

// kill ends a container: all its processes get SIGTERM, and SIGKILL those that are there after the grace period.
func (a *agent) kill(ctx context.Context, id string) (copilot.Container, error) {
	found, err := a.find(ctx, id)
	if err != nil {
		return found, err
	}
	began := a.clock.Now()
	err = a.end(ctx, a.groups.of(id))
	if err != nil {
		return found, fmt.Errorf("kill container %s: %w", id, err)
	}
	klog.FromContext(ctx).Info("Killed container", "container", id, "took", a.clock.Since(began))
	return found, nil
}

// find returns a container that runs, after all its processes that can be found were moved into its cgroup.
func (a *agent) find(ctx context.Context, id string) (copilot.Container, error) {
	a.refresh(ctx)
	known := a.roster.known()
	i := slices.IndexFunc(known, func(t task) bool { return t.ID == id })
	if i < 0 {
		return copilot.Container{}, errNoContainer
	}
	a.adopt(ctx, known[i:i+1])
	found, has := a.describe(&known[i])
	if !has {
		return copilot.Container{}, errNoContainer
	}
	return found, nil
}

// end ends all processes in a cgroup.
func (a *agent) end(ctx context.Context, at string) error {
	for _, step := range []struct {
		signal syscall.Signal
		within time.Duration
	}{{syscall.SIGTERM, a.grace}, {syscall.SIGKILL, endWithin}} {
		if gone, err := a.signalUntilGone(ctx, at, step.signal, step.within); gone || err != nil {
			return err
		}
	}
	return fmt.Errorf("its processes did not end within %s of SIGKILL", endWithin)
}

// signalUntilGone gives a signal to each process in a cgroup once, SIGKILL again and again, until none is left or the time is over.
func (a *agent) signalUntilGone(ctx context.Context, at string, signal syscall.Signal, within time.Duration) (gone bool, err error) {
	deadline := a.clock.Now().Add(within)
	told := map[int]bool{}
	for {
		pids, err := a.groups.members(at)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil // the NodeManager has removed it
		}
		if err != nil || len(pids) == 0 {
			return err == nil, err
		}
		for _, pid := range pids {
			if told[pid] && signal != syscall.SIGKILL {
				continue
			}
			told[pid] = true
			if err := a.signal(at, pid, signal); err != nil {
				return false, err
			}
		}
		if !a.clock.Now().Before(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-a.clock.After(lookInterval):
		}
	}
}

// signal gives a signal to a process in a cgroup.
func (a *agent) signal(at string, pid int, signal syscall.Signal) error {
	return process.Signal(pid, signal, func() bool {
		pids, err := a.groups.members(at)
		return err == nil && slices.Contains(pids, pid) // a cgroup that cannot be read is reported by who looks at it next
	})
}

// killByResource ends containers until what they have makes up some resources, those first that lose the least work, and returns those
// that it ended. One that cannot be ended leaves its part to others.
func (a *agent) killByResource(ctx context.Context, wanted corev1.ResourceList) ([]copilot.Container, error) {
	running, err := a.containers(ctx)
	if err != nil {
		return nil, err
	}
	candidates, byName := make([]eviction.Pod, 0, len(running)), map[string]copilot.Container{}
	for i := range running {
		candidates, byName[running[i].Name] = append(candidates, a.candidate(&running[i])), running[i]
	}
	killed, left := []copilot.Container{}, copilot.AmountOf(wanted)
	var problems []error
	for left.MilliCPU > 0 || left.Memory > 0 {
		chosen, _ := eviction.ReleaseContainers(candidates, left)
		if len(chosen) == 0 {
			break
		}
		for _, ref := range chosen {
			candidates = slices.DeleteFunc(candidates, func(pod eviction.Pod) bool { return pod.Name == ref.Name })
			_, err := a.kill(ctx, ref.Name)
			switch {
			case err == nil:
				killed = append(killed, byName[ref.Name])
			case !errors.Is(err, errNoContainer): // what one had that is gone is free
				problems = append(problems, err)
				continue
			}
			freed := copilot.AmountOf(byName[ref.Name].Resources.Requests)
			left.MilliCPU, left.Memory = left.MilliCPU-freed.MilliCPU, left.Memory-freed.Memory
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(killed) == 0 && len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, problem := range problems {
		klog.FromContext(ctx).Error(problem, "Failed to kill a container, others went for it")
	}
	return killed, nil
}

// candidate is a container as it is ordered.
func (a *agent) candidate(of *copilot.Container) eviction.Pod {
	return eviction.ContainerOf(&eviction.Container{
		Agent: name, Namespace: of.Namespace, Name: of.Name, Priority: of.Priority, Created: of.CreateTimestamp, CPUTime: a.groups.cpuTime(of.Name),
		Requests: copilot.AmountOf(of.Resources.Requests),
	}, a.clock.Now())
}
