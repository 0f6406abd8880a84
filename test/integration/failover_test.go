package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/test/sandboxtest"
)

// placedBy has a churn's pods placed by a scheduler.
func (c churn) placedBy(name string) churn {
	inner := c.make
	c.make = func(random *rand.Rand, namespace, pool string, i int) *corev1.Pod {
		pod := inner(random, namespace, pool, i)
		pod.Spec.SchedulerName = name
		return pod
	}
	return c
}

// corePod is the i-th of equal pods with an exclusive core, which always find one while there are any.
func corePod(_ *rand.Rand, namespace, pool string, i int) *corev1.Pod {
	return binding(demand(namespace, fmt.Sprintf("cpu-%03d", i), pool, "cpu", "2", "memory", "1Gi"), "")
}

// awaitEnd waits until a process has ended by itself.
func (p *process) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("a scheduler that leads no longer is still there")
	}
	if state := p.command.ProcessState; state.Success() {
		t.Errorf("a scheduler that lost its lease ended with %s, want a failure", state)
	}
}

// TestALeaderThatWasStoppedDoesNoHarm stops the leader in the middle of its work, as a machine that hangs does, lets
// another one take over, and continues it before it can see what that did: it must end, and nothing that it still does may
// break an invariant.
func TestALeaderThatWasStoppedDoesNoHarm(t *testing.T) {
	const name, pool, alive, queued = "it-zombie", "zombie", 6, 40
	watcher := observe(t)
	names := machines(t, pool, 3)
	namespace, queue := space(t, "inv-zombie"), space(t, "inv-zombie-queue")
	middle, kubeconfig := startProxy(t)
	first := startScheduler(t, name, through(kubeconfig))
	leads(t, first)
	second := startScheduler(t, name)
	stop := background(t, churn{namespace, pool, alive, corePod, "cpu"}.placedBy(name).run)
	awaitSome(t, namespace)
	// More than there is room for, told at once, so that the leader is stopped with most of them in its queue.
	middle.stall()
	for i := range queued {
		mustSubmit(t, first.places(binding(demand(queue, fmt.Sprintf("queued-%02d", i), pool, "cpu", "2"), "")))
	}
	before := watcher.Seen().Bindings
	middle.resume()
	sandboxtest.Eventually(t, patience, func() error {
		if watcher.Seen().Bindings == before {
			return errors.New("no pod is bound")
		}
		return nil
	})
	zombie := first.process()
	sandboxtest.Pause(t, zombie.command.Process.Pid)
	middle.stall()
	leads(t, second)
	decided(t, queue, fmt.Sprintf("queued-%02d", queued-1))
	zombie.signal(t, syscall.SIGCONT)
	zombie.awaitEnd(t)
	middle.resume()
	for i := range queued {
		if err := remove(t.Context(), queue, fmt.Sprintf("queued-%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	awaitBound(t, patience, namespace, alive, 0)
	for _, s := range []*scheduler{first, second} {
		agrees(t, watcher, s, namespace, names)
	}
	toTheLastCPU(t, names, pool, first.places)
}

// leads waits until a scheduler's present process leads.
func leads(t *testing.T, s *scheduler) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		answer, err := s.explain(ctx, "analytics", "monthly-report")
		if err != nil {
			return err
		}
		if !answer.Status.Origin.Leader {
			return fmt.Errorf("scheduler %s (pid %d) does not lead", s.name, s.process().command.Process.Pid)
		}
		return nil
	})
}

// formerly is a configuration as it was before plugins wrote their decisions with the binding: they are patched first, and
// DefaultBinder binds. Gangs and Reservations are not known to it.
func formerly(t *testing.T, config map[string]any) {
	profile := profileOf(t, config)
	named := func(names ...string) []any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"name": name})
		}
		return list
	}
	profile["plugins"] = map[string]any{
		"multiPoint": map[string]any{"enabled": named("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "ElasticQuota")},
		"preBind":    map[string]any{"enabled": named("DefaultPreBind")},
	}
	known := map[string]bool{"LoadAwareScheduling": true, "NodeNUMAResource": true, "DeviceShare": true, "ElasticQuota": true, "NodeResourcesFit": true}
	var kept []any
	args, _ := profile["pluginConfig"].([]any)
	for _, one := range args {
		if entry, ok := one.(map[string]any); ok && known[fmt.Sprint(entry["name"])] {
			kept = append(kept, one)
		}
	}
	profile["pluginConfig"] = kept
}

// TestSchedulersOfTwoConfigurationsTakeTurns lets one with a former configuration and one with the present one lead in turn,
// as in an upgrade and its way back, each ended in the middle of its work.
func TestSchedulersOfTwoConfigurationsTakeTurns(t *testing.T) {
	const name, cpuPool, gpuPool, alive = "it-turns", "turns-cpus", "turns-gpus", 6
	watcher := observe(t)
	names, gpuNames := machines(t, cpuPool, 3), gpuMachines(t, gpuPool, churnGPUNodes)
	namespace, gpus := space(t, "inv-turns"), space(t, "inv-turns-gpus")
	elastic(t, namespace, namespace, "", "4", "40")
	former := startScheduler(t, name, formerly)
	leads(t, former)
	present := startScheduler(t, name)
	stop := background(t, churn{namespace, cpuPool, alive, corePod, "cpu"}.placedBy(name).run, churn{gpus, gpuPool, alive, gpuPod, "gpu"}.placedBy(name).run)
	awaitSome(t, namespace)
	up := former.down(t, syscall.SIGKILL)
	leads(t, present)
	up()
	awaitSome(t, namespace)
	sandboxtest.Eventually(t, patience, func() error { // it can take over
		_, err := former.explain(t.Context(), "analytics", "monthly-report")
		return err
	})
	up = present.down(t, syscall.SIGTERM) // gives the lease back
	leads(t, former)
	up()
	awaitSome(t, namespace)
	stop()
	awaitBound(t, patience, namespace, alive, 0)
	awaitBound(t, patience, gpus, alive, 0)
	for _, s := range []*scheduler{former, present} {
		agrees(t, watcher, s, namespace, names)
		agrees(t, watcher, s, gpus, gpuNames)
	}
	toTheLastCPU(t, names, cpuPool, former.places)
}
